import { type Costs, perMonth } from "../gap-curve/costs.ts";
import type { DelayChoice, SuspendDelay } from "../gap-curve/delay.ts";
import { SHORTEST_DELAY_S } from "../gap-curve/optimum.ts";
import {
  type DelayRange,
  isSettableDelay,
  isWithin,
  type SettableDelays,
  settableWithin,
} from "../gap-curve/settable-delays.ts";
import type { ChangeMargins, DayMargins, FigureMargins } from "../held-out/margins.ts";
import { namedMargins } from "../held-out/named-margins.ts";
import { worthSummary } from "../input/question-summary.ts";
import type { AssumedWorth } from "../page/page-text.ts";
import type { PointFigures } from "../replay/figures.ts";
import { changeText, type TrafficChangeSummary } from "../units/traffic-change.ts";
import {
  type BreakEven,
  breakEvens,
  chosenDelays,
  type Objective,
  plateauOf,
  tooLittleReasons,
} from "./decision.ts";
import { nearestCliff } from "./robust-delay.ts";

/** The part of the JSON of `whatif curve` that names a delay and what would change it. */
export type DecisionSummary = {
  /**
   * The balanced option, or the current delay if the balanced one is hardly better, and perhaps only by chance. Null if
   * no delay meets the limits, if there is too little traffic, or if it changes too much.
   */
  readonly recommended_delay_s: SuspendDelay | null;
  /**
   * Gain in weighted cost of the balanced delay, if it is too small to be more than chance and the current delay is
   * recommended; otherwise null.
   */
  readonly within_noise: { readonly gain_percent: number; readonly margin_95: number } | null;
  /** Reasons why there is no recommendation; empty if there is one. */
  readonly too_little: readonly string[];
  /** Why there are no margins; null if there are. */
  readonly no_margins: string | null;
  /** What the record is too short to show about other days; null if it is long enough, or without margins. */
  readonly margins_assume: string | null;
  /** Why there are no margins of other computes; null if there are, or if there are none at all. */
  readonly no_compute_margins: string | null;
  readonly current: OptionFigures;
  /** Empty if no delay meets the limits. */
  readonly options: readonly DelayOption[];
  /** The delays around the balanced one whose weighted cost is at most 1 % higher; both ends inclusive. */
  readonly plateau: { readonly from_delay_s: SuspendDelay; readonly to_delay_s: SuspendDelay } | null;
  /** The delays that meet the limits, including those that the plan does not allow; null if there are none. */
  readonly within_limits: { readonly from_delay_s: SuspendDelay; readonly to_delay_s: SuspendDelay } | null;
  /** The delays that the plan lets its users set: "all" that the platform accepts, or these. */
  readonly settable_delays_s: SettableDelays;
  /** Where cold starts rise steeply, next to the balanced delay; null if that is far away. */
  readonly cliff: CliffSummary | null;
  readonly break_even: { readonly below: BreakEvenSummary | null; readonly above: BreakEvenSummary | null };
};

/** A delay below which there are far more cold starts. */
export type CliffSummary = {
  readonly delay_s: number;
  /** Distance of the balanced delay from the cliff, in percent; negative if it is shorter than the cliff. */
  readonly distance_percent: number;
  readonly cold_starts_per_day_below: number;
  readonly cold_starts_per_day_from: number;
  /** The program on a timer whose gaps are this long, such as `health-check every 4 min`; null if unknown. */
  readonly cause: string | null;
};

export type OptionFigures = {
  readonly delay_s: DelayChoice;
  /** Cost of a month of 730 hours. */
  readonly cost_dollars_per_month: number;
  readonly cold_starts_per_day: number;
  /** See `PointFigures`. */
  readonly cold_starts_per_day_at_most_95?: number;
  /** Mean wait over all requests, including those that do not wait. */
  readonly wait_mean_ms: number;
  /** 99th percentile of the wait; null if the delay was not replayed. */
  readonly wait_p99_ms: number | null;
  /** Half the width of the 95 % interval of each, for these computes on other days; null if there are none. */
  readonly margin_95: FigureMargins | null;
  /**
   * Half the width of the 95 % interval of each, for other computes like these on other days; null if there are none.
   */
  readonly margin_95_other_computes: FigureMargins | null;
};

export type DelayOption = OptionFigures & {
  readonly name: OptionName;
  /** Change compared with the current setting. A percentage is null if the current value is 0. */
  readonly change: {
    readonly cost_dollars_per_month: number;
    readonly cost_percent: number | null;
    readonly cold_starts_per_day: number;
    readonly wait_mean_ms: number;
    readonly wait_p99_ms: number | null;
    readonly margin_95: ChangeMargins | null;
    readonly margin_95_other_computes: ChangeMargins | null;
  };
};

export type OptionName = "balanced" | "cheapest" | "fewest_cold_starts";

/** The worth at which another delay becomes the best, in the unit of the assumption. */
export type BreakEvenSummary = AssumedWorth & {
  readonly delay_s: SuspendDelay;
  /** Change of the cost compared with the current setting, and half the width of its interval; null if that is 0. */
  readonly cost_percent: number | null;
  readonly cost_percent_margin_95: number | null;
};

export type DecisionInput = {
  readonly objective: Objective;
  /** Objective by which delays are chosen; see `stretched`. */
  readonly robust: Objective;
  readonly costs: Costs;
  readonly settable: SettableDelays;
  readonly currentDelay: DelayChoice;
  /** The delays that meet the limits; undefined if none does. */
  readonly range: DelayRange | undefined;
  /** Time from which monthly figures are extrapolated; see `monthBaseMs`. */
  readonly monthBaseMs: number;
  /** Name of the program whose gaps are this long, in seconds; undefined if unknown. */
  causeOf(delayS: number): string | undefined;
  figuresAt(delay: DelayChoice): PointFigures;
  /** 99th percentile of the wait; undefined if the delay was not replayed. */
  waitP99Ms(delay: DelayChoice): number | undefined;
  /** Margins of the figures, or why there are none. */
  readonly margins: Margins | { readonly missing: string };
  /** Change of the traffic in the record; null if there is none. */
  readonly trafficChange: TrafficChangeSummary | null;
};

type Margins = Pick<DayMargins, "missingComputes" | "unknownDays" | "figures" | "change">;

export function decisionSummary(input: DecisionInput): DecisionSummary {
  const { objective, range, currentDelay } = input;
  const { curve } = objective;
  const too_little = [
    ...tooLittleReasons(curve.periodMs, input.figuresAt(SHORTEST_DELAY_S).cold_starts),
    ...(input.trafficChange !== null
      ? [`${changeText("traffic", input.trafficChange)}, and a delay that was best before may not be later`]
      : []),
  ];
  const no_margins = "missing" in input.margins ? input.margins.missing : null;
  const margins_assume = "missing" in input.margins ? null : input.margins.unknownDays;
  const no_compute_margins = "missing" in input.margins ? null : (input.margins.missingComputes ?? null);
  const current = optionFigures(input, currentDelay);
  const known = {
    ...{ too_little, no_margins, margins_assume, no_compute_margins, current },
    within_limits: range === undefined ? null : rangeSummary(range),
    settable_delays_s: input.settable,
  };
  const ranges = range === undefined ? [] : settableWithin(input.settable, range);
  if (ranges.length === 0)
    return {
      ...known,
      recommended_delay_s: null,
      within_noise: null,
      options: [],
      plateau: null,
      cliff: null,
      break_even: { below: null, above: null },
    };
  const { balanced, cheapest, fewestColdStarts } = chosenDelays(objective, input.robust, ranges);
  const named = [
    ["balanced", balanced],
    ["cheapest", cheapest],
    ["fewest_cold_starts", fewestColdStarts],
  ] as const;
  const { below, above } = breakEvens(input.robust, ranges);
  const within_noise = noiseOf(input, range, balanced);
  const best = within_noise === null ? balanced : (currentDelay as SuspendDelay);
  return {
    ...known,
    recommended_delay_s: too_little.length === 0 ? best : null,
    within_noise,
    options: named.map(([name, delay]) => delayOption(name, input, optionFigures(input, delay), current)),
    plateau: rangeSummary(plateauOf(input.robust, ranges)),
    cliff: cliffSummary(input, balanced),
    break_even: {
      below: below === undefined ? null : breakEvenSummary(input, below),
      above: above === undefined ? null : breakEvenSummary(input, above),
    },
  };
}

function cliffSummary({ objective, causeOf }: DecisionInput, balanced: SuspendDelay): CliffSummary | null {
  const cliff = nearestCliff(objective.curve, balanced);
  if (cliff === undefined || balanced === "never") return null;
  return {
    delay_s: cliff.delayS,
    distance_percent: (balanced / cliff.delayS - 1) * 100,
    cold_starts_per_day_below: cliff.coldStartsPerDayBelow,
    cold_starts_per_day_from: cliff.coldStartsPerDayAbove,
    cause: causeOf(cliff.delayS) ?? null,
  };
}

/** A gain above this is recommended, however wide its interval. */
const MIN_GAIN_PERCENT = 2;

/**
 * Gain of the balanced delay if it may be chance. Null if the gain is significant or large, or if there is no choice.
 */
function noiseOf(
  { currentDelay, figuresAt, margins, settable }: DecisionInput,
  range: DelayRange | undefined,
  balanced: SuspendDelay,
): DecisionSummary["within_noise"] {
  if ("missing" in margins || currentDelay === "own" || currentDelay === balanced) return null;
  if (range === undefined || !isWithin(range, currentDelay)) return null;
  if (!isSettableDelay(settable, currentDelay)) return null;
  const margin = margins.change(balanced, currentDelay).days.weighted_cost_percent;
  const current = figuresAt(currentDelay).burden_s;
  if (margin === null || current === 0) return null;
  const gain = (1 - figuresAt(balanced).burden_s / current) * 100;
  return gain > margin || gain >= MIN_GAIN_PERCENT ? null : { gain_percent: gain, margin_95: margin };
}

function optionFigures(
  { figuresAt, waitP99Ms, monthBaseMs, margins }: DecisionInput,
  delay: DelayChoice,
): OptionFigures {
  const {
    cost,
    cold_starts_per_day,
    cold_starts_per_day_at_most_95: atMost,
    added_wait_mean_ms,
  } = figuresAt(delay);
  return {
    delay_s: delay,
    cost_dollars_per_month: perMonth(cost, monthBaseMs),
    cold_starts_per_day,
    ...(atMost === undefined ? {} : { cold_starts_per_day_at_most_95: atMost }),
    wait_mean_ms: added_wait_mean_ms,
    wait_p99_ms: waitP99Ms(delay) ?? null,
    ...namedMargins(margins, (of) => of.figures(delay)),
  };
}

function delayOption(
  name: OptionName,
  { margins }: DecisionInput,
  figures: OptionFigures,
  current: OptionFigures,
): DelayOption {
  const { wait_p99_ms: p99, cost_dollars_per_month: cost } = figures;
  return {
    name,
    ...figures,
    change: {
      cost_dollars_per_month: cost - current.cost_dollars_per_month,
      cost_percent: percentChange(cost, current.cost_dollars_per_month),
      cold_starts_per_day: figures.cold_starts_per_day - current.cold_starts_per_day,
      wait_mean_ms: figures.wait_mean_ms - current.wait_mean_ms,
      wait_p99_ms: p99 === null || current.wait_p99_ms === null ? null : p99 - current.wait_p99_ms,
      ...namedMargins(margins, (of) => of.change(figures.delay_s, current.delay_s)),
    },
  };
}

/** Converts a break-even to the unit of the given worth, which is proportional to the worth in seconds. */
function breakEvenSummary(
  { objective, costs, currentDelay, figuresAt, margins }: DecisionInput,
  { worthS, delay }: BreakEven,
): BreakEvenSummary {
  const factor = objective.worthS === 0 ? 1 : worthS / objective.worthS;
  const { coldStartS, dollars } = costs;
  const scaled =
    dollars === undefined
      ? { coldStartS: objective.worthS === 0 ? worthS : Math.round(coldStartS * factor) }
      : { coldStartS, dollars: { ...dollars, dollars: dollars.dollars * factor } };
  return {
    ...worthSummary(scaled),
    delay_s: delay,
    cost_percent: percentChange(figuresAt(delay).cost, figuresAt(currentDelay).cost),
    cost_percent_margin_95:
      "missing" in margins ? null : margins.change(delay, currentDelay).days.cost_percent,
  };
}

function rangeSummary({ shortest, longest }: DelayRange) {
  return { from_delay_s: shortest, to_delay_s: longest };
}

function percentChange(value: number, base: number): number | null {
  return base === 0 ? null : ((value - base) / base) * 100;
}
