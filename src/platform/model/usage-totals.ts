import type { DurationMs } from "../../kernel/time.ts";
import { type DataUse, sumOfData } from "./data-traffic.ts";

export type UsageTotals = {
  /** The sum of the times in which computes were active. */
  readonly activeMs: DurationMs;
  /** The sum of compute units × active time; `cpu_used_sec` is a thousandth of it. */
  readonly cuMs: number;
  /** Absent: there is none. */
  readonly data?: DataUse;
};

export const ZERO_USAGE: UsageTotals = { activeMs: 0, cuMs: 0 };

/** The lengths of the periods for which usage is recorded, in addition to the totals. */
export type Granularity = "hourly" | "daily" | "monthly";

/** The usage of a branch or project in a past hour, day or month in UTC. */
export type HourlyUsage = UsageTotals & {
  /** Id of the branch or project, followed by `#day` or `#month` unless the row is for an hour. */
  readonly of: string;
  /** The start of the period, in whole hours since 1970. */
  readonly hour: number;
};

export function addTotals(one: UsageTotals, other: UsageTotals): UsageTotals {
  const activeMs = one.activeMs + other.activeMs;
  const cuMs = one.cuMs + other.cuMs;
  // Without a spread, because most totals have no data.
  if (one.data === undefined && other.data === undefined) return { activeMs, cuMs };
  return { activeMs, cuMs, ...sumOfData(one, other) };
}
