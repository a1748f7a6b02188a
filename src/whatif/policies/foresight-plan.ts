import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { ComputeArrivals } from "../../traffic/recorded/trace/trace.ts";
import type { StartWorth } from "../gap-curve/costs.ts";
import { type IgnoredSources, isIgnored } from "../trace/ignored-waits.ts";
import type { LatencySource } from "../units/start-latency.ts";

/**
 * The idle times above which a cold start costs less than staying active. It is not enough to compare a gap with the
 * worth of its cold start if starts take time: a cold start delays requests, so it also changes the metered time and
 * the following gaps. Calculated from the last active time to the first (dynamic programming). After a request that
 * ends an idle time, everything that follows depends only on whether the request found the compute active. So each such
 * request has two values of the lowest remaining cost, and the limit for the gap before it follows from their
 * difference.
 */
export type ForesightPlan = {
  /** The requests after which a cold start can pay, in ascending order; at any other request the compute is active. */
  readonly at: Float64Array;
  /** For each of them, the longest idle time in which the compute stays active. */
  readonly longestIdleMs: Float64Array;
};

export type ForesightInput = {
  readonly arrivals: ComputeArrivals;
  readonly latencies: LatencySource;
  readonly startWorth: StartWorth;
  /** Sources for whose requests nobody waits. */
  readonly ignored?: IgnoredSources | undefined;
  /**
   * Cost of being ready at an arrival after an idle time without staying active; undefined if the policy cannot resume.
   */
  readonly resumeCostMs?: ((idleSince: SimTime, arrival: SimTime) => DurationMs) | undefined;
};

export function foresightPlan(input: ForesightInput): ForesightPlan {
  const { resumeCostMs } = input;
  const times = activeTimes(input);
  const { at, end } = times;
  const longestIdleMs = new Float64Array(at.length);
  // The lowest cost from each of these requests on, if it finds the compute active and if it starts the compute.
  const warmMs = new Float64Array(at.length);
  const coldMs = new Float64Array(at.length);
  const costFrom = (index: number, idleSince: SimTime): DurationMs => {
    if (index === at.length) return 0;
    const arrival = at[index] as number;
    const stayMs = Math.min(
      arrival - idleSince,
      resumeCostMs?.(idleSince, arrival) ?? Number.POSITIVE_INFINITY,
    );
    return Math.min(stayMs + (warmMs[index] as number), coldMs[index] as number);
  };
  for (let index = at.length - 1; index >= 0; index -= 1) {
    const busyEnd = end[index] as number;
    warmMs[index] = busyEnd - (at[index] as number) + costFrom(index + 1, busyEnd);
    const start = coldStart(input, times, index);
    coldMs[index] = start.worthMs + start.busyEnd - start.readyAt + costFrom(start.next, start.busyEnd);
    longestIdleMs[index] = (coldMs[index] as number) - (warmMs[index] as number);
  }
  return { at, longestIdleMs };
}

/** Times in which a compute is active under every decision. */
type ActiveTimes = {
  /** First request of each time: instant, and index in the arrivals. */
  readonly at: Float64Array;
  readonly first: Float64Array;
  readonly end: Float64Array;
};

/**
 * Busy times, joined where a suspend between them cannot pay. A start saves at most its own length of metered time, and
 * at least the request that causes it waits, unless nobody waits for it.
 */
function activeTimes({
  arrivals,
  latencies,
  startWorth,
  ignored,
  resumeCostMs,
}: ForesightInput): ActiveTimes {
  const { at, durationMs, source } = arrivals;
  const firsts: number[] = [];
  const ends: number[] = [];
  let busyEnd = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < at.length; i += 1) {
    const arrival = at[i] as number;
    if (arrival > busyEnd) {
      const latencyMs = latencies.at(arrival);
      const isJoined =
        resumeCostMs === undefined &&
        !isIgnored(ignored, source, i) &&
        arrival - busyEnd <= startWorth(latencyMs) - latencyMs;
      if (!isJoined) {
        if (i > 0) ends.push(busyEnd);
        firsts.push(i);
      }
    }
    busyEnd = Math.max(busyEnd, arrival + (durationMs[i] as number));
  }
  if (at.length > 0) ends.push(busyEnd);
  return {
    at: Float64Array.from(firsts, (first) => at[first] as number),
    first: Float64Array.from(firsts),
    end: Float64Array.from(ends),
  };
}

/** Effects of a start by this request: it is busy until `busyEnd`, and `next` is the following active time. */
function coldStart(
  { arrivals: { at, durationMs, source }, latencies, startWorth, ignored }: ForesightInput,
  { at: activeAt, first, end }: ActiveTimes,
  index: number,
) {
  const startAt = activeAt[index] as number;
  const readyAt = startAt + latencies.at(startAt);
  let [waitMs, busyEnd, next] = [0, Math.max(readyAt, end[index] as number), index + 1];
  for (let i = first[index] as number; i < at.length; i += 1) {
    const arrival = at[i] as number;
    if (arrival >= readyAt) break;
    if (!isIgnored(ignored, source, i)) waitMs += readyAt - arrival;
    busyEnd = Math.max(busyEnd, readyAt + (durationMs[i] as number));
  }
  // Active times that begin before the end keep the compute active.
  for (; next < activeAt.length && (activeAt[next] as number) <= busyEnd; next += 1)
    busyEnd = Math.max(busyEnd, end[next] as number);
  const isWaitedFor = waitMs > 0 || !isIgnored(ignored, source, first[index] as number);
  return { readyAt, busyEnd, next, worthMs: isWaitedFor ? startWorth(waitMs) : 0 };
}
