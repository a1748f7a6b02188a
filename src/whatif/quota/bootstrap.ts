import { civil, dayStart } from "../../platform/core/calendar.ts";
import type { Chance } from "../../platform/core/random-port.ts";
import { DAY, type DurationMs, HOUR, type SimTime } from "../../platform/core/time.ts";
import { indexAt, type Period, type Requests } from "../../recordings/trace/trace.ts";

/** Of a day that counts as recorded so much may be missing: a trace ends with its last arrival, not at midnight. */
const MISSING_AT_MOST: DurationMs = HOUR;
const FRIDAY = 5;

/** A stretch of recorded time, from `from` up to, not including, `to`, that comes again so much later. */
export type Repeat = { readonly from: SimTime; readonly to: SimTime; readonly laterMs: DurationMs };

/** The days (UTC) that a trace holds, by their first instants. */
export function recordedDays({ startAt, endAt }: Period): SimTime[] {
  const days: SimTime[] = [];
  for (let day = dayStart(startAt); day < endAt; day += DAY) {
    if (Math.min(endAt, day + DAY) - Math.max(startAt, day) >= DAY - MISSING_AT_MOST) days.push(day);
  }
  return days;
}

/** Whether chance has a choice between days. */
export function isDrawn({ startAt, endAt }: Period): boolean {
  // Of three whole days two are of a kind, so more need not be looked at.
  const days = recordedDays({ startAt, endAt: Math.min(endAt, dayStart(startAt) + 5 * DAY) });
  return kindsOf(days).some((kind) => kind.length > 1);
}

/**
 * How traffic may go on behind a trace, from its end until `until`: each day (UTC) is one of those recorded, drawn by chance, a day of the week's
 * end for one of those and a workday for a workday where the trace holds both (a bootstrap by blocks of a day). The same day for all computes.
 * Throws a RangeError where not one whole day was recorded.
 */
export function continuation(period: Period, until: SimTime, chance: Chance): Repeat[] {
  const kinds = kindsOf(recordedDays(period));
  if (kinds[0].length === 0) throw new RangeError("the trace holds no whole day that could come again");
  const repeats: Repeat[] = [];
  for (let day = dayStart(period.endAt); day < until; day += DAY) {
    const candidates = kinds[isWeekend(day) ? 1 : 0];
    const drawn = candidates[chance.source("whatif-days", day / DAY)() % candidates.length] as SimTime;
    const laterMs = day - drawn;
    repeats.push({ from: Math.max(period.endAt, day) - laterMs, to: Math.min(until, day + DAY) - laterMs, laterMs });
  }
  return repeats;
}

/** How many requests `continued` gives. */
export function continuedLength(requests: Requests, repeats: readonly Repeat[]): number {
  return spansOf(requests, repeats).reduce((sum, [from, to]) => sum + to - from, requests.at.length);
}

/** The requests, and then those that come again. */
export function continued(requests: Requests, repeats: readonly Repeat[]): Requests {
  const { at, durationMs } = requests;
  const spans = spansOf(requests, repeats);
  const length = continuedLength(requests, repeats);
  const all = { at: new Float64Array(length), durationMs: new Float64Array(length) };
  all.at.set(at);
  all.durationMs.set(durationMs);
  let next = at.length;
  for (const [index, [from, to]] of spans.entries()) {
    const { laterMs } = repeats[index] as Repeat;
    all.durationMs.set(durationMs.subarray(from, to), next);
    for (let i = from; i < to; i += 1) all.at[next + i - from] = (at[i] as number) + laterMs;
    next += to - from;
  }
  return all;
}

function spansOf({ at }: Requests, repeats: readonly Repeat[]): (readonly [from: number, to: number])[] {
  return repeats.map(({ from, to }) => [indexAt(at, from), indexAt(at, to)] as const);
}

/** Candidates for workdays, and for days of the week's end; where one of the two was not recorded, all days for both. */
function kindsOf(days: readonly SimTime[]): readonly [readonly SimTime[], readonly SimTime[]] {
  const [work, free] = [days.filter((day) => !isWeekend(day)), days.filter(isWeekend)];
  return work.length === 0 || free.length === 0 ? [days, days] : [work, free];
}

function isWeekend(at: SimTime): boolean {
  return civil(at).weekday > FRIDAY;
}
