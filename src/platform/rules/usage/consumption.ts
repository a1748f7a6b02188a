import { dayStart, monthStart, utcDateOf, utcInstant } from "../../../kernel/calendar.ts";
import { DAY, HOUR, SECOND, type SimTime } from "../../../kernel/time.ts";
import { type Refusal, refuse } from "../../catalog/refusal-codes.ts";
import type { Branch } from "../../model/branch.ts";
import type { Compute } from "../../model/compute.ts";
import { addTotals, type Granularity, type UsageTotals, ZERO_USAGE } from "../../model/usage-totals.ts";
import type { World } from "../../world/world.ts";
import { unbookedChildBranches } from "./meter-child-branches.ts";
import { unbookedSnapshots } from "./meter-snapshots.ts";
import { unbookedStorage } from "./stored-data.ts";
import { type MeteredInterval, USAGE_PERIODS, usageInPeriod } from "./usage-periods.ts";

export type ConsumptionWindow = {
  readonly from: SimTime;
  readonly to: SimTime;
  readonly granularity: Granularity;
};

export type Timeframe = {
  readonly start: SimTime;
  readonly end: SimTime;
  /** Exact; reports are in seconds. */
  readonly use: UsageTotals;
  readonly activeSeconds: number;
  /** CU × seconds. */
  readonly computeSeconds: number;
};

/**
 * The usage of a branch or project per timeframe: from the one that contains `from` to the one that contains
 * `to`, exclusive, as far as they have begun by `now`. A second is reported in the timeframe in which it is
 * completed, and counting restarts each month. So hours add up to days, and days to the month, to the second.
 * What `branches` have stored is included.
 */
export function consumptionOf(
  world: World,
  id: string,
  computes: Iterable<Compute>,
  { from, to, granularity }: ConsumptionWindow,
  now: SimTime,
  branches: Iterable<Branch> = [],
): Timeframe[] {
  const period = USAGE_PERIODS[granularity];
  const unmetered = [
    ...unmeteredIntervals(computes, now),
    ...unbookedStorage(world, branches, now),
    ...unbookedChildBranches(world, id, now),
    ...unbookedSnapshots(world, id, now),
  ];
  const first = period.startOf(from);
  let sum = ZERO_USAGE;
  for (let start = monthStart(first); start < first; ) {
    const { [start < dayStart(first) ? "daily" : "hourly"]: finer } = USAGE_PERIODS;
    sum = plus(sum, usageInPeriod(world, id, finer, start, unmetered));
    start = finer.endOf(start);
  }
  const frames: Timeframe[] = [];
  const last = Math.min(period.startOf(to), now);
  for (let start = first; start < last; start = period.endOf(start)) {
    if (start === monthStart(start)) sum = ZERO_USAGE;
    const use = usageInPeriod(world, id, period, start, unmetered);
    const after = plus(sum, use);
    frames.push({
      start,
      end: period.endOf(start),
      use,
      activeSeconds: wholeSeconds(after.activeMs) - wholeSeconds(sum.activeMs),
      computeSeconds: wholeSeconds(after.cuMs) - wholeSeconds(sum.cuMs),
    });
    sum = after;
  }
  return frames;
}

/** S: the timeframes that can be requested, by granularity; others are a 406. A: the future has no usage. */
export function checkConsumptionWindow(
  { from, to, granularity }: ConsumptionWindow,
  now: SimTime,
): Refusal | undefined {
  const { startOf } = USAGE_PERIODS[granularity];
  const { text, oldest } = WINDOW_LIMITS[granularity];
  if (from > to) return refuse("CONSUMPTION_WINDOW", "from: must not be later than to").refusal;
  if (startOf(from) >= Math.max(startOf(oldest(now)), startOf(HISTORY_START))) return undefined;
  return refuse(
    "CONSUMPTION_WINDOW",
    `from: ${granularity} metrics are limited to the last ${text}, and start on March 1, 2024; use a later from or a coarser granularity`,
  ).refusal;
}

const WINDOW_LIMITS: Readonly<
  Record<Granularity, { readonly text: string; readonly oldest: (now: SimTime) => SimTime }>
> = {
  hourly: { text: "168 hours", oldest: (now) => now - 168 * HOUR },
  daily: { text: "60 days", oldest: (now) => now - 60 * DAY },
  monthly: {
    text: "year",
    oldest(now) {
      const { year, month } = utcDateOf(now);
      return utcInstant(year - 1, month);
    },
  },
};

/** S: "The earliest allowed `from` value". */
const HISTORY_START = utcInstant(2024, 3);

/** The usage in the current billing period. S: calendar months in UTC; A: on the world's clock. */
export function usageThisMonth(
  world: World,
  id: string,
  computes: Iterable<Compute>,
  now: SimTime,
  branches: Iterable<Branch> = [],
): UsageTotals {
  const unmetered = [...unmeteredIntervals(computes, now), ...unbookedStorage(world, branches, now)];
  return usageInPeriod(world, id, USAGE_PERIODS.monthly, monthStart(now), unmetered);
}

function unmeteredIntervals(computes: Iterable<Compute>, now: SimTime): MeteredInterval[] {
  const intervals: MeteredInterval[] = [];
  for (const { phase } of computes) {
    if (phase.state === "active") intervals.push({ from: phase.meteredAt, to: now, sizeCu: phase.sizeCu });
  }
  return intervals;
}

/** A period without usage, as most are, needs no new sum. */
function plus(sum: UsageTotals, use: UsageTotals): UsageTotals {
  return use === ZERO_USAGE ? sum : addTotals(sum, use);
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / SECOND);
}
