import fc from "fast-check";
import { type Random, uniform } from "../../../src/kernel/random-port.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import {
  type ComputeArrivals,
  eachPart,
  type Period,
  partsOf,
  type Trace,
} from "../../../src/traffic/recorded/trace/trace.ts";
import { eachBin, type GapHistogram } from "../../../src/whatif/trace/gap-histogram.ts";
import { emptyGaps, GapReader, type Gaps } from "../../../src/whatif/trace/gaps.ts";
import { LongGapStore } from "../../../src/whatif/trace/long-gap-store.ts";
import { computeGroups, type LongGaps } from "../../../src/whatif/trace/long-gaps.ts";
import { NO_LATENCY, type StartLatency } from "../../../src/whatif/units/start-latency.ts";

export const SECOND = 1_000;
export const MINUTES = 60 * SECOND;
export const HOUR = 3_600 * SECOND;
export const DAY = 24 * HOUR;
/** A Monday, so that hours of the week are easy to read. */
export const BEGIN = Date.parse("2026-01-05T00:00:00Z");

export type Row = readonly [atMs: number, durationMs?: number, source?: number];

/** Requests from rows of milliseconds since the beginning of the trace. */
export function requestsOf(rows: readonly Row[]): ComputeArrivals {
  return {
    at: Float64Array.from(rows, ([at]) => BEGIN + at),
    durationMs: Float64Array.from(rows, ([, duration]) => duration ?? 0),
    ...(rows.some(([, , source]) => source !== undefined)
      ? { source: Uint16Array.from(rows, ([, , source]) => source ?? 0) }
      : {}),
  };
}

export function periodOf(lengthMs: number): Period {
  return { startAt: BEGIN, endAt: BEGIN + lengthMs };
}

export function traceOf(lengthMs: number, ...computes: readonly (readonly Row[])[]): Trace {
  return {
    period: periodOf(lengthMs),
    computes: computes.map((rows, index) => ({ id: `compute-${index}`, arrivals: requestsOf(rows) })),
  };
}

/**
 * Poisson arrivals of `count` requests of zero duration, in whole milliseconds. The period ends with the
 * last.
 */
export function poisson(
  meanMs: number,
  count: number,
  random: Random = randomFrom(1),
  number = 0,
): { requests: ComputeArrivals; period: Period } {
  const draw = random.stream("test-poisson", number);
  const at = new Float64Array(count);
  let exact = BEGIN;
  for (let i = 0; i < count; i += 1) {
    exact -= Math.log(1 - uniform(draw)) * meanMs;
    at[i] = Math.round(exact);
  }
  return {
    requests: { at, durationMs: new Float64Array(count) },
    period: { startAt: BEGIN, endAt: (at[count - 1] ?? BEGIN) + 1 },
  };
}

/** No randomness except that of the policy. */
export function replaySetting(coldStartS = 60, latency: StartLatency = NO_LATENCY, seed = 1) {
  return { latency, coldStartS, random: randomFrom(seed) };
}

/**
 * Gaps around a delay, from the last arrival or the last end, to hit deadlines to the millisecond; of several
 * sources.
 */
function rowsAround(delayMs: number, maxLength = 40): fc.Arbitrary<readonly Row[]> {
  const gapMs = fc.oneof(
    fc.constantFrom(0, 1, delayMs - 1, delayMs, delayMs + 1, 2 * delayMs),
    fc.nat(delayMs),
    fc.nat(4 * delayMs),
    fc.nat(DAY),
  );
  const step = fc.record({
    gapMs: gapMs.map((ms) => Math.max(0, ms)),
    fromEnd: fc.boolean(),
    durationMs: fc.oneof(fc.constantFrom(0, 0, 1, delayMs), fc.nat(30 * SECOND)),
    source: fc.nat(2),
  });
  return fc.array(step, { maxLength, size: "max" }).map((steps) => {
    let [at, end] = [0, 0];
    return steps.map(({ gapMs: gap, fromEnd, durationMs, source }): Row => {
      at = fromEnd ? Math.max(at, end + gap) : at + gap;
      end = Math.max(end, at + durationMs);
      return [at, durationMs, source];
    });
  });
}

/** A trace of one to four computes over a period that may cut running requests at its end. */
export function tracesAround(delayMs: number): fc.Arbitrary<Trace> {
  return fc
    .record({
      computes: fc.array(rowsAround(delayMs), { minLength: 1, maxLength: 4 }),
      restMs: fc.nat(2 * delayMs),
    })
    .map(({ computes, restMs }) => {
      const lastMs = Math.max(0, ...computes.flatMap((rows) => rows.map(([at]) => at)));
      return traceOf(lastMs + 1 + restMs, ...computes);
    });
}

/** The long gaps of a trace, read in parts: of all computes, or of a range. */
export function longGapsOf(
  { period, computes }: Trace,
  startMs: number,
  { partLength = 7, from = 0, to = computes.length } = {},
): LongGaps {
  const store = new LongGapStore(period, { from, groups: computeGroups(computes.map(({ id }) => id)) });
  const reader = new GapReader(period, emptyGaps(period), { startMs, store });
  for (const { arrivals } of computes.slice(from, to)) {
    eachPart(partsOf(arrivals, partLength), (part) => reader.add(part));
    reader.end();
  }
  return store.result() as LongGaps;
}

/** A digest of gaps, to compare them: comparing typed arrays of a million bins takes seconds. */
export function plainGaps({ ended, tails, ...rest }: Gaps): object {
  const bins = (histogram: GapHistogram) => {
    const list: (readonly number[])[] = [];
    eachBin(histogram, (...bin) => list.push(bin));
    return list;
  };
  return { ...rest, ended: bins(ended), tails: bins(tails) };
}
