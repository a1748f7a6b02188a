import { dayStart, isoInstant } from "../../kernel/calendar.ts";
import { DAY } from "../../kernel/time.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import { type Costs, perMonth } from "../gap-curve/costs.ts";
import type { SuspendDelay } from "../gap-curve/delay.ts";
import type { DaySplit } from "./day-split.ts";
import type { HeldOut, PeriodFigures, TrainAndTest } from "./held-out.ts";

/** Savings on later days of delays that are chosen on some days; `missing`: why they are unknown. */
export type HeldOutSummary = { readonly missing: string } | HeldOutFigures;

export type HeldOutFigures = {
  /** Days that the delays are chosen on, and days that they are judged on. */
  readonly train: DayRange;
  readonly test: DayRange;
  /** Number of gaps of the fleet added to those of each compute; null: the fleet's delay for each compute. */
  readonly pseudo_gaps: number | null;
  readonly choices: readonly HeldOutChoice[];
  /** `per_compute_shrunk` only if it saves clearly more on the test days. */
  readonly recommended: "fleet" | "per_compute_shrunk";
};

export type DayRange = { readonly from: string; readonly to: string; readonly days: number };

export type HeldOutChoice = {
  readonly choice: "current" | "fleet" | "per_compute" | "per_compute_shrunk";
  /** "own": each compute has its own delay. */
  readonly delay_s: SuspendDelay | "own";
  /** Figures on the training days. */
  readonly promised: ChoiceFigures;
  /** Figures on the test days. */
  readonly held_out: ChoiceFigures & {
    /** Half the width of the 95 % interval of each, on other days than the test days; null if these are too few. */
    readonly margin_95: ChoiceFigures | null;
  };
};

type ChoiceFigures = {
  /** Weighted cost saved, compared with the current setting on the same days; null if the current one is 0. */
  readonly gain_percent: number | null;
  readonly cost_dollars_per_month: number;
  /** Change of the cost compared with the current setting on the same days; null if the current one is 0. */
  readonly cost_percent: number | null;
  readonly cold_starts_per_day: number;
};

/** Smallest additional gain that is worth a delay per compute, in percent of the weighted cost. */
const MIN_GAIN_PERCENT = 1;

export function heldOutSummary(
  heldOut: HeldOut,
  { train, test }: DaySplit,
  period: Period,
  costs: Costs,
  currentDelay: SuspendDelay | "own",
): HeldOutFigures {
  const choice = (
    name: HeldOutChoice["choice"],
    delay_s: SuspendDelay | "own",
    figures: TrainAndTest,
  ): HeldOutChoice => ({
    choice: name,
    delay_s,
    promised: choiceFigures(figures.train, heldOut.current.train, costs),
    held_out: {
      ...choiceFigures(figures.test, heldOut.current.test, costs),
      margin_95: choiceMargins(figures, heldOut, costs),
    },
  });
  const isFleet = heldOut.pseudoGaps === Number.POSITIVE_INFINITY;
  const fleet = choice("fleet", heldOut.fleetDelay, heldOut.fleet);
  const shrunk = choice("per_compute_shrunk", isFleet ? heldOut.fleetDelay : "own", heldOut.shrunk);
  const more = (shrunk.held_out.gain_percent ?? 0) - (fleet.held_out.gain_percent ?? 0);
  return {
    train: dayRange(train, period),
    test: dayRange(test, period),
    pseudo_gaps: isFleet ? null : heldOut.pseudoGaps,
    choices: [
      choice("current", currentDelay, heldOut.current),
      fleet,
      choice("per_compute", "own", heldOut.perCompute),
      shrunk,
    ],
    recommended: more >= MIN_GAIN_PERCENT ? "per_compute_shrunk" : "fleet",
  };
}

/** Margins of the difference to the current setting on the same days. */
function choiceMargins(
  { samples: own }: TrainAndTest,
  { current, leftOut }: HeldOut,
  costs: Costs,
): ChoiceFigures | null {
  if (leftOut === undefined || own === undefined) return null;
  const samples = own.map((figures, index) =>
    choiceFigures(figures, current.samples?.[index] as PeriodFigures, costs),
  );
  const percent = (name: "gain_percent" | "cost_percent") => {
    const values = samples.map((figures) => figures[name]).filter((value) => value !== null);
    return values.length < samples.length ? null : leftOut.margin(values);
  };
  return {
    gain_percent: percent("gain_percent"),
    cost_dollars_per_month: leftOut.margin(samples.map((figures) => figures.cost_dollars_per_month)),
    cost_percent: percent("cost_percent"),
    cold_starts_per_day: leftOut.margin(samples.map((figures) => figures.cold_starts_per_day)),
  };
}

function choiceFigures(figures: PeriodFigures, current: PeriodFigures, costs: Costs): ChoiceFigures {
  return {
    gain_percent:
      current.weightedCost === 0
        ? null
        : ((current.weightedCost - figures.weightedCost) / current.weightedCost) * 100,
    cost_dollars_per_month: perMonth((figures.cuMs / 3_600_000) * costs.pricePerCuHour, DAY),
    cost_percent: current.cuMs === 0 ? null : (figures.cuMs / current.cuMs - 1) * 100,
    cold_starts_per_day: figures.coldStarts,
  };
}

/** The range of the days; `to` is exclusive. Days within the range that were not recorded completely do not count. */
export function dayRange(days: readonly number[], period: Period): DayRange {
  const instant = (day: number) => isoInstant(dayStart(period.startAt) + day * DAY);
  return {
    from: instant(days[0] as number),
    to: instant((days.at(-1) as number) + 1),
    days: days.length,
  };
}
