/** The content of a report, for the terminal and for HTML. */
export type ReportPage = {
  readonly title: string;
  /** The input: traffic, period and assumptions. */
  readonly subject: string;
  /** Sentences; the first one is the headline. */
  readonly answer: readonly string[];
  /** Key figures, shown only in HTML. */
  readonly facts: readonly Fact[];
  readonly tables: readonly PageTable[];
  readonly limits: ReportLimits;
};

export type Fact = { readonly label: string; readonly value: string; readonly note: string };

export type PageTable = {
  readonly name: string;
  readonly title: string;
  readonly headings: readonly string[];
  /** One cell per heading. The first one names the row and is left-aligned; the others are right-aligned. */
  readonly rows: readonly PageRow[];
  /** The CSV file: names and values of the JSON, and all rows even if `rows` is cut off. */
  readonly records: readonly object[];
};

export type PageRow = {
  readonly cells: readonly string[];
  readonly mark?: "best" | "current" | "bound" | undefined;
};

/** What the figures are based on. */
export type ReportLimits = {
  readonly exact: readonly string[];
  readonly simulated: readonly string[];
  readonly left_out: readonly string[];
};

/** `svg` is complete but for the palette. */
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
