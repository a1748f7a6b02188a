import { SECOND } from "../../platform/core/time.ts";
import { type Costs, sizeOf } from "../curve/costs.ts";
import type { SuspendDelay } from "../curve/curve.ts";
import type { LongGaps } from "../trace/long-gaps.ts";
import type { DaySplit } from "./day-split.ts";
import { type DayTotals, dayTotals, sumOfDays } from "./day-totals.ts";
import { type ComputeCosts, FleetGapMemory } from "./fleet-gaps.ts";
import { crossValidated, dayMask, delaysByPseudoGaps, PSEUDO_GAPS } from "./shrinkage.ts";

export type HeldOutInput = {
  readonly gaps: LongGaps;
  /** With what a cold start of this traffic is worth. */
  readonly costs: Costs;
  readonly currentDelay: (compute: number) => SuspendDelay;
};

export type HeldOut = {
  /** Infinite: the delay of the fleet for each compute. */
  readonly pseudoGaps: number;
  readonly fleetDelay: SuspendDelay;
  readonly fleet: TrainAndTest;
  /** Each compute has the delay that was best for it alone. */
  readonly perCompute: TrainAndTest;
  /** Each compute has a delay of its own, shrunk towards that of the fleet. */
  readonly shrunk: TrainAndTest;
  readonly current: TrainAndTest;
};

export type TrainAndTest = { readonly train: PeriodFigures; readonly test: PeriodFigures };

/** Per day. */
export type PeriodFigures = {
  readonly weightedCost: number;
  readonly cuMs: number;
  readonly coldStarts: number;
};

/** Delays are chosen on the training days and judged on the test days. */
export function heldOut(input: HeldOutInput, { train, test }: DaySplit): HeldOut {
  const { gaps } = input;
  const costs = computeCosts(input.costs);
  const memory = new FleetGapMemory();
  const chosen = delaysByPseudoGaps(gaps, dayMask(gaps, train), costs, memory);
  const shrunk = crossValidated(gaps, train, costs, memory);
  const judged = (delayOf: (compute: number) => SuspendDelay): TrainAndTest => {
    const totals = dayTotals(gaps, delayOf, (compute) => sizeOf(input.costs, compute));
    return {
      train: periodFigures(totals, train, input.costs),
      test: periodFigures(totals, test, input.costs),
    };
  };
  const judgedChoice = (index: number) =>
    judged((compute) => (chosen[index] as readonly SuspendDelay[])[compute] as SuspendDelay);
  return {
    pseudoGaps: PSEUDO_GAPS[shrunk] as number,
    fleetDelay: chosen[PSEUDO_GAPS.length - 1]?.[0] ?? "never",
    fleet: judgedChoice(PSEUDO_GAPS.length - 1),
    perCompute: judgedChoice(0),
    shrunk: judgedChoice(shrunk),
    current: judged(input.currentDelay),
  };
}

/** The delay of each compute, shrunk towards that of the fleet, chosen on all of these days. */
export function shrunkDelays(
  { gaps, costs: all }: Pick<HeldOutInput, "gaps" | "costs">,
  days: readonly number[],
  pseudoGaps: number,
): readonly SuspendDelay[] {
  const chosen = delaysByPseudoGaps(gaps, dayMask(gaps, days), computeCosts(all), new FleetGapMemory());
  return chosen[PSEUDO_GAPS.indexOf(pseudoGaps)] as readonly SuspendDelay[];
}

/** A worth in dollars is the same for each size; one in active time is of the compute's own size. */
function computeCosts(costs: Costs): ComputeCosts {
  const worthMs = costs.coldStartS * SECOND;
  const sizeIn = typeof costs.cu === "number" ? () => 1 : (compute: number) => sizeOf(costs, compute);
  return {
    active: sizeIn,
    coldStart: costs.dollars === undefined ? (compute) => sizeIn(compute) * worthMs : () => worthMs,
  };
}

function periodFigures(totals: DayTotals, days: readonly number[], costs: Costs): PeriodFigures {
  const perDay = (values: Float64Array) => sumOfDays(values, days) / days.length;
  const isSized = typeof costs.cu !== "number";
  const coldStarts = isSized && costs.dollars === undefined ? totals.cuColdStarts : totals.coldStarts;
  return {
    weightedCost:
      perDay(isSized ? totals.cuMs : totals.activeMs) + perDay(coldStarts) * costs.coldStartS * SECOND,
    cuMs: perDay(totals.cuMs),
    coldStarts: perDay(totals.coldStarts),
  };
}
