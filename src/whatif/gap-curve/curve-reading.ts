import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { eachPart } from "../../traffic/recorded/trace/trace.ts";
import { clearGaps, emptyGaps, GapReader, type Gaps, mergeGaps } from "../trace/gaps.ts";
import { ignoredSources } from "../trace/ignored-waits.ts";
import { LongGapStore } from "../trace/long-gap-store.ts";
import { computeGroups, dayCount, type LongGaps, MAX_DAYS, mergeLongGaps } from "../trace/long-gaps.ts";
import type { Traffic } from "../trace/traffic.ts";
import { ComputeRanking, listedComputes, type RankedCompute } from "./compute-ranking.ts";
import { type Costs, sizeOf, startWorthS } from "./costs.ts";
import { type CurvePoint, clairvoyantBound, pointOf, pointsOf } from "./curve.ts";
import type { DelayChoice, SuspendDelay } from "./delay.ts";
import { bestSettableOf, type SettableDelays } from "./settable-delays.ts";

/** The gaps that a curve is computed from: plain values, so a worker can transfer them. */
export type CurveReading = {
  /** The gaps of all computes. */
  readonly gaps: Gaps;
  /** The gaps with each compute weighted by its CU, if computes differ in size. */
  readonly cuWeighted: Gaps | undefined;
  /** Totals with each compute's own delay, if delays differ. */
  readonly own: ComputeTotals | undefined;
  /**
   * Totals with perfect foresight. Present if sizes differ and a cold start is worth the same dollars for each compute.
   */
  readonly bound?: ComputeTotals | undefined;
  /** Undefined if there are more than `MAX_LONG_GAPS`, or if they were not requested. */
  readonly longGaps?: LongGaps | undefined;
  /** The listed computes that have requests, in order of the computes; empty unless `byCompute`. */
  readonly computes: readonly ComputeReading[];
};

type ComputeTotals = { coldStarts: number; activeMs: number; cuMs: number; cuColdStarts: number };

/** Points of the curve of one compute. */
export type ComputeReading = RankedCompute & {
  readonly compute: string;
  readonly cu: number;
  readonly arrivals: number;
  readonly never: CurvePoint;
  /** Points at `SHOWN_DELAYS`. */
  readonly curve: readonly CurvePoint[];
  readonly clairvoyant: Omit<CurvePoint, "delay">;
};

/** The delays that tables show. */
export const SHOWN_DELAYS: readonly SuspendDelay[] = [
  60,
  120,
  300,
  600,
  900,
  1_800,
  3_600,
  7_200,
  21_600,
  86_400,
  604_800,
  "never",
];

export type CurveReadingOptions = {
  readonly currentDelay: DelayChoice;
  readonly ownDelays?: readonly SuspendDelay[] | undefined;
  readonly deletedAt?: readonly (SimTime | undefined)[] | undefined;
  readonly costs: Costs;
  /** Delays from which the best one of each compute is chosen; default: all that the platform accepts. */
  readonly settable?: SettableDelays | undefined;
  /** Mean length of a start. */
  readonly startMs?: DurationMs | undefined;
  /** Sources for whose requests nobody waits. */
  readonly ignoredWaits?: readonly string[] | undefined;
  readonly byCompute: boolean;
  /** Stores the long gaps one by one. */
  readonly byDay?: boolean | undefined;
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
};

/** Yields the number of computes read so far. */
export function* readCurve(traffic: Traffic, options: CurveReadingOptions): Generator<number, CurveReading> {
  const { ownDelays, deletedAt, costs, startMs, byCompute, byDay = false, from, to, settable } = options;
  const fleet = emptyGaps(traffic.period);
  const cuWeighted = typeof costs.cu === "number" ? undefined : emptyGaps(traffic.period);
  const ownTotals =
    ownDelays === undefined ? undefined : { coldStarts: 0, activeMs: 0, cuMs: 0, cuColdStarts: 0 };
  const boundTotals =
    cuWeighted === undefined || costs.dollars === undefined
      ? undefined
      : { coldStarts: 0, activeMs: 0, cuMs: 0, cuColdStarts: 0 };
  const readsEachCompute = byCompute || cuWeighted !== undefined || ownTotals !== undefined;
  const own = readsEachCompute ? emptyGaps(traffic.period) : fleet;
  const store =
    byDay && dayCount(traffic.period) <= MAX_DAYS
      ? new LongGapStore(traffic.period, { from, groups: computeGroups(traffic.computes) })
      : undefined;
  const ignored = ignoredSources(options.ignoredWaits ?? [], traffic.sources);
  const reader = new GapReader(traffic.period, own, { startMs, store, ignored });
  const ranking = new ComputeRanking<ComputeReading>();
  for (let number = from; number < to; number += 1) {
    const cu = sizeOf(costs, number);
    const rows = traffic.gapRows?.(number);
    if (rows === undefined) eachPart(traffic.arrivals(number), (part) => reader.add(part, cu));
    else for (const row of rows) reader.addRow(row, cu);
    reader.end(deletedAt?.[number]);
    if (readsEachCompute) {
      const delay = ownDelays?.[number] ?? (options.currentDelay as SuspendDelay);
      if (byCompute && own.computes > 0) {
        const worthS = startWorthS({ ...costs, cu }, own);
        const [current, best] = pointsOf(own, [delay, bestSettableOf(own, worthS, settable ?? "all")]);
        const ranked = {
          number,
          coldStartS: worthS,
          current: current as CurvePoint,
          best: best as CurvePoint,
        };
        if (ranking.isListed(ranked))
          ranking.add({ ...ranked, ...computeReading(traffic.computes[number] ?? "", own, ranked, cu) });
      }
      if (ownTotals !== undefined) {
        const { coldStarts, activeMs } = pointOf(own, delay);
        addTotals(ownTotals, { coldStarts, activeMs, cuMs: activeMs * cu, cuColdStarts: coldStarts * cu });
      }
      if (cuWeighted !== undefined) mergeGaps(cuWeighted, own, cu);
      if (boundTotals !== undefined) {
        const { coldStarts, activeMs } = clairvoyantBound(own, startWorthS({ ...costs, cu }, own));
        addTotals(boundTotals, { coldStarts, activeMs, cuMs: activeMs * cu, cuColdStarts: coldStarts * cu });
      }
      mergeGaps(fleet, own);
      clearGaps(own);
    }
    yield number + 1 - from;
  }
  return {
    gaps: fleet,
    cuWeighted,
    own: ownTotals,
    bound: boundTotals,
    longGaps: store?.result(),
    computes: ranking.listed(),
  };
}

/**
 * Sums are exact in whole numbers and quarters, so the result is the same for any partition of the computes.
 */
export function mergeReadings(readings: readonly CurveReading[]): CurveReading {
  const [first, ...others] = readings;
  if (first === undefined) throw new RangeError("readings: must not be empty");
  for (const { gaps, cuWeighted, own, bound } of others) {
    mergeGaps(first.gaps, gaps);
    if (first.cuWeighted !== undefined && cuWeighted !== undefined) mergeGaps(first.cuWeighted, cuWeighted);
    if (first.own !== undefined && own !== undefined) addTotals(first.own, own);
    if (first.bound !== undefined && bound !== undefined) addTotals(first.bound, bound);
  }
  return {
    ...first,
    longGaps: mergeLongGaps(readings.map(({ longGaps }) => longGaps)),
    computes: listedComputes(readings.flatMap(({ computes }) => computes)),
  };
}

function addTotals(into: ComputeTotals, { coldStarts, activeMs, cuMs, cuColdStarts }: ComputeTotals): void {
  into.coldStarts += coldStarts;
  into.activeMs += activeMs;
  into.cuMs += cuMs;
  into.cuColdStarts += cuColdStarts;
}

/** Adds the points that only listed computes need. */
function computeReading(
  compute: string,
  gaps: Gaps,
  { coldStartS }: RankedCompute,
  cu: number,
): Omit<ComputeReading, keyof RankedCompute> {
  const [never, ...curve] = pointsOf(gaps, ["never", ...SHOWN_DELAYS]);
  return {
    compute,
    cu,
    arrivals: gaps.arrivals,
    never: never as CurvePoint,
    curve,
    clairvoyant: clairvoyantBound(gaps, coldStartS),
  };
}
