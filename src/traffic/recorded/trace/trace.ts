import type { SimTime } from "../../../kernel/time.ts";

/** Requests of one compute, or a consecutive part of them, as columns of equal length by ascending `at`. */
export type ComputeArrivals = {
  /** Whole milliseconds since 1970-01-01T00:00:00Z. */
  readonly at: Float64Array;
  /** Whole milliseconds, not negative. */
  readonly durationMs: Float64Array;
  /** Index into the trace's `sources`. */
  readonly source?: Uint16Array | undefined;
  /** vCPUs that each request keeps busy while it runs; only journals of worlds contain it. */
  readonly load?: Float64Array | undefined;
};

export type ComputeTrace = { readonly id: string; readonly arrivals: ComputeArrivals };

/**
 * The observed period; `startAt` is inclusive, `endAt` exclusive. Requests still running at the end are
 * billed until they finish; idle computes are not observed any longer.
 */
export type Period = { readonly startAt: SimTime; readonly endAt: SimTime };

/** The part of a period before a compute's deletion. */
export function untilDeleted(period: Period, deletedAt: SimTime | undefined): Period {
  return deletedAt === undefined || deletedAt >= period.endAt ? period : { ...period, endAt: deletedAt };
}

/** The requests of many computes over one period. Nothing is known before or after it. */
export type Trace = {
  readonly period: Period;
  readonly computes: readonly ComputeTrace[];
  /** Names of the sources that `source` columns refer to. */
  readonly sources?: readonly string[] | undefined;
};

/** Requests per part; its columns take about 1 MB. */
export const PART_LENGTH = 65_536;

/**
 * Why the requests are invalid, or `undefined`. The simulation loops rely on this check, because checks
 * inside them would cost more than the work. `previousAt` is the last arrival before this part.
 */
export function checkArrivals(
  arrivals: ComputeArrivals,
  period: Period,
  previousAt = period.startAt,
): string | undefined {
  const { at, durationMs, source } = arrivals;
  if (durationMs.length !== at.length)
    return `durationMs: ${durationMs.length} values for ${at.length} arrivals`;
  if (source !== undefined && source.length !== at.length)
    return `source: ${source.length} values for ${at.length} arrivals`;
  let lastAt = previousAt;
  for (let i = 0; i < at.length; i += 1) {
    const arrival = at[i] as number;
    const duration = durationMs[i] as number;
    if (!Number.isSafeInteger(arrival))
      return `at: ${arrival} (row ${i}) is not a whole number of milliseconds`;
    if (!Number.isSafeInteger(duration) || duration < 0)
      return `duration_ms: ${duration} (row ${i}) must be whole milliseconds, at least 0`;
    if (arrival < lastAt)
      return `at: ${arrival} (row ${i}) comes before ${lastAt}; arrivals must ascend from the start of the period`;
    if (arrival >= period.endAt)
      return `at: ${arrival} (row ${i}) is not before the end of the period, ${period.endAt}`;
    lastAt = arrival;
  }
  return undefined;
}

/**
 * Reads the requests of one compute in consecutive parts; `undefined` at the end. The next part reuses the
 * memory of the last one, so this is not an iterable; use `collectParts` for all requests at once.
 */
export type ArrivalParts = { next(): ComputeArrivals | undefined };

export function eachPart(parts: ArrivalParts, visit: (part: ComputeArrivals) => void): void {
  for (let part = parts.next(); part !== undefined; part = parts.next()) visit(part);
}

/** Copies all parts into one. */
export function collectParts(parts: ArrivalParts): ComputeArrivals {
  const copies: ComputeArrivals[] = [];
  eachPart(parts, ({ at, durationMs, source, load }) => {
    copies.push({
      at: at.slice(),
      durationMs: durationMs.slice(),
      source: source?.slice(),
      load: load?.slice(),
    });
  });
  if (copies.length === 1) return copies[0] as ComputeArrivals;
  const length = copies.reduce((sum, { at }) => sum + at.length, 0);
  const all = {
    at: new Float64Array(length),
    durationMs: new Float64Array(length),
    source: new Uint16Array(length),
    load: copies.some(({ load }) => load !== undefined) ? new Float64Array(length) : undefined,
  };
  let from = 0;
  for (const { at, durationMs, source, load } of copies) {
    all.at.set(at, from);
    all.durationMs.set(durationMs, from);
    if (source !== undefined) all.source.set(source, from);
    if (load !== undefined) all.load?.set(load, from);
    from += at.length;
  }
  return all;
}

/** Splits requests in memory into parts; views, no copies. */
export function partsOf(arrivals: ComputeArrivals, length = PART_LENGTH): ArrivalParts {
  const count = arrivals.at.length;
  let from = 0;
  return {
    next() {
      if (from >= count) return undefined;
      const to = from + length;
      // Most computes have few requests, and three views cost as much as some hundred requests.
      const part = from === 0 && count <= length ? arrivals : rangeView(arrivals, from, to);
      from = to;
      return part;
    },
  };
}

/** The requests from index `from` (inclusive) to `to` (exclusive). */
export function rangeView(
  { at, durationMs, source, load }: ComputeArrivals,
  from: number,
  to: number,
): ComputeArrivals {
  return {
    at: at.subarray(from, to),
    durationMs: durationMs.subarray(from, to),
    source: source?.subarray(from, to),
    load: load?.subarray(from, to),
  };
}

/** The first index whose arrival is not before `bound`. */
export function lowerBound(at: Float64Array, bound: number): number {
  let [low, high] = [0, at.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((at[middle] as number) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
