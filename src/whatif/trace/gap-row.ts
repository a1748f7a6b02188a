import { LONGEST_DELAY_S } from "./gap-histogram.ts";

/**
 * Gaps of one compute that end on one UTC day and have one length in whole seconds. They contain what the curve needs
 * of the requests, so a database can aggregate them. Sums and counts of rows with the same key add up.
 */
export type GapRow = {
  readonly compute: string;
  /** Days since 1970-01-01, UTC, of the requests that end the gaps. */
  readonly day: number;
  /**
   * Length of the gaps in seconds, rounded up; 0 for requests that end none, because they are the first or another
   * one runs. `LONGER_THAN_ANY_DELAY_S` for all gaps of more than seven days.
   */
  readonly gapS: number;
  /** 1 for a gap longer than a minute that began on an earlier day. Each compute and day has at most one. */
  readonly overMidnight: number;
  /** Requests that end the gaps, or all requests that end none. */
  readonly requests: number;
  /** Total length of the gaps. */
  readonly gapMs: number;
  /** Time that these requests run after the end of every earlier request. */
  readonly busyMs: number;
  /** Arrival of the first and the last of these requests, in milliseconds since 1970. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Latest end of these requests. */
  readonly lastEnd: number;
};

export const LONGER_THAN_ANY_DELAY_S = LONGEST_DELAY_S + 1;

/** Only longer gaps can end with a cold start. */
export const SHORT_GAP_S = 60;

/** The columns of a file of gap rows, in the order in which they are written. */
export const GAP_COLUMNS = [
  ["compute", "compute"],
  ["day", "day"],
  ["gap_s", "gapS"],
  ["over_midnight", "overMidnight"],
  ["requests", "requests"],
  ["gap_ms", "gapMs"],
  ["busy_ms", "busyMs"],
  ["first_at_ms", "firstAt"],
  ["last_at_ms", "lastAt"],
  ["last_end_ms", "lastEnd"],
] as const satisfies readonly (readonly [column: string, field: keyof GapRow])[];

/**
 * Explains why the numbers of a row contradict each other; undefined if they do not. Each must be a whole number, at
 * least 0.
 */
export function contradictionIn(row: GapRow): string | undefined {
  const { gapS, overMidnight, requests, gapMs, firstAt, lastAt, lastEnd } = row;
  if (gapS > LONGER_THAN_ANY_DELAY_S) return `gap_s: ${gapS} must be at most ${LONGER_THAN_ANY_DELAY_S}`;
  if (requests === 0) return "requests: 0 must be at least 1";
  const [least, most] = [requests * ((gapS - 1) * 1_000 + 1), requests * gapS * 1_000];
  if (gapS === 0 ? gapMs !== 0 : gapMs < least || (gapMs > most && gapS < LONGER_THAN_ANY_DELAY_S))
    return `gap_ms: ${gapMs} is not the length of ${requests} ${requests === 1 ? "gap" : "gaps"} of ${gapS} s`;
  if (overMidnight > 0 && (overMidnight > 1 || requests > 1 || gapS <= SHORT_GAP_S))
    return `over_midnight: ${overMidnight} with ${requests} requests and gap_s ${gapS}; a compute has at most one gap of over a minute that begins on an earlier day, so its rows are in the input twice or several computes have this name`;
  if (lastAt < firstAt || lastEnd < firstAt)
    return `first_at_ms: ${firstAt} is after last_at_ms or last_end_ms`;
  return undefined;
}
