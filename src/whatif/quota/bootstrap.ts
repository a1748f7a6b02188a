import { dayStart, utcDateOf } from "../../platform/core/calendar.ts";
import type { Random } from "../../platform/core/random-port.ts";
import { DAY, type DurationMs, HOUR, type SimTime } from "../../platform/core/time.ts";
import { type ComputeArrivals, lowerBound, type Period } from "../../recordings/trace/trace.ts";

/** Of a day that counts as recorded so much may be missing: a trace ends with its last arrival, not at midnight. */
const MAX_MISSING_MS: DurationMs = HOUR;
const FRIDAY = 5;

/** A stretch of recorded time, from `from` up to, not including, `to`, that comes again so much later. */
export type BootstrapBlock = { readonly from: SimTime; readonly to: SimTime; readonly offsetMs: DurationMs };

/** The days (UTC) that a trace holds, by their first instants. */
export function recordedDays({ startAt, endAt }: Period): SimTime[] {
  const days: SimTime[] = [];
  for (let day = dayStart(startAt); day < endAt; day += DAY) {
    if (Math.min(endAt, day + DAY) - Math.max(startAt, day) >= DAY - MAX_MISSING_MS) days.push(day);
  }
  return days;
}

/** Whether chance has a choice between days. */
export function isBootstrapRandom({ startAt, endAt }: Period): boolean {
  // Of three whole days two are of a kind, so more need not be looked at.
  const days = recordedDays({ startAt, endAt: Math.min(endAt, dayStart(startAt) + 5 * DAY) });
  return daysByKind(days).some((sameKindDays) => sameKindDays.length > 1);
}

/**
 * How traffic may go on behind a trace, from its end until `until`: each day (UTC) is one of those recorded, drawn by chance, a day of the week's
 * end for one of those and a workday for a workday where the trace holds both (a bootstrap by blocks of a day). The same day for all computes.
 * Throws a RangeError where not one whole day was recorded.
 */
export function bootstrapBlocks(period: Period, until: SimTime, random: Random): BootstrapBlock[] {
  const dayKinds = daysByKind(recordedDays(period));
  if (dayKinds[0].length === 0) throw new RangeError("the trace holds no whole day that could come again");
  const blocks: BootstrapBlock[] = [];
  for (let day = dayStart(period.endAt); day < until; day += DAY) {
    const candidates = dayKinds[isWeekend(day) ? 1 : 0];
    const drawn = candidates[random.stream("whatif-days", day / DAY)() % candidates.length] as SimTime;
    const offsetMs = day - drawn;
    blocks.push({
      from: Math.max(period.endAt, day) - offsetMs,
      to: Math.min(until, day + DAY) - offsetMs,
      offsetMs,
    });
  }
  return blocks;
}

/** How many requests `continued` gives. */
export function bootstrappedLength(arrivals: ComputeArrivals, blocks: readonly BootstrapBlock[]): number {
  return spansOf(arrivals, blocks).reduce((sum, [from, to]) => sum + to - from, arrivals.at.length);
}

/** The requests, and then those that come again. */
export function bootstrapped(arrivals: ComputeArrivals, blocks: readonly BootstrapBlock[]): ComputeArrivals {
  const { at, durationMs } = arrivals;
  const spans = spansOf(arrivals, blocks);
  const length = bootstrappedLength(arrivals, blocks);
  const extended = { at: new Float64Array(length), durationMs: new Float64Array(length) };
  extended.at.set(at);
  extended.durationMs.set(durationMs);
  let next = at.length;
  for (const [index, [from, to]] of spans.entries()) {
    const { offsetMs } = blocks[index] as BootstrapBlock;
    extended.durationMs.set(durationMs.subarray(from, to), next);
    for (let i = from; i < to; i += 1) extended.at[next + i - from] = (at[i] as number) + offsetMs;
    next += to - from;
  }
  return extended;
}

function spansOf(
  { at }: ComputeArrivals,
  blocks: readonly BootstrapBlock[],
): (readonly [from: number, to: number])[] {
  return blocks.map(({ from, to }) => [lowerBound(at, from), lowerBound(at, to)] as const);
}

/** Candidates for workdays, and for days of the week's end; where one of the two was not recorded, all days for both. */
function daysByKind(days: readonly SimTime[]): readonly [readonly SimTime[], readonly SimTime[]] {
  const [workdays, weekendDays] = [days.filter((day) => !isWeekend(day)), days.filter(isWeekend)];
  return workdays.length === 0 || weekendDays.length === 0 ? [days, days] : [workdays, weekendDays];
}

function isWeekend(at: SimTime): boolean {
  return utcDateOf(at).weekday > FRIDAY;
}
