import { type DurationMs, SECOND, type SimTime } from "../../../src/kernel/time.ts";
import type { ComputeOperation } from "./operation-columns.ts";

export type SyntheticRequest = { readonly gapMs: DurationMs; readonly durationMs: DurationMs };

export type SyntheticCompute = {
  /** When requests arrived and ended, if starts took no time; ended at the end of the period. */
  readonly busy: readonly (readonly [from: SimTime, to: SimTime])[];
  readonly operations: readonly ComputeOperation[];
  /**
   * Active time as it would be metered, and starts after the first. A start at the creation counts from the first
   * request, as if that had caused it, and not at all if there was none.
   */
  readonly activeMs: DurationMs;
  readonly coldStarts: number;
};

/**
 * What a platform that suspends one delay after the last request shows of these requests, in whole seconds. Each gap is
 * from the end of a request to the arrival of the next one. A request that finds the compute suspended waits for the
 * start.
 *
 * `startsAtCreation`: the compute is created at `startAt`, and is started then without a request.
 */
export function syntheticCompute(
  requests: readonly SyntheticRequest[],
  startAt: SimTime,
  endAt: SimTime,
  delayS: number,
  startMs: DurationMs,
  startsAtCreation = false,
): SyntheticCompute {
  const busy: [number, number][] = [];
  const operations: ComputeOperation[] = [];
  const record = (action: string, time: SimTime, durationMs: DurationMs) =>
    operations.push({
      ...{ action, status: "finished", durationMs },
      createdAt: Math.floor(time / SECOND) * SECOND,
    });
  let arrival = startAt;
  let isActive = startsAtCreation;
  let readyAt = startAt + startMs;
  let busyUntil = readyAt;
  let [activeMs, periods] = [0, 0];
  /** When the first request of the period began; undefined if there was none. */
  let usedSince: SimTime | undefined;
  if (startsAtCreation) record("start_compute", startAt, startMs);
  for (const { gapMs, durationMs } of requests) {
    arrival += gapMs;
    if (arrival >= endAt) break;
    const suspendsAt = busyUntil + delayS * SECOND;
    if (isActive && arrival > suspendsAt) {
      record("suspend_compute", suspendsAt, 100);
      activeMs += suspendsAt - (usedSince ?? suspendsAt);
      usedSince = undefined;
      isActive = false;
    }
    if (!isActive) {
      record("start_compute", arrival, startMs);
      readyAt = arrival + startMs;
    }
    const beginsAt = Math.max(arrival, readyAt);
    if (usedSince === undefined) {
      usedSince = beginsAt;
      periods += 1;
    }
    busyUntil = Math.max(busyUntil, beginsAt + durationMs);
    isActive = true;
    busy.push([arrival, Math.min(endAt, arrival + durationMs)]);
    arrival += durationMs;
  }
  const suspendsAt = busyUntil + delayS * SECOND;
  if (isActive) activeMs += Math.max(0, Math.min(suspendsAt, endAt) - (usedSince ?? endAt));
  if (isActive && suspendsAt < endAt) record("suspend_compute", suspendsAt, 100);
  return {
    busy,
    operations,
    activeMs,
    coldStarts: Math.max(0, periods - 1),
  };
}

/** Cold starts after the first, and active time, under another delay: counted request by request. */
export function underDelay(
  busy: SyntheticCompute["busy"],
  endAt: SimTime,
  limitMs: DurationMs,
): { readonly coldStarts: number; readonly activeMs: DurationMs } {
  let [coldStarts, activeMs] = [0, 0];
  let busyUntil: number | undefined;
  for (const [from, to] of busy) {
    if (busyUntil === undefined) activeMs += to - from;
    else {
      const gapMs = Math.max(0, from - busyUntil);
      if (gapMs > limitMs) coldStarts += 1;
      activeMs += Math.min(gapMs, limitMs) + Math.max(0, to - Math.max(from, busyUntil));
    }
    busyUntil = Math.max(busyUntil ?? to, to);
  }
  return { coldStarts, activeMs: activeMs + Math.min(endAt - (busyUntil ?? endAt), limitMs) };
}
