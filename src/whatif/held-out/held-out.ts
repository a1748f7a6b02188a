import { SECOND, type SimTime } from "../../kernel/time.ts";
import { type Costs, sizeOf } from "../gap-curve/costs.ts";
import type { SuspendDelay } from "../gap-curve/delay.ts";
import type { SettableDelays } from "../gap-curve/settable-delays.ts";
import type { LongGaps } from "../trace/long-gaps.ts";
import type { DaySplit } from "./day-split.ts";
import { type DayTotals, dayTotals, sumOfDays } from "./day-totals.ts";
import { type ComputeCosts, FleetGapMemory, fleetGapsOfDays } from "./fleet-gaps.ts";
import { kindsOfDays, type LeftOutDays } from "./left-out-days.ts";
import { crossValidated, dayMask, delaysByPseudoGaps, foldOfDay } from "./shrinkage.ts";
import { SortedGaps } from "./sorted-gaps.ts";

export type HeldOutInput = {
  readonly gaps: LongGaps;
  /** Costs with the worth of a cold start in this traffic. */
  readonly costs: Costs;
  /** Delays to choose from; default: all that the platform accepts. */
  readonly settable?: SettableDelays | undefined;
  readonly currentDelay: (compute: number) => SuspendDelay;
  /** Undefined if the test days are too few for margins. */
  readonly leftOut?: LeftOutDays | undefined;
};

export type HeldOut = {
  /** Number of gaps of the fleet added to those of each compute. Infinite: the delay of the fleet for each compute. */
  readonly pseudoGaps: number;
  readonly fleetDelay: SuspendDelay;
  readonly fleet: TrainAndTest;
  /** Each compute has the delay that was best for it alone. */
  readonly perCompute: TrainAndTest;
  /** Each compute has a delay of its own, shrunk towards that of the fleet. */
  readonly shrunk: TrainAndTest;
  readonly current: TrainAndTest;
  readonly leftOut: LeftOutDays | undefined;
};

export type TrainAndTest = {
  readonly train: PeriodFigures;
  readonly test: PeriodFigures;
  /** Samples of `LeftOutDays` over the test days; undefined if these are too few. */
  readonly samples: readonly PeriodFigures[] | undefined;
};

/** Mean figures per day. */
export type PeriodFigures = {
  readonly weightedCost: number;
  readonly cuMs: number;
  readonly coldStarts: number;
};

/** Delays are chosen on the training days and judged on the test days. */
export function heldOut(input: HeldOutInput, { train, test }: DaySplit): HeldOut {
  const { gaps } = input;
  const chosen = trainedDelays(input, train);
  const judged = (delayOf: (compute: number) => SuspendDelay): TrainAndTest => {
    const totals = dayTotals(gaps, delayOf, (compute) => sizeOf(input.costs, compute));
    const figures = (days: readonly number[]) => periodFigures(totals, gaps.firstDay, days, input.costs);
    return {
      train: figures(train),
      test: figures(test),
      samples: input.leftOut?.samples(figures),
    };
  };
  const judgedOwn = (delays: readonly SuspendDelay[]) => judged((compute) => delays[compute] as SuspendDelay);
  return {
    pseudoGaps: chosen.pseudoGaps,
    fleetDelay: chosen.fleet,
    fleet: judged(() => chosen.fleet),
    perCompute: judgedOwn(chosen.perCompute),
    shrunk: judgedOwn(chosen.shrunk),
    current: judged(input.currentDelay),
    leftOut: input.leftOut,
  };
}

/** The delays that are best on some days. */
export type TrainedDelays = {
  /** See `HeldOut`. */
  readonly pseudoGaps: number;
  readonly fleet: SuspendDelay;
  readonly perCompute: readonly SuspendDelay[];
  readonly shrunk: readonly SuspendDelay[];
};

/** The delays that are best on `days`, of which there must be at least two for the cross-validation. */
export function trainedDelays(
  { gaps, costs: all, settable }: Pick<HeldOutInput, "gaps" | "costs" | "settable">,
  days: readonly number[],
): TrainedDelays {
  const costs = computeCosts(all, settable);
  const memory = new FleetGapMemory();
  const sorted = new SortedGaps(gaps, foldOfDay(days));
  const pseudoGaps = crossValidated(gaps, sorted, days, costs, memory);
  const fleet = fleetGapsOfDays(gaps, dayMask(gaps, days), costs, memory);
  const options = { pseudoGaps: [0, pseudoGaps] };
  const [perCompute, shrunk] = delaysByPseudoGaps(sorted, fleet, costs, options) as [
    SuspendDelay[],
    SuspendDelay[],
  ];
  return { pseudoGaps, fleet: fleet.chosen, perCompute, shrunk };
}

/** The one settable delay that is best for the fleet on some days, in hindsight. */
export function bestDelayOfDays(
  { gaps, costs, settable }: Pick<HeldOutInput, "gaps" | "costs" | "settable">,
  days: readonly number[],
): SuspendDelay {
  const memory = new FleetGapMemory();
  return fleetGapsOfDays(gaps, dayMask(gaps, days), computeCosts(costs, settable), memory).best;
}

/** The delay of each compute, shrunk towards that of the fleet, chosen on all of these days. */
export function shrunkDelays(
  { gaps, costs: all, settable }: Pick<HeldOutInput, "gaps" | "costs" | "settable">,
  days: readonly number[],
  pseudoGaps: number,
): readonly SuspendDelay[] {
  const costs = computeCosts(all, settable);
  const fleet = fleetGapsOfDays(gaps, dayMask(gaps, days), costs, new FleetGapMemory());
  const options = { pseudoGaps: [pseudoGaps] };
  const [shrunk] = delaysByPseudoGaps(new SortedGaps(gaps, foldOfDay(days)), fleet, costs, options);
  return shrunk as readonly SuspendDelay[];
}

/**
 * Costs of a compute by its number. A worth in dollars is the same for each size; one in active time is multiplied by
 * the compute's size.
 */
function computeCosts(costs: Costs, settable: SettableDelays = "all"): ComputeCosts {
  const worthMs = costs.coldStartS * SECOND;
  const sizeIn = typeof costs.cu === "number" ? () => 1 : (compute: number) => sizeOf(costs, compute);
  return {
    settable,
    active: sizeIn,
    coldStart: costs.dollars === undefined ? (compute) => sizeIn(compute) * worthMs : () => worthMs,
  };
}

/**
 * Figures of the mean day of a week: workdays and weekend days are weighted as in a week, regardless of how many of
 * each are given. `firstDay`: day 0.
 */
export function periodFigures(
  totals: DayTotals,
  firstDay: SimTime,
  days: readonly number[],
  costs: Costs,
): PeriodFigures {
  const perDay = (values: Float64Array) => meanOfWeek(values, kindsOfDays(firstDay, days));
  const isSized = typeof costs.cu !== "number";
  const coldStarts = isSized && costs.dollars === undefined ? totals.cuColdStarts : totals.coldStarts;
  return {
    weightedCost:
      perDay(isSized ? totals.cuMs : totals.activeMs) + perDay(coldStarts) * costs.coldStartS * SECOND,
    cuMs: perDay(totals.cuMs),
    coldStarts: perDay(totals.coldStarts),
  };
}

/** Number of workdays and weekend days in a week. */
const DAYS_OF_WEEK = [5, 2] as const;

function meanOfWeek(values: Float64Array, kinds: readonly (readonly number[])[]): number {
  let [sum, weights] = [0, 0];
  for (const [kind, days] of kinds.entries()) {
    if (days.length === 0) continue;
    const weight = DAYS_OF_WEEK[kind] as number;
    sum += (weight * sumOfDays(values, days)) / days.length;
    weights += weight;
  }
  return sum / weights;
}
