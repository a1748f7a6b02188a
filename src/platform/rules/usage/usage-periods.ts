import {
  dayStart,
  hourStart,
  monthStart,
  nextMonthStart,
  utcDateOf,
  utcInstant,
} from "../../../kernel/calendar.ts";
import { DAY, type DurationMs, HOUR, type SimTime } from "../../../kernel/time.ts";
import { type DataUse, dataSince, NO_TRAFFIC, sumOfData } from "../../model/data-traffic.ts";
import { snapshotUseOf } from "../../model/snapshot-use.ts";
import { type StorageLevels, storageUseOf } from "../../model/storage-use.ts";
import type { OpenHour, Usage } from "../../model/usage.ts";
import { addTotals, type Granularity, type UsageTotals, ZERO_USAGE } from "../../model/usage-totals.ts";
import type { World } from "../../world/world.ts";

/** A period in which a compute was active at one size. */
type ActiveInterval = { readonly from: SimTime; readonly to: SimTime; readonly sizeCu: number };

/** A period in which a branch stored the same. */
export type StoredInterval = {
  readonly from: SimTime;
  readonly to: SimTime;
  readonly stored: StorageLevels;
};

/** A period in which a project had this number of child branches. */
export type ChildBranchInterval = {
  readonly from: SimTime;
  readonly to: SimTime;
  readonly childBranches: number;
};

/** A period in which the snapshots of a project were charged for this much. */
export type SnapshotInterval = {
  readonly from: SimTime;
  readonly to: SimTime;
  readonly snapshotBytes: number;
};

/** Intervals whose figures are in `data` of usage. */
export type DataInterval = StoredInterval | ChildBranchInterval | SnapshotInterval;
export type MeteredInterval = ActiveInterval | DataInterval;

/**
 * A granularity at which usage is recorded. Each is exact by itself: a day includes its expired hours.
 * Retention covers every timeframe of the public document, and the days of the month before it.
 */
export type UsagePeriod = {
  readonly granularity: Granularity;
  readonly before: "beforeHour" | "beforeDay" | "beforeMonth";
  readonly startOf: (at: SimTime) => SimTime;
  readonly endOf: (start: SimTime) => SimTime;
  /** Periods that start before the horizon are expired at `at`. */
  readonly horizon: (at: SimTime) => SimTime;
};

/** S: hours are available for 168 hours, days for 60 days, months for a year. */
export const USAGE_PERIODS: Readonly<Record<Granularity, UsagePeriod>> = {
  hourly: {
    granularity: "hourly",
    before: "beforeHour",
    startOf: hourStart,
    endOf: (start) => start + HOUR,
    horizon: (at) => dayStart(at) - 8 * DAY,
  },
  daily: {
    granularity: "daily",
    before: "beforeDay",
    startOf: dayStart,
    endOf: (start) => start + DAY,
    horizon: (at) => dayStart(at) - (60 + 31 + 1) * DAY,
  },
  monthly: {
    granularity: "monthly",
    before: "beforeMonth",
    startOf: monthStart,
    endOf: nextMonthStart,
    horizon: (at) => {
      const { year, month } = utcDateOf(at);
      return utcInstant(year, month - 13);
    },
  },
};

/** Books an interval that reaches beyond the open hour, or the first interval. Returns the new open hour. */
export function addInterval(world: World, usage: Usage, interval: MeteredInterval): OpenHour {
  // An interval that ends with an hour does not open the next one.
  const hour = Math.max(usage.hour?.hour ?? Number.NEGATIVE_INFINITY, Math.ceil(interval.to / HOUR) - 1);
  const beforeHour = addIntervalToPeriod(world, USAGE_PERIODS.hourly, usage, interval, hour);
  const beforeDay = addIntervalToPeriod(world, USAGE_PERIODS.daily, usage, interval, hour);
  // Months begin with a day, so an interval within the day is within the month.
  const isWithinDay = usage.hour !== undefined && beforeDay === usage.hour.beforeDay;
  const beforeMonth = isWithinDay
    ? usage.hour.beforeMonth
    : addIntervalToPeriod(world, USAGE_PERIODS.monthly, usage, interval, hour);
  return { hour, beforeHour, beforeDay, beforeMonth };
}

/**
 * The part of the new totals before the period of `hour`. An interval may begin long ago: computes are metered
 * separately.
 */
function addIntervalToPeriod(
  world: World,
  period: UsagePeriod,
  usage: Usage,
  interval: MeteredInterval,
  hour: number,
): UsageTotals {
  const current = period.startOf(hour * HOUR);
  const previous = usage.hour === undefined ? current : period.startOf(usage.hour.hour * HOUR);
  // Usage from before hourly recording was enabled belongs to no hour.
  const before = usage.hour?.[period.before] ?? addTotals(usage, ZERO_USAGE);
  if (current === previous && interval.from >= current) return before;
  const { id } = usage;
  const horizon = period.horizon(interval.to);
  let earlier = ZERO_USAGE;
  if (interval.from < current) {
    const last = Math.min(current, interval.to);
    for (
      let start = period.startOf(Math.max(interval.from, horizon));
      start < last;
      start = period.endOf(start)
    ) {
      world.hourlyUsage.add(
        id,
        period.granularity,
        start / HOUR,
        usageWithin(interval, start, period.endOf(start)),
      );
    }
    earlier = usageWithin(interval, Number.NEGATIVE_INFINITY, current);
  }
  if (current === previous) return addTotals(before, earlier);
  if (previous >= horizon) {
    world.hourlyUsage.add(id, period.granularity, previous / HOUR, totalsSince(usage, before));
  }
  // Periods before the previous horizon are already deleted.
  if (period.horizon(previous) < horizon)
    world.hourlyUsage.deleteBefore(id, period.granularity, horizon / HOUR);
  return addTotals(usage, earlier);
}

/** The usage in the period that starts at `start`: booked usage plus intervals that are not booked yet. */
export function usageInPeriod(
  world: World,
  id: string,
  period: UsagePeriod,
  start: SimTime,
  unmetered: readonly MeteredInterval[],
): UsageTotals {
  const row = world.hourlyUsage.get(id, period.granularity, start / HOUR);
  let { activeMs, cuMs } = row ?? ZERO_USAGE;
  let data: Pick<UsageTotals, "data"> = row ?? {};
  const usage = world.usage.get(id);
  if (usage?.hour !== undefined && period.startOf(usage.hour.hour * HOUR) === start) {
    const before = usage.hour[period.before];
    activeMs += usage.activeMs - before.activeMs;
    cuMs += usage.cuMs - before.cuMs;
    data = sumOfData(data, dataSince(usage, before));
  }
  const end = period.endOf(start);
  for (const interval of unmetered) {
    if (interval.to <= start || interval.from >= end) continue;
    if (!("sizeCu" in interval)) {
      data = sumOfData(data, usageWithin(interval, start, end));
      continue;
    }
    const within = overlapMs(interval, start, end);
    activeMs += within;
    cuMs += within * interval.sizeCu;
  }
  // Most periods are without usage, and a list of them has millions of these.
  if (activeMs === 0 && cuMs === 0 && data.data === undefined) return ZERO_USAGE;
  return { activeMs, cuMs, ...sumOfData(data, {}) };
}

/** The part of an interval from `start` to `end`, exclusive. */
export function usageWithin(interval: MeteredInterval, start: SimTime, end: SimTime): UsageTotals {
  const ms = overlapMs(interval, start, end);
  if ("sizeCu" in interval) return { activeMs: ms, cuMs: ms * interval.sizeCu };
  return { ...ZERO_USAGE, data: { ...NO_TRAFFIC, ...useOf(interval, ms, Math.min(interval.to, end)) } };
}

function useOf(interval: DataInterval, ms: DurationMs, until: SimTime): Partial<DataUse> {
  if ("stored" in interval) return { storage: storageUseOf(interval.stored, ms, until) };
  if ("snapshotBytes" in interval) return { snapshots: snapshotUseOf(interval.snapshotBytes, ms, until) };
  return { children: { branchMs: interval.childBranches * ms, until } };
}

function overlapMs({ from, to }: MeteredInterval, start: SimTime, end: SimTime): DurationMs {
  return Math.max(0, Math.min(to, end) - Math.max(from, start));
}

function totalsSince(total: UsageTotals, before: UsageTotals): UsageTotals {
  const activeMs = total.activeMs - before.activeMs;
  const cuMs = total.cuMs - before.cuMs;
  // Without a spread, because most totals have no data.
  if (total.data === undefined) return { activeMs, cuMs };
  return { activeMs, cuMs, ...dataSince(total, before) };
}
