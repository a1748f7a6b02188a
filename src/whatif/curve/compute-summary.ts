import { SECOND } from "../../platform/core/time.ts";
import { type PointFigures, pointFigures } from "../report/figures.ts";
import { type Costs, weightedCostMs } from "./costs.ts";
import type { CurvePoint } from "./curve.ts";
import type { ComputeReading } from "./curve-reading.ts";

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
  /** At `SHOWN_DELAYS`; `--compute` gives the whole curve of one compute. */
  readonly curve: readonly PointFigures[];
  /** Weighted cost that the compute's best delay saves, in seconds of active time. */
  readonly gain_s: number;
  /** Weighted cost that never suspending saves; negative if it costs more. */
  readonly gain_of_never_s: number;
};

/** `startMs`: mean length of a start. */
export function computeSummary(
  { compute, cu, coldStartS, arrivals, current, best, never, curve, clairvoyant: bound }: ComputeReading,
  fleetCosts: Costs,
  startMs: number,
): ComputeSummary {
  const costs = { ...fleetCosts, cu, coldStartS };
  const figures = (point: CurvePoint) => pointFigures(point, costs, { startMs, arrivals, firstStarts: 1 });
  const weightedCost = (point: Pick<CurvePoint, "activeMs" | "coldStarts">) =>
    weightedCostMs(point, costs.coldStartS) / SECOND;
  return {
    compute,
    cu,
    requests: arrivals,
    present: figures(current),
    best: figures(best),
    never: figures(never),
    clairvoyant: withoutDelay(figures({ ...bound, delay: 0 })),
    curve: curve.map(figures),
    gain_s: weightedCost(current) - weightedCost(best),
    gain_of_never_s: weightedCost(current) - weightedCost(never),
  };
}

export function withoutDelay({ delay_s: _, ...figures }: PointFigures): Omit<PointFigures, "delay_s"> {
  return figures;
}
