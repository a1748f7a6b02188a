import { isoInstant, weekdayOf } from "../../../kernel/calendar.ts";
import { DAY, type SimTime } from "../../../kernel/time.ts";
import type { ComputeArrivals, Period } from "./trace.ts";

/** Pairs of a UTC day, in days since 1970, and its number of requests; days without requests are absent. */
export type RequestsByDay = readonly (readonly [day: number, requests: number])[];

/** Counts the requests of each UTC day. */
export class DayCounter {
  readonly #counts = new Map<number, number>();

  /** Ascending instants. */
  add({ at }: Pick<ComputeArrivals, "at">): void {
    let [day, count] = [Number.NaN, 0];
    for (let i = 0; i < at.length; i += 1) {
      const next = Math.floor((at[i] as number) / DAY);
      if (next !== day) {
        this.#count(day, count);
        [day, count] = [next, 0];
      }
      count += 1;
    }
    this.#count(day, count);
  }

  get counts(): RequestsByDay {
    return [...this.#counts].sort(([a], [b]) => a - b);
  }

  #count(day: number, count: number): void {
    if (count > 0) this.#counts.set(day, (this.#counts.get(day) ?? 0) + count);
  }
}

/** Whole UTC days without a request of any compute, on some of which the fleet is usually busy. */
export type Silence = Period & {
  /** Median of the requests on busy days of the same kind, workdays or weekend days. */
  readonly usualRequests: number;
};

/**
 * With independent requests, a day that usually has 10 has none once in exp(10) = 22,000 days, or 60 years: a single silent
 * day is not chance. It may be a holiday, which only the user knows, so that nothing is assumed. With 5 requests, it would
 * be chance twice a year.
 */
const MIN_USUAL_REQUESTS = 10;
/** Most days of this kind must have requests, and more than one: one busy day says nothing about the others. */
const MIN_BUSY_SHARE = 0.5;
const MIN_BUSY_DAYS = 2;
/** A longer period has a stray instant, which an import notes. */
const MAX_DAYS = 36_600;
const SATURDAY = 6;

/**
 * Silences that look like missing data: the rule of the input, of margins and of forecasts. Only whole days between the first and the last request count, so a silence
 * of some hours is not found, nor one of a fleet that is rarely used.
 */
export function suspectedSilences(requestsByDay: RequestsByDay): readonly Silence[] {
  const [first, last] = [requestsByDay[0]?.[0], requestsByDay.at(-1)?.[0]];
  if (first === undefined || last === undefined || last - first > MAX_DAYS) return [];
  const counts = new Map(requestsByDay);
  const usual = [false, true].map((isWeekend) => usualRequests(counts, first, last, isWeekend));
  const silences: Silence[] = [];
  for (let day = first; day <= last; day += 1) {
    if (counts.has(day)) continue;
    const from = day;
    let usualRequestsHere = 0;
    for (; !counts.has(day); day += 1)
      usualRequestsHere = Math.max(usualRequestsHere, usual[isWeekendDay(day) ? 1 : 0] ?? 0);
    if (usualRequestsHere > 0)
      silences.push({ startAt: from * DAY, endAt: day * DAY, usualRequests: usualRequestsHere });
  }
  return silences;
}

/** 0 if days of this kind are not usually busy. */
function usualRequests(
  counts: ReadonlyMap<number, number>,
  first: number,
  last: number,
  isWeekend: boolean,
): number {
  const busy = [...counts].filter(([day]) => isWeekendDay(day) === isWeekend).map(([, count]) => count);
  let days = 0;
  for (let day = first; day <= last; day += 1) if (isWeekendDay(day) === isWeekend) days += 1;
  const median = busy.sort((a, b) => a - b)[Math.floor(busy.length / 2)] ?? 0;
  return busy.length >= Math.max(MIN_BUSY_DAYS, days * MIN_BUSY_SHARE) && median >= MIN_USUAL_REQUESTS
    ? median
    : 0;
}

function isWeekendDay(day: number): boolean {
  return weekdayOf(day * DAY) >= SATURDAY;
}

/** `2026-01-12 to 2026-01-18 (7 days)`. */
export function daysText({ startAt, endAt }: Period): string {
  const days = (endAt - startAt) / DAY;
  const dateOf = (at: SimTime) => isoInstant(at).slice(0, 10);
  return days === 1
    ? `${dateOf(startAt)} (1 day)`
    : `${dateOf(startAt)} to ${dateOf(endAt - 1)} (${days} days)`;
}
