import type { SimTime } from "../platform/time.ts";

/** Requests of one compute as columns, by ascending `at`; or a consecutive part of them. All columns are equally long. */
export type Requests = {
  /** Whole milliseconds since 1970-01-01T00:00:00Z. */
  readonly at: Float64Array;
  /** Whole milliseconds, not negative. */
  readonly durationMs: Float64Array;
  /** Whose traffic it is: an index into the trace's `sources`. */
  readonly source?: Uint16Array | undefined;
};

export type ComputeTrace = { readonly id: string; readonly requests: Requests };

/** From `startAt` up to, not including, `endAt`. */
export type Period = { readonly startAt: SimTime; readonly endAt: SimTime };

/** What is known of many computes over one period: nothing is known of them before it and after it. */
export type Trace = {
  readonly period: Period;
  readonly computes: readonly ComputeTrace[];
  /** Names of the sources that `source` columns refer to. */
  readonly sources?: readonly string[] | undefined;
};

/** The most bytes of a trace that are looked at together: a part of requests this long has 1 MB of columns. */
export const PART_LENGTH = 65_536;

/**
 * Why these requests are no trace, or `undefined` where they are one. Kernels trust what was checked here, for a check in their loops
 * would cost more than the work. `after` is the arrival before this part.
 */
export function checkRequests(requests: Requests, period: Period, after = period.startAt): string | undefined {
  const { at, durationMs, source } = requests;
  if (durationMs.length !== at.length) return `durationMs: ${durationMs.length} values for ${at.length} arrivals`;
  if (source !== undefined && source.length !== at.length) return `source: ${source.length} values for ${at.length} arrivals`;
  let last = after;
  for (let i = 0; i < at.length; i += 1) {
    const arrival = at[i] as number;
    const duration = durationMs[i] as number;
    if (!Number.isSafeInteger(arrival)) return `at: ${arrival} (row ${i}) is no whole number of milliseconds`;
    if (!Number.isSafeInteger(duration) || duration < 0)
      return `duration_ms: ${duration} (row ${i}) must be whole milliseconds, at least 0`;
    if (arrival < last) return `at: ${arrival} (row ${i}) comes before ${last}; arrivals must ascend from the start of the period`;
    if (arrival >= period.endAt) return `at: ${arrival} (row ${i}) is not before the end of the period, ${period.endAt}`;
    last = arrival;
  }
  return undefined;
}

/** The requests in consecutive parts: views, nothing is copied. */
export function* partsOf(requests: Requests, length = PART_LENGTH): Generator<Requests> {
  // Most computes are short, and three views of one cost as much as some hundred requests of it.
  if (requests.at.length <= length) {
    yield requests;
    return;
  }
  for (let from = 0; from < requests.at.length; from += length) {
    yield {
      at: requests.at.subarray(from, from + length),
      durationMs: requests.durationMs.subarray(from, from + length),
      ...(requests.source === undefined ? {} : { source: requests.source.subarray(from, from + length) }),
    };
  }
}

/** The first index whose arrival is not before `instant`. */
export function indexAt(at: Float64Array, instant: number): number {
  let [low, high] = [0, at.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((at[middle] as number) < instant) low = middle + 1;
    else high = middle;
  }
  return low;
}
