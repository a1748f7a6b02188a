import { DAY, HOUR, SECOND } from "../../kernel/time.ts";
import { perMonth } from "../gap-curve/costs.ts";
import type { AccountFleet } from "./account-fleet.ts";
import { daysOf, type OmittedFigures, omittedFigures } from "./account-fleet.ts";
import { estimateCompute } from "./compute-estimate.ts";
import { PeriodBounds } from "./period-bounds.ts";

/** Delays that an experiment may set, and for which it narrows the bounds. In seconds. */
const CANDIDATES_S = [60, 120, 180, 240, 300, 600, 900, 1_800];

export type ExperimentBudget = {
  /** Limit on the estimate for all computes together. */
  readonly maxExtraColdStartsPerDay: number;
  readonly days: number;
  /** Worth of the added cold starts of the whole experiment, in dollars. */
  readonly maxCost: number | undefined;
};

/** Budget of the plan in a report. `standin whatif experiment` accepts any budget. */
export const REPORTED_BUDGET: ExperimentBudget = {
  maxExtraColdStartsPerDay: 20,
  days: 3,
  maxCost: undefined,
};

export type ExperimentPrices = { readonly pricePerCuHour: number; readonly coldStartS: number };

type PlannedCompute = {
  readonly compute: string;
  readonly project: string;
  /** Current delay in seconds. */
  readonly delay_s: number;
  readonly set_delay_s: number;
  /** Estimate by the model of short gaps. */
  readonly extra_cold_starts_per_day: number;
  /**
   * Width of the bounds of the saving before and after the experiment, in dollars a month, summed over the compared
   * delays.
   */
  readonly width_before: number;
  readonly width_after: number;
};

export type ExperimentPlan = {
  readonly days: number;
  readonly computes: readonly PlannedCompute[];
  readonly extra_cold_starts_per_day: number;
  /** Upper bound for all possible requests. */
  readonly most_extra_cold_starts_per_day: number;
  /** Worth of the added cold starts of the whole experiment, in dollars. */
  readonly cold_start_cost_dollars: number;
  /** Width of the bounds of all computes over the days of the experiment: mean over the compared delays. */
  readonly width_before_dollars_per_month: number;
  readonly width_after_dollars_per_month: number;
  readonly delays_s: readonly number[];
  /** Totals that the other figures omit because of hours that differ; null if nothing is omitted. */
  readonly omitted: OmittedFigures | null;
};

type Candidate = PlannedCompute & { readonly mostExtra: number; readonly cost: number };

/**
 * Chooses which computes should have a shorter delay for some days, so that the bounds shrink most per added cold
 * start. A delay T in force shows each gap longer than T. So the bounds for delays from T on shrink to the resolution;
 * those for shorter delays are assumed to stay. Computes are considered in the order of their gain per cold start, and
 * each gets a shorter delay if the budget allows it.
 */
export function planExperiment(
  fleet: AccountFleet,
  isSettable: (delayS: number) => boolean,
  { maxExtraColdStartsPerDay, days, maxCost = Number.POSITIVE_INFINITY }: ExperimentBudget,
  prices: ExperimentPrices,
): ExperimentPlan {
  const delays = CANDIDATES_S.filter(isSettable);
  const recordedDays = daysOf(fleet);
  const all = fleet.computes.map((compute) => candidatesOf(compute, delays, recordedDays, days, prices));
  const chosen = new Map<string, Candidate>();
  let [extra, cost] = [0, 0];
  const byGain = all.flat().sort((a, b) => gainPerStart(b) - gainPerStart(a) || order(a, b));
  for (const candidate of byGain) {
    const previous = chosen.get(candidate.compute);
    if (previous !== undefined && previous.width_after <= candidate.width_after) continue;
    const extraAfter =
      extra + candidate.extra_cold_starts_per_day - (previous?.extra_cold_starts_per_day ?? 0);
    const costAfter = cost + candidate.cost - (previous?.cost ?? 0);
    if (extraAfter > maxExtraColdStartsPerDay || costAfter > maxCost) continue;
    chosen.set(candidate.compute, candidate);
    [extra, cost] = [extraAfter, costAfter];
  }
  const computes = [...chosen.values()].sort(order);
  const before = all.reduce((sum, [first]) => sum + (first?.width_before ?? 0), 0);
  const saved = computes.reduce((sum, one) => sum + one.width_before - one.width_after, 0);
  return {
    days,
    computes: computes.map(({ mostExtra: _, cost: __, ...planned }) => planned),
    extra_cold_starts_per_day: extra,
    most_extra_cold_starts_per_day: computes.reduce((sum, { mostExtra }) => sum + mostExtra, 0),
    cold_start_cost_dollars: cost,
    width_before_dollars_per_month: before / Math.max(1, delays.length),
    width_after_dollars_per_month: (before - saved) / Math.max(1, delays.length),
    delays_s: delays,
    omitted: omittedFigures(fleet),
  };
}

function gainPerStart({ width_before, width_after, extra_cold_starts_per_day: extra }: Candidate): number {
  return (width_before - width_after) / Math.max(extra, Number.EPSILON);
}

function order(a: PlannedCompute, b: PlannedCompute): number {
  return a.compute < b.compute ? -1 : a.compute > b.compute ? 1 : b.set_delay_s - a.set_delay_s;
}

/** Candidates of one compute: each delay shorter than its own. Empty if its delay is unknown. */
function candidatesOf(
  { id, project, periods, endAt, cu, delay: inForceS, weight }: AccountFleet["computes"][number],
  delays: readonly number[],
  wholeDays: number,
  days: number,
  { pricePerCuHour, coldStartS }: ExperimentPrices,
): readonly Candidate[] {
  if (typeof inForceS !== "number") return [];
  const shorter = delays.filter((delayS) => delayS < inForceS);
  if (shorter.length === 0 || !periods.delays().has(inForceS)) return [];
  const recordedDays = wholeDays / weight;
  const bounds = new PeriodBounds(shorter, coldStartS * SECOND);
  bounds.addCompute(periods, endAt, cu);
  const { recorded } = bounds;
  const results = bounds.results();
  const monthly = (cuMs: number) => perMonth((cuMs / HOUR) * pricePerCuHour, recordedDays * DAY);
  const widths = results.map(({ netSavingCuMs: { least, most } }) => monthly(most - least));
  const width_before = widths.reduce((sum, width) => sum + width, 0);
  const { byDelay } = estimateCompute(periods, endAt, shorter);
  return shorter.map((set_delay_s, index) => {
    const { coldStarts } = results[index] as (typeof results)[number];
    const estimate = (byDelay[index] as (typeof byDelay)[number]).coldStarts;
    const within = Math.min(coldStarts.most, Math.max(coldStarts.least, estimate));
    const perDay = (count: number) => Math.max(0, count - recorded.coldStarts) / recordedDays;
    const extra = perDay(within);
    return {
      ...{ compute: id, project, delay_s: inForceS, set_delay_s },
      ...{ extra_cold_starts_per_day: extra, mostExtra: perDay(coldStarts.most), width_before },
      width_after: widths.slice(0, index).reduce((sum, width) => sum + width, 0),
      cost: extra * days * ((coldStartS * SECOND) / HOUR) * cu * pricePerCuHour,
    };
  });
}
