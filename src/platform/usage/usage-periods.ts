import { civil, dayStart, hourStart, instantOf, monthStart, nextMonthStart } from "../core/calendar.ts";
import { DAY, type DurationMs, HOUR, type SimTime } from "../core/time.ts";
import type { World } from "../core/world.ts";
import { type Granularity, NO_USE, type Totals } from "./hourly-usage.ts";
import type { Usage } from "./usage.ts";

/**
 * The latest hour that anything was booked in, and what of the totals was there before it, before its day and before its month: the
 * rest is what was used in them. So a booking within the hour leaves this as it is.
 */
export type OpenHour = {
  /** Whole hours since 1970. */
  readonly hour: number;
  readonly beforeHour: Totals;
  readonly beforeDay: Totals;
  readonly beforeMonth: Totals;
};

/** Some time in which a compute of one size was active. */
export type Span = { readonly from: SimTime; readonly to: SimTime; readonly sizeCu: number };

/**
 * One of the three books that use is kept in beside the totals. Each is exact by itself: what an hour is forgotten for is still in
 * its day. So much is kept that every timeframe can be told that the public document offers, the days of the month before it too.
 */
export type Book = {
  readonly granularity: Granularity;
  readonly before: "beforeHour" | "beforeDay" | "beforeMonth";
  readonly startOf: (at: SimTime) => SimTime;
  readonly endOf: (start: SimTime) => SimTime;
  /** What begins before it is forgotten at `at`. */
  readonly horizon: (at: SimTime) => SimTime;
};

/** S: hours are told for 168 hours, days for 60 days, months for a year. */
export const BOOKS: Readonly<Record<Granularity, Book>> = {
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
      const { year, month } = civil(at);
      return instantOf(year, month - 13);
    },
  },
};

/** Books a span that is not within the open hour, or opens the first one; gives the hour that is open then. */
export function bookByHour(world: World, usage: Usage, span: Span): OpenHour {
  // A span that ends with an hour does not open the next one.
  const hour = Math.max(usage.hour?.hour ?? Number.NEGATIVE_INFINITY, Math.ceil(span.to / HOUR) - 1);
  return {
    hour,
    beforeHour: bookIn(world, BOOKS.hourly, usage, span, hour),
    beforeDay: bookIn(world, BOOKS.daily, usage, span, hour),
    beforeMonth: bookIn(world, BOOKS.monthly, usage, span, hour),
  };
}

/** What of the new totals was used before the period that `hour` is in. Computes are metered one by one, so a span may begin long ago. */
function bookIn(world: World, book: Book, usage: Usage, span: Span, hour: number): Totals {
  const open = book.startOf(hour * HOUR);
  const former = usage.hour === undefined ? open : book.startOf(usage.hour.hour * HOUR);
  // What was used before use was kept by the hour is of no hour.
  const before = usage.hour?.[book.before] ?? { activeMs: usage.activeMs, cuMs: usage.cuMs };
  if (open === former && span.from >= open) return before;
  const { id, activeMs, cuMs } = usage;
  const horizon = book.horizon(span.to);
  let earlier = NO_USE;
  if (span.from < open) {
    const last = Math.min(open, span.to);
    for (let start = book.startOf(Math.max(span.from, horizon)); start < last; start = book.endOf(start)) {
      world.hourlyUsage.add(id, book.granularity, start / HOUR, part(span, start, book.endOf(start)));
    }
    earlier = part(span, Number.NEGATIVE_INFINITY, open);
  }
  if (open === former) return plus(before, earlier);
  if (former >= horizon) {
    const use = { activeMs: activeMs - before.activeMs, cuMs: cuMs - before.cuMs };
    world.hourlyUsage.add(id, book.granularity, former / HOUR, use);
  }
  // What lay before the former horizon is forgotten already.
  if (book.horizon(former) < horizon) world.hourlyUsage.forgetBefore(id, book.granularity, horizon / HOUR);
  return plus(usage, earlier);
}

/** What was used in the period that begins at `start`, by what is booked and by spans that are not. */
export function usedIn(world: World, id: string, book: Book, start: SimTime, unbooked: readonly Span[]): Totals {
  const row = world.hourlyUsage.get(id, book.granularity, start / HOUR);
  let { activeMs, cuMs } = row ?? NO_USE;
  const usage = world.usage.get(id);
  if (usage?.hour !== undefined && book.startOf(usage.hour.hour * HOUR) === start) {
    const before = usage.hour[book.before];
    activeMs += usage.activeMs - before.activeMs;
    cuMs += usage.cuMs - before.cuMs;
  }
  const end = book.endOf(start);
  for (const span of unbooked) {
    const within = lengthWithin(span, start, end);
    activeMs += within;
    cuMs += within * span.sizeCu;
  }
  return { activeMs, cuMs };
}

function part(span: Span, start: SimTime, end: SimTime): Totals {
  const activeMs = lengthWithin(span, start, end);
  return { activeMs, cuMs: activeMs * span.sizeCu };
}

function lengthWithin({ from, to }: Span, start: SimTime, end: SimTime): DurationMs {
  return Math.max(0, Math.min(to, end) - Math.max(from, start));
}

export function plus(one: Totals, other: Totals): Totals {
  return { activeMs: one.activeMs + other.activeMs, cuMs: one.cuMs + other.cuMs };
}
