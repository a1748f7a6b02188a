import { type CurvePoint, clairvoyant, type Delay, pointOf } from "../curve.ts";
import { clearGaps, GapReader, type Gaps, mergeGaps, noGaps } from "../gaps.ts";
import { bestDelayOf } from "../pick.ts";
import { eachPart } from "../trace.ts";
import type { Traffic } from "./traffic.ts";

/** What a curve is read from: plain values, so that a worker can hand it over. */
export type CurveReading = {
  /** Of all computes. */
  readonly gaps: Gaps;
  /** By compute, in their order, where that was asked for; those without any request are left out. */
  readonly computes: readonly ComputeReading[];
};

/** Points of one compute. */
export type ComputeReading = {
  readonly compute: string;
  readonly requests: number;
  readonly present: CurvePoint;
  readonly best: CurvePoint;
  readonly never: CurvePoint;
  readonly clairvoyant: Omit<CurvePoint, "delay">;
};

export type ReadingOptions = {
  readonly present: Delay;
  readonly coldStartS: number;
  readonly byCompute: boolean;
  /** The first compute that is read, and the first that is not any more. */
  readonly from: number;
  readonly to: number;
};

/** Reads computes; tells after each how many are done. */
export function* readCurve(
  traffic: Traffic,
  { present, coldStartS, byCompute, from, to }: ReadingOptions,
): Generator<number, CurveReading> {
  const fleet = noGaps(traffic.period);
  const own = byCompute ? noGaps(traffic.period) : fleet;
  const reader = new GapReader(traffic.period, own);
  const computes: ComputeReading[] = [];
  for (let number = from; number < to; number += 1) {
    eachPart(traffic.requests(number), (part) => reader.add(part));
    reader.end();
    if (byCompute) {
      if (own.computes > 0) computes.push(computeReading(traffic.computes[number] ?? "", own, present, coldStartS));
      mergeGaps(fleet, own);
      clearGaps(own);
    }
    yield number + 1 - from;
  }
  return { gaps: fleet, computes };
}

/** What several have read, as if one had. Whole numbers: the same for any partition. */
export function mergeReadings(readings: readonly CurveReading[]): CurveReading {
  const [first, ...others] = readings;
  if (first === undefined) throw new RangeError("readings: there is none");
  for (const { gaps } of others) mergeGaps(first.gaps, gaps);
  return { gaps: first.gaps, computes: readings.flatMap(({ computes }) => computes) };
}

function computeReading(compute: string, gaps: Gaps, present: Delay, coldStartS: number): ComputeReading {
  return {
    compute,
    requests: gaps.requests,
    present: pointOf(gaps, present),
    best: pointOf(gaps, bestDelayOf(gaps, coldStartS)),
    never: pointOf(gaps, "never"),
    clairvoyant: clairvoyant(gaps, coldStartS),
  };
}
