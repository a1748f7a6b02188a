import type { PageTable } from "./page-table.ts";

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

/** Limits of a report: what its figures are based on. */
export type ReportLimits = {
  readonly exact: readonly string[];
  readonly simulated: readonly string[];
  readonly left_out: readonly string[];
};

const EXACT_MEANING = "Given the recorded instants and durations of the requests:";
const RANDOM_INSTANTS =
  "The instants of the requests were not recorded but placed randomly within a minute. The following figures are those of one such placement, not exact:";

/** Adds the meaning of "exact" to the limits. Nothing is exact if instants are random. */
export function limitsFor(limits: ReportLimits, hasRandomInstants: boolean): ReportLimits {
  const { exact, simulated } = limits;
  if (exact.length === 0) return limits;
  return hasRandomInstants
    ? { ...limits, exact: [], simulated: [RANDOM_INSTANTS, ...exact, ...simulated] }
    : { ...limits, exact: [EXACT_MEANING, ...exact] };
}

/** Notes of a report about its input. */
export type InputNotes = {
  readonly notes: readonly string[];
  /** Number of bad rows. `bad` has only the first of them. */
  readonly badRows: number;
  readonly bad: readonly { readonly input: string; readonly line: number; readonly reason: string }[];
};

/** A chart as SVG without the palette. `narrowSvg` is for phones. */
export type Chart = {
  readonly name: string;
  readonly title: string;
  readonly caption: string;
  readonly svg: string;
  readonly narrowSvg: string;
};

export const LIMIT_TITLES: Readonly<Record<keyof ReportLimits, string>> = {
  exact: "Exact",
  simulated: "Simulated",
  left_out: "Left out",
};
