import { dayStart, utcDateOf } from "../../platform/core/calendar.ts";
import type { Random } from "../../platform/core/random-port.ts";
import { DAY, type DurationMs, HOUR, type SimTime } from "../../platform/core/time.ts";
import { type ComputeArrivals, lowerBound, type Period } from "../../recordings/trace/trace.ts";

/** A day counts as recorded if at most this is missing: a trace ends at its last arrival, not at midnight. */
const MAX_MISSING_MS: DurationMs = HOUR;
const FRIDAY = 5;

/** Recorded time from `from` (inclusive) to `to` (exclusive) that repeats `offsetMs` later. */
export type BootstrapBlock = { readonly from: SimTime; readonly to: SimTime; readonly offsetMs: DurationMs };

/** The recorded UTC days, by their first instants. */
export function recordedDays({ startAt, endAt }: Period): SimTime[] {
  const days: SimTime[] = [];
  for (let day = dayStart(startAt); day < endAt; day += DAY) {
    if (Math.min(endAt, day + DAY) - Math.max(startAt, day) >= DAY - MAX_MISSING_MS) days.push(day);
  }
  return days;
}

/** Whether there is more than one day to draw from. */
export function isBootstrapRandom({ startAt, endAt }: Period): boolean {
  // Of three whole days, two are of the same kind, so the first days are enough.
  const days = recordedDays({ startAt, endAt: Math.min(endAt, dayStart(startAt) + 5 * DAY) });
  return daysByKind(days).some((sameKindDays) => sameKindDays.length > 1);
}

/**
 * Traffic after the end of a trace until `until`: a bootstrap with blocks of one UTC day. Each day repeats a
 * randomly drawn recorded day, the same one for all computes. If the trace contains both workdays and weekend
 * days, each kind repeats only its own. Throws a RangeError if no whole day was recorded.
 */
export function bootstrapBlocks(period: Period, until: SimTime, random: Random): BootstrapBlock[] {
  const dayKinds = daysByKind(recordedDays(period));
  if (dayKinds[0].length === 0) throw new RangeError("the trace contains no whole day (UTC) to repeat");
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

/** The number of requests that `bootstrapped` returns. */
export function bootstrappedLength(arrivals: ComputeArrivals, blocks: readonly BootstrapBlock[]): number {
  return spansOf(arrivals, blocks).reduce((sum, [from, to]) => sum + to - from, arrivals.at.length);
}

/** The recorded requests, followed by the repeated ones. */
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

/**
 * The days to draw from for workdays and for weekend days; all days for both if one kind was not recorded.
 */
function daysByKind(days: readonly SimTime[]): readonly [readonly SimTime[], readonly SimTime[]] {
  const [workdays, weekendDays] = [days.filter((day) => !isWeekend(day)), days.filter(isWeekend)];
  return workdays.length === 0 || weekendDays.length === 0 ? [days, days] : [workdays, weekendDays];
}

function isWeekend(at: SimTime): boolean {
  return utcDateOf(at).weekday > FRIDAY;
}
