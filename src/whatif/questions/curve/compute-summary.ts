import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import { type DurationMs, HOUR, SECOND } from "../../../kernel/time.ts";
import { type Costs, weightedCostMs } from "../../gap-curve/costs.ts";
import type { CurvePoint } from "../../gap-curve/curve.ts";
import type { ComputeReading, CurveReading } from "../../gap-curve/curve-reading.ts";
import { delayMs, type SuspendDelay } from "../../gap-curve/delay.ts";
import { SHORTEST_DELAY_S } from "../../gap-curve/optimum.ts";
import { type ComputeGain, computeGain } from "../../held-out/compute-gain.ts";
import type { DayStatistics } from "../../held-out/day-statistics.ts";
import type { DayMargins } from "../../held-out/margins.ts";
import { type PointFigures, pointFigures, withoutDelay } from "../../replay/figures.ts";
import { waitMsAt } from "../../trace/long-gap-waits.ts";
import type { LongGaps } from "../../trace/long-gaps.ts";
import {
  type ComputeWaitLimit,
  computeWaitLimit,
  type DelaysWithinWait,
  delayToSet,
} from "./compute-wait-limits.ts";
import type { FleetCurve } from "./fleet-curve.ts";

/** One compute under the current delay, its best delay and at some points of its curve. */
export type ComputeSummary = {
  readonly compute: string;
  readonly cu: number;
  readonly requests: number;
  readonly present: PointFigures;
  readonly best: PointFigures;
  readonly never: PointFigures;
  /** The lower bound with perfect foresight. */
  readonly clairvoyant: Omit<PointFigures, "delay_s">;
  /**
   * Best delay of the compute, shrunk towards that of the fleet, and not shorter than a limit allows; null if unknown.
   */
  readonly shrunk_delay_s: SuspendDelay | null;
  /** Effects of the recommended delay for all and of the shrunk delay; null if the effect or the delay is unknown. */
  readonly gain_of_recommended: ComputeGain | null;
  readonly gain_of_shrunk: ComputeGain | null;
  /** The shortest delay within `max_wait_p99_ms`; null if there is none, absent without the limit. */
  readonly within_wait_p99_delay_s?: SuspendDelay | null;
  /** Points at `SHOWN_DELAYS`; `--compute` prints the whole curve of one compute. */
  readonly curve: readonly PointFigures[];
  /** Weighted cost that the compute's best delay saves, in seconds of active time. */
  readonly gain_s: number;
  /** Weighted cost that never suspending saves; negative if it costs more. */
  readonly gain_of_never_s: number;
};

/**
 * Summaries by descending gain; empty without figures by compute. `shrunk`: delays by the number of the compute.
 * `withinWait`: shortest delays within the limit `maxWaitMs`.
 */
export function computeSummaries(
  { computes, longGaps }: CurveReading,
  fleet: FleetCurve,
  { recommended, shrunk, withinWait, maxWaitMs, margins }: ComputeDelays,
): { readonly computes?: readonly ComputeSummary[]; readonly compute_wait_limit?: ComputeWaitLimit } {
  if (computes.length === 0) return {};
  const { costs, startMs, curve, monthBaseMs } = fleet;
  const summaries = computes.map((reading) =>
    computeSummary(reading, costs, {
      periodMs: curve.periodMs,
      startMs,
      monthBaseMs,
      longGaps,
      scaledCuMs: (delay) => fleet.scaledCuMs(reading.number, delay),
      margins: "missing" in margins ? undefined : margins,
      recommended,
      shrunkDelay: shrunk?.[reading.number],
      withinWait: withinWait?.get(reading.number),
    }),
  );
  return omitUndefined({
    computes: summaries.sort((a, b) => b.gain_s - a.gain_s || (a.compute < b.compute ? -1 : 1)),
    compute_wait_limit:
      withinWait === undefined || maxWaitMs === undefined
        ? undefined
        : computeWaitLimit(withinWait, maxWaitMs, shrunk, { longGaps, costs, margins }, curve.periodMs),
  });
}

type ComputeDelays = {
  /** Recommended delay for all computes; null if there is none. */
  readonly recommended: SuspendDelay | null;
  readonly shrunk: readonly SuspendDelay[] | undefined;
  readonly withinWait: DelaysWithinWait | undefined;
  readonly maxWaitMs: DurationMs | undefined;
  readonly margins: ReturnType<DayStatistics["margins"]>;
};

function computeSummary(
  {
    number,
    compute,
    cu,
    coldStartS,
    arrivals,
    current,
    best,
    never,
    curve,
    clairvoyant: bound,
  }: ComputeReading,
  fleetCosts: Costs,
  context: ComputeContext,
): ComputeSummary {
  const { periodMs, startMs, longGaps, withinWait } = context;
  const costs = { ...fleetCosts, cu, coldStartS };
  // If the gaps are not stored, one request is assumed to wait for each start.
  const waitsAt = (delay: SuspendDelay) =>
    longGaps === undefined || isTooShort(delay) ? {} : { waitMs: waitMsAt(longGaps, number, delayMs(delay)) };
  const figures = (point: CurvePoint, waits = waitsAt(point.delay)) => {
    const own = pointFigures(point, costs, { periodMs, startMs, arrivals, firstStarts: 1, ...waits });
    const scaledCuHours = context.scaledCuMs(point.delay) / HOUR;
    return {
      ...own,
      cu_hours: own.cu_hours + scaledCuHours,
      cost: own.cost + scaledCuHours * costs.pricePerCuHour,
    };
  };
  const weightedCost = (point: Pick<CurvePoint, "activeMs" | "coldStarts">) =>
    weightedCostMs(point, costs.coldStartS) / SECOND;
  const shrunk = delayToSet(context.shrunkDelay, withinWait) ?? null;
  const gainOf = (to: SuspendDelay | null) => {
    const from = current.delay;
    if (longGaps === undefined || to === null || [from, to].some(isTooShort)) return null;
    const { pricePerCuHour } = fleetCosts;
    const input = { number, cu, coldStartS, from, to, ...context, pricePerCuHour };
    return computeGain(longGaps, input, context.margins);
  };
  return {
    compute,
    cu,
    requests: arrivals,
    present: figures(current),
    best: figures(best),
    never: figures(never),
    // Perfect foresight suspends before the gaps that are longer than a cold start is worth.
    clairvoyant: withoutDelay(figures({ ...bound, delay: 0 }, waitsAt(coldStartS))),
    shrunk_delay_s: shrunk,
    gain_of_recommended: gainOf(context.recommended),
    gain_of_shrunk: gainOf(shrunk),
    ...(withinWait === undefined ? {} : { within_wait_p99_delay_s: withinWait }),
    curve: curve.map((point) => figures(point)),
    gain_s: weightedCost(current) - weightedCost(best),
    gain_of_never_s: weightedCost(current) - weightedCost(never),
  };
}

/** Whether gaps longer than the delay may be too short to be stored. */
function isTooShort(delay: SuspendDelay): boolean {
  return delay !== "never" && delay < SHORTEST_DELAY_S;
}

type ComputeContext = {
  readonly periodMs: number;
  /** Mean length of a start. */
  readonly startMs: number;
  readonly monthBaseMs: number;
  /** Margins; undefined without intervals. */
  readonly margins: DayMargins | undefined;
  readonly recommended: SuspendDelay | null;
  readonly longGaps: LongGaps | undefined;
  /** CU time above its smallest size. */
  readonly scaledCuMs: (delay: SuspendDelay) => number;
  readonly shrunkDelay: SuspendDelay | undefined;
  /** See `DelaysWithinWait`; undefined without a limit. */
  readonly withinWait?: SuspendDelay | null | undefined;
};
