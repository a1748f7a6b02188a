import type { UsageTotals } from "./hourly-usage.ts";

/** What the computes of a branch, or of a project, have used up to their last metering. */
export type Usage = UsageTotals & {
  /** Id of the branch or of the project. */
  readonly id: string;
  /** Where use is kept by the hour. */
  readonly hour?: OpenHour;
};

/**
 * The latest hour that anything was booked in, and what of the totals was there before it, before its day and before its month: the
 * rest is what was used in them. So a booking within the hour leaves this as it is.
 */
export type OpenHour = {
  /** Whole hours since 1970. */
  readonly hour: number;
  readonly beforeHour: UsageTotals;
  readonly beforeDay: UsageTotals;
  readonly beforeMonth: UsageTotals;
};
