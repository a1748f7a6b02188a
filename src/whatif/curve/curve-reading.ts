import type { SimTime } from "../../platform/core/time.ts";
import { eachPart } from "../../recordings/trace/trace.ts";
import { clearGaps, GapReader, type Gaps, mergeGaps, noGaps } from "../trace/gaps.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { type Costs, sizeOf } from "./costs.ts";
import { type CurvePoint, clairvoyant, type Delay, type DelayChoice, pointOf, pointsOf } from "./curve.ts";
import { bestDelayOf } from "./optimum.ts";

/** What a curve is read from: plain values, so that a worker can hand it over. */
export type CurveReading = {
  /** Of all computes. */
  readonly gaps: Gaps;
  /** The same with each compute as often as it has CU; where they differ in size. */
  readonly sized: Gaps | undefined;
  /** What the delays come to that computes have of their own, where they do. */
  readonly own: OwnDelays | undefined;
  /** By compute, in their order, where that was asked for; those without any request are left out. */
  readonly computes: readonly ComputeReading[];
};

type OwnDelays = { coldStarts: number; activeMs: number; cuMs: number };

/** Points of one compute. */
export type ComputeReading = {
  readonly compute: string;
  readonly cu: number;
  readonly requests: number;
  readonly present: CurvePoint;
  readonly best: CurvePoint;
  readonly never: CurvePoint;
  /** At `SHOWN_DELAYS`. */
  readonly curve: readonly CurvePoint[];
  readonly clairvoyant: Omit<CurvePoint, "delay">;
};

/** Those that are looked at where it cannot be all. */
export const SHOWN_DELAYS: readonly Delay[] = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 86_400, 604_800, "never"];

export type ReadingOptions = {
  readonly present: DelayChoice;
  readonly ownDelays?: readonly Delay[] | undefined;
  readonly goneAt?: readonly (SimTime | undefined)[] | undefined;
  readonly costs: Costs;
  readonly byCompute: boolean;
  /** The first compute that is read, and the first that is not any more. */
  readonly from: number;
  readonly to: number;
};

/** Reads computes; tells after each how many are done. */
export function* readCurve(traffic: Traffic, options: ReadingOptions): Generator<number, CurveReading> {
  const { ownDelays, goneAt, costs, byCompute, from, to } = options;
  const fleet = noGaps(traffic.period);
  const sized = typeof costs.cu === "number" ? undefined : noGaps(traffic.period);
  const ofOwn = ownDelays === undefined ? undefined : { coldStarts: 0, activeMs: 0, cuMs: 0 };
  const isEach = byCompute || sized !== undefined || ofOwn !== undefined;
  const own = isEach ? noGaps(traffic.period) : fleet;
  const reader = new GapReader(traffic.period, own);
  const computes: ComputeReading[] = [];
  for (let number = from; number < to; number += 1) {
    eachPart(traffic.requests(number), (part) => reader.add(part));
    reader.end(goneAt?.[number]);
    if (isEach) {
      const cu = sizeOf(costs, number);
      const delay = ownDelays?.[number] ?? (options.present as Delay);
      if (byCompute && own.computes > 0) computes.push(computeReading(traffic.computes[number] ?? "", own, delay, costs.coldStartS, cu));
      if (ofOwn !== undefined) {
        const { coldStarts, activeMs } = pointOf(own, delay);
        addOwn(ofOwn, { coldStarts, activeMs, cuMs: activeMs * cu });
      }
      if (sized !== undefined) mergeGaps(sized, own, cu);
      mergeGaps(fleet, own);
      clearGaps(own);
    }
    yield number + 1 - from;
  }
  return { gaps: fleet, sized, own: ofOwn, computes };
}

/** What several have read, as if one had. Whole numbers, and quarters: the same for any partition. */
export function mergeReadings(readings: readonly CurveReading[]): CurveReading {
  const [first, ...others] = readings;
  if (first === undefined) throw new RangeError("readings: there is none");
  for (const { gaps, sized, own } of others) {
    mergeGaps(first.gaps, gaps);
    if (first.sized !== undefined && sized !== undefined) mergeGaps(first.sized, sized);
    if (first.own !== undefined && own !== undefined) addOwn(first.own, own);
  }
  return { ...first, computes: readings.flatMap(({ computes }) => computes) };
}

function addOwn(into: OwnDelays, { coldStarts, activeMs, cuMs }: OwnDelays): void {
  into.coldStarts += coldStarts;
  into.activeMs += activeMs;
  into.cuMs += cuMs;
}

function computeReading(compute: string, gaps: Gaps, present: Delay, coldStartS: number, cu: number): ComputeReading {
  const [now, best, never, ...curve] = pointsOf(gaps, [present, bestDelayOf(gaps, coldStartS), "never", ...SHOWN_DELAYS]);
  return {
    compute,
    cu,
    requests: gaps.requests,
    present: now as CurvePoint,
    best: best as CurvePoint,
    never: never as CurvePoint,
    curve,
    clairvoyant: clairvoyant(gaps, coldStartS),
  };
}
