import type { SimTime } from "../../platform/core/time.ts";

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

/**
 * From `startAt` up to, not including, `endAt`: what arrives in it is looked at. It ends for all computes alike but for those that are busy
 * then: what has arrived is served to its end, and charged; an idle compute is not looked at any more.
 */
export type Period = { readonly startAt: SimTime; readonly endAt: SimTime };

/** The part of a period in which a compute is there that was deleted at `goneAt`. */
export function untilGone(period: Period, goneAt: SimTime | undefined): Period {
  return goneAt === undefined || goneAt >= period.endAt ? period : { ...period, endAt: goneAt };
}

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

/**
 * Reads the requests of one compute in consecutive parts; `undefined` when there are no more. The memory of a part is that of the next one
 * when that is read, so this is no iterable: it cannot be spread, and who needs all of them at once copies them by `allOf`.
 */
export type RequestParts = { next(): Requests | undefined };

export function eachPart(parts: RequestParts, visit: (part: Requests) => void): void {
  for (let part = parts.next(); part !== undefined; part = parts.next()) visit(part);
}

/** All of them as one, in memory of its own. */
export function allOf(parts: RequestParts): Requests {
  const kept: Requests[] = [];
  eachPart(parts, ({ at, durationMs, source }) => {
    kept.push({ at: at.slice(), durationMs: durationMs.slice(), source: source?.slice() });
  });
  if (kept.length === 1) return kept[0] as Requests;
  const length = kept.reduce((sum, { at }) => sum + at.length, 0);
  const all = { at: new Float64Array(length), durationMs: new Float64Array(length), source: new Uint16Array(length) };
  let from = 0;
  for (const { at, durationMs, source } of kept) {
    all.at.set(at, from);
    all.durationMs.set(durationMs, from);
    if (source !== undefined) all.source.set(source, from);
    from += at.length;
  }
  return all;
}

/** Requests that are at hand, in parts: views, nothing is copied. */
export function partsOf(requests: Requests, length = PART_LENGTH): RequestParts {
  const count = requests.at.length;
  let from = 0;
  return {
    next() {
      if (from >= count) return undefined;
      const to = from + length;
      // Most computes are short, and three views of one cost as much as some hundred requests of it.
      const part = from === 0 && count <= length ? requests : viewOf(requests, from, to);
      from = to;
      return part;
    },
  };
}

/** Those from the index `from` up to, not including, `to`. */
export function viewOf({ at, durationMs, source }: Requests, from: number, to: number): Requests {
  return { at: at.subarray(from, to), durationMs: durationMs.subarray(from, to), source: source?.subarray(from, to) };
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
