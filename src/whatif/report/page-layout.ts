/** A report as it is read, in a terminal or in a browser: the answer first. */
export type ReportPage = {
  readonly title: string;
  /** What was looked at. */
  readonly subject: string;
  /** The answer in a few sentences. */
  readonly answer: readonly string[];
  /** The numbers that one remembers. */
  readonly facts: readonly Fact[];
  readonly tables: readonly PageTable[];
  readonly limits: ReportLimits;
};

export type Fact = { readonly label: string; readonly value: string; readonly note: string };

export type PageTable = {
  readonly name: string;
  readonly title: string;
  readonly headings: readonly string[];
  /** Cells by heading. The first one names the row and stands to the left, numbers to the right. */
  readonly rows: readonly PageRow[];
  /** The same for programs, with the names and the values of the JSON; all rows, also where only the first ones are shown. */
  readonly records: readonly object[];
};

export type PageRow = {
  readonly cells: readonly string[];
  readonly mark?: "best" | "present" | "bound" | undefined;
};

/** What one may trust, and how far. */
export type ReportLimits = {
  readonly exact: readonly string[];
  readonly simulated: readonly string[];
  readonly left_out: readonly string[];
};

/** A drawing of its own: an SVG that needs nothing around it. */
export type Chart = {
  readonly name: string;
  readonly title: string;
  readonly caption: string;
  readonly svg: string;
};

export const LIMIT_TITLES: Readonly<Record<keyof ReportLimits, string>> = {
  exact: "Exact",
  simulated: "Simulated",
  left_out: "Left out",
};
