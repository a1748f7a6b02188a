import { dayStart, hourStart, monthStart, nextMonthStart, utcDateOf, utcInstant } from "../core/calendar.ts";
import { DAY, type DurationMs, HOUR, type SimTime } from "../core/time.ts";
import type { World } from "../core/world.ts";
import { type Granularity, type UsageTotals, ZERO_USAGE } from "./hourly-usage.ts";
import type { OpenHour, Usage } from "./usage.ts";

/** Some time in which a compute of one size was active. */
export type UsageSpan = { readonly from: SimTime; readonly to: SimTime; readonly sizeCu: number };

/**
 * One of the three books that use is kept in beside the totals. Each is exact by itself: what an hour is forgotten for is still in
 * its day. So much is kept that every timeframe can be told that the public document offers, the days of the month before it too.
 */
export type UsagePeriod = {
  readonly granularity: Granularity;
  readonly before: "beforeHour" | "beforeDay" | "beforeMonth";
  readonly startOf: (at: SimTime) => SimTime;
  readonly endOf: (start: SimTime) => SimTime;
  /** What begins before it is forgotten at `at`. */
  readonly horizon: (at: SimTime) => SimTime;
};

/** S: hours are told for 168 hours, days for 60 days, months for a year. */
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

/** Books a span that is not within the open hour, or opens the first one; gives the hour that is open then. */
export function addSpan(world: World, usage: Usage, span: UsageSpan): OpenHour {
  // A span that ends with an hour does not open the next one.
  const hour = Math.max(usage.hour?.hour ?? Number.NEGATIVE_INFINITY, Math.ceil(span.to / HOUR) - 1);
  return {
    hour,
    beforeHour: addSpanToPeriod(world, USAGE_PERIODS.hourly, usage, span, hour),
    beforeDay: addSpanToPeriod(world, USAGE_PERIODS.daily, usage, span, hour),
    beforeMonth: addSpanToPeriod(world, USAGE_PERIODS.monthly, usage, span, hour),
  };
}

/** What of the new totals was used before the period that `hour` is in. Computes are metered one by one, so a span may begin long ago. */
function addSpanToPeriod(
  world: World,
  period: UsagePeriod,
  usage: Usage,
  span: UsageSpan,
  hour: number,
): UsageTotals {
  const current = period.startOf(hour * HOUR);
  const previous = usage.hour === undefined ? current : period.startOf(usage.hour.hour * HOUR);
  // What was used before use was kept by the hour is of no hour.
  const before = usage.hour?.[period.before] ?? { activeMs: usage.activeMs, cuMs: usage.cuMs };
  if (current === previous && span.from >= current) return before;
  const { id, activeMs, cuMs } = usage;
  const horizon = period.horizon(span.to);
  let earlier = ZERO_USAGE;
  if (span.from < current) {
    const last = Math.min(current, span.to);
    for (
      let start = period.startOf(Math.max(span.from, horizon));
      start < last;
      start = period.endOf(start)
    ) {
      world.hourlyUsage.add(
        id,
        period.granularity,
        start / HOUR,
        usageWithin(span, start, period.endOf(start)),
      );
    }
    earlier = usageWithin(span, Number.NEGATIVE_INFINITY, current);
  }
  if (current === previous) return addTotals(before, earlier);
  if (previous >= horizon) {
    const use = { activeMs: activeMs - before.activeMs, cuMs: cuMs - before.cuMs };
    world.hourlyUsage.add(id, period.granularity, previous / HOUR, use);
  }
  // What lay before the former horizon is forgotten already.
  if (period.horizon(previous) < horizon)
    world.hourlyUsage.deleteBefore(id, period.granularity, horizon / HOUR);
  return addTotals(usage, earlier);
}

/** What was used in the period that begins at `start`, by what is booked and by spans that are not. */
export function usageInPeriod(
  world: World,
  id: string,
  period: UsagePeriod,
  start: SimTime,
  unmetered: readonly UsageSpan[],
): UsageTotals {
  const row = world.hourlyUsage.get(id, period.granularity, start / HOUR);
  let { activeMs, cuMs } = row ?? ZERO_USAGE;
  const usage = world.usage.get(id);
  if (usage?.hour !== undefined && period.startOf(usage.hour.hour * HOUR) === start) {
    const before = usage.hour[period.before];
    activeMs += usage.activeMs - before.activeMs;
    cuMs += usage.cuMs - before.cuMs;
  }
  const end = period.endOf(start);
  for (const span of unmetered) {
    const within = overlapMs(span, start, end);
    activeMs += within;
    cuMs += within * span.sizeCu;
  }
  return { activeMs, cuMs };
}

function usageWithin(span: UsageSpan, start: SimTime, end: SimTime): UsageTotals {
  const activeMs = overlapMs(span, start, end);
  return { activeMs, cuMs: activeMs * span.sizeCu };
}

function overlapMs({ from, to }: UsageSpan, start: SimTime, end: SimTime): DurationMs {
  return Math.max(0, Math.min(to, end) - Math.max(from, start));
}

export function addTotals(one: UsageTotals, other: UsageTotals): UsageTotals {
  return { activeMs: one.activeMs + other.activeMs, cuMs: one.cuMs + other.cuMs };
}
