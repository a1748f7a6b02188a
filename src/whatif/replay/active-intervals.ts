import type { ComputeArrivals, Period } from "../../traffic/recorded/trace/trace.ts";
import { delayMs, type SuspendDelay } from "../gap-curve/delay.ts";
import type { LatencySource } from "../units/start-latency.ts";

/**
 * An active time from the end of a start to the suspend, with the requests served in it: indexes `from` (inclusive) to
 * `to` (exclusive).
 */
export type ActiveInterval = { readonly period: Period; readonly from: number; readonly to: number };

/**
 * The active times of a compute under a delay, by the rules of `FixedReplay`. `served`: its requests, each from the end
 * of its wait.
 */
export function activeIntervals(
  { at: arrivals, durationMs }: ComputeArrivals,
  { endAt }: Period,
  delay: SuspendDelay,
  latencies: LatencySource,
): { readonly served: ComputeArrivals; readonly intervals: readonly ActiveInterval[] } {
  const idleMs = delayMs(delay);
  const intervals: ActiveInterval[] = [];
  const at = new Float64Array(arrivals.length);
  let [from, readyAt, busyEnd] = [0, 0, 0];
  const suspend = (to: number) =>
    intervals.push({
      period: { startAt: readyAt, endAt: Math.min(Math.max(endAt, busyEnd), busyEnd + idleMs) },
      from,
      to,
    });
  for (let i = 0; i < at.length; i += 1) {
    const arrival = arrivals[i] as number;
    if (i === 0 || arrival > busyEnd + idleMs) {
      if (i > 0) suspend(i);
      from = i;
      readyAt = arrival + latencies.at(arrival);
      busyEnd = readyAt;
    }
    at[i] = Math.max(arrival, readyAt);
    busyEnd = Math.max(busyEnd, (at[i] as number) + (durationMs[i] as number));
  }
  if (at.length > 0) suspend(at.length);
  return { served: { at, durationMs }, intervals };
}
