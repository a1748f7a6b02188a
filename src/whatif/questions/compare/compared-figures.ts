import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import { type DrawnOutcome, MARGIN_FIGURES, type OutcomeMargins } from "../../held-out/outcome-margins.ts";
import type { Question } from "../../input/question.ts";
import { type OutcomeFigures, outcomeFigures } from "../../replay/figures.ts";
import type { OutcomeDays } from "../../replay/outcome-days.ts";
import type { ChosenDelays, ReplayOutcome } from "../../replay/replay-outcome.ts";
import type { StartsByCompute } from "../../replay/starts-by-compute.ts";
import { confidenceInterval, pairedDifference } from "../../units/replications.ts";

/** The mean over the replications, and the difference to the current setting. */
export type ComparedFigure = {
  readonly value: number;
  readonly difference: number;
  /** Half the width of the 95 % interval; absent for a single replication. */
  readonly plus_minus?: number;
  readonly difference_plus_minus?: number;
  /**
   * Half the width of the 95 % interval for these computes on other days, with the chance of the replications; absent
   * without intervals, or if the figure is a percentile.
   */
  readonly margin_95?: number;
  readonly difference_margin_95?: number;
  /** Half the width of the 95 % interval of `difference_percent`; absent if the current setting has 0 on some days. */
  readonly difference_percent_margin_95?: number;
  /** Upper limit (95 % confidence) of cold starts a day. Present if there were none but some are possible. */
  readonly at_most_95?: number;
};

export type ReplicationResult = {
  readonly figures: OutcomeFigures;
  readonly days: OutcomeDays | undefined;
  readonly arrivals: number;
  readonly firstStarts: number;
  readonly activeByDay: readonly number[];
  readonly chosenDelays: ChosenDelays | undefined;
  readonly byCompute: StartsByCompute | undefined;
};

export type ReplayedPolicy = {
  readonly results: readonly ReplicationResult[];
  readonly drawn: DrawnOutcome | undefined;
};

export function comparedFigures<Name extends keyof OutcomeFigures>(
  names: readonly Name[],
  own: ReplayedPolicy,
  current: ReplayedPolicy,
  margins: OutcomeMargins | { readonly missing: string },
): Readonly<Record<Name, ComparedFigure | null>> {
  const figures = names.map((name) => {
    const figure = comparedFigure(valuesOf(own.results, name), valuesOf(current.results, name));
    return [name, figure && { ...figure, ...dayMargins(name, figure, own, current, margins) }] as const;
  });
  return Object.fromEntries(figures) as Record<Name, ComparedFigure | null>;
}

export function replicationResult(
  outcome: ReplayOutcome,
  { startAt, endAt }: Period,
  { costs }: Question,
): ReplicationResult {
  return {
    figures: outcomeFigures(outcome, endAt - startAt, costs),
    days: outcome.days,
    arrivals: outcome.arrivals,
    firstStarts: outcome.firstStarts,
    activeByDay: [...outcome.activeByDay].map((ms) => ms / 1_000),
    chosenDelays: outcome.chosenDelays,
    byCompute: outcome.byCompute,
  };
}

/** Margins over days and replications. Both are independent, so they are added in quadrature. */
function dayMargins(
  metric: keyof OutcomeFigures,
  { value, difference, plus_minus = 0, difference_plus_minus = 0 }: ComparedFigure,
  { drawn: own }: ReplayedPolicy,
  { drawn: current }: ReplayedPolicy,
  margins: OutcomeMargins | { readonly missing: string },
): Partial<ComparedFigure> {
  const name = MARGIN_FIGURES.find((one) => one === metric);
  if ("missing" in margins || own === undefined || current === undefined || name === undefined) return {};
  const percent = margins.percent(own[name], current[name]);
  const base = value - difference;
  return omitUndefined({
    margin_95: Math.hypot(margins.margin(own[name]), plus_minus),
    difference_margin_95: Math.hypot(margins.difference(own[name], current[name]), difference_plus_minus),
    difference_percent_margin_95:
      percent === null ? undefined : Math.hypot(percent, (100 * difference_plus_minus) / base),
  });
}

function valuesOf(
  results: readonly ReplicationResult[],
  metric: keyof OutcomeFigures,
): readonly number[] | undefined {
  const values = results.map(({ figures }) => figures[metric]);
  return values.every((value) => value !== null) ? values : undefined;
}

/** Compares two figures. If only one involves chance, the other has a single value for all replications. */
function comparedFigure(
  own: readonly number[] | undefined,
  current: readonly number[] | undefined,
): ComparedFigure | null {
  if (own === undefined || current === undefined) return null;
  const times = Math.max(own.length, current.length);
  const repeated = (values: readonly number[]) =>
    Array.from({ length: times }, (_, index) => values[index % values.length] as number);
  const [value, difference] = [confidenceInterval(own), pairedDifference(repeated(own), repeated(current))];
  return omitUndefined({
    value: value.mean,
    difference: difference.mean,
    plus_minus: own.length > 1 ? value.halfWidth : undefined,
    difference_plus_minus: times > 1 ? difference.halfWidth : undefined,
  });
}
