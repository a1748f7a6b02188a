import type { UsageTotals } from "./usage-totals.ts";

/** The total usage of a branch or project, up to the last metering of its computes. */
export type Usage = UsageTotals & {
  /** Id of the branch or of the project. */
  readonly id: string;
  /** Present once usage is recorded by the hour. */
  readonly hour?: OpenHour;
};

/**
 * The latest hour with a booking, and the totals before that hour, its day and its month. Usage within each
 * of these is the difference to the current totals, so a booking within the hour does not change this.
 */
export type OpenHour = {
  /** Whole hours since 1970. */
  readonly hour: number;
  readonly beforeHour: UsageTotals;
  readonly beforeDay: UsageTotals;
  readonly beforeMonth: UsageTotals;
};
