import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import type { SuspendDelay } from "../../gap-curve/delay.ts";
import { type DayRange, dayRange } from "../../held-out/held-out-summary.ts";
import { OutcomeMargins } from "../../held-out/outcome-margins.ts";
import { type QuestionSummary, questionSummary } from "../../input/question-summary.ts";
import type { ReportLimits } from "../../page/page-layout.ts";
import { emptyOutcomeByDay, mergeOutcome, type ReplayOutcome } from "../../replay/replay-outcome.ts";
import { type CoveredTraffic, type TrafficSummary, trafficSummary } from "../../trace/traffic-summary.ts";
import type { TrafficChangeSummary } from "../../units/traffic-change.ts";
import {
  type DeliveredFigures,
  type DeliveredMargins,
  deliveredFigures,
  deliveredMargins,
  type Gain,
  gainOf,
  promisedInSum,
} from "./backtest-figures.ts";
import { backtestLimits } from "./backtest-limits.ts";
import type { BacktestInput, FoldOutcome } from "./backtest-plan.ts";
import type { BacktestPolicy } from "./backtest-policies.ts";
import { type Drift, driftOf } from "./drift.ts";
import type { FoldLength } from "./folds.ts";
import type { FoldTraining } from "./training.ts";

export type Backtest = {
  readonly question: QuestionSummary;
  readonly traffic: TrafficSummary;
  readonly fold: FoldLength;
  /** Why there are no intervals; null if there are. */
  readonly no_margins: string | null;
  /** Policies over all folds, the current setting first. */
  readonly policies: readonly BacktestedPolicy[];
  readonly folds: readonly BacktestedFold[];
  /** Achievable policy with the lowest weighted cost over all folds. */
  readonly best: string;
  /** As `best`, restricted to policies that the platform offers. */
  readonly best_settable: string;
  readonly drift: Drift;
  /** How the number of requests changes within the traffic; null if it stays as it is. */
  readonly traffic_change: TrafficChangeSummary | null;
  readonly limits: ReportLimits;
};

export type FoldPolicy = {
  readonly policy: string;
  /**
   * Gain on the training days over all folds, weighted by the weighted cost of the current setting in each fold. Null
   * if the policy applies nothing on training days.
   */
  readonly promised: Gain | null;
  readonly delivered: DeliveredFigures;
};

export type BacktestedPolicy = FoldPolicy & {
  /** Margins of the delivered figures; null without intervals. */
  readonly margin_95: DeliveredMargins | null;
  readonly knows: BacktestPolicy["knows"];
  readonly settable: boolean;
  /** Present if only another plan allows it. */
  readonly not_on_plan?: true;
  /** Number of folds in which its weighted cost is below that of the current setting. */
  readonly folds_better: number;
};

type BacktestedFold = {
  readonly train: DayRange;
  readonly test: DayRange;
  readonly policies: readonly FoldPolicy[];
  /** Best single delay on the training days, and best single delay in the fold. */
  readonly trained_delay_s: SuspendDelay;
  readonly best_delay_s: SuspendDelay;
  /** Weighted cost of the trained delay in the fold, above that of the best one; null if that is 0. */
  readonly excess_percent: number | null;
};

/** The results of a backtest. `outcomes`: by fold and policy. */
export function backtestOf(
  traffic: CoveredTraffic,
  input: BacktestInput,
  outcomes: readonly (readonly FoldOutcome[])[],
): Backtest {
  const { question, training } = input;
  const folds = input.folds.map(({ trainDays, testDays }, index): BacktestedFold => {
    const { delays, bestDelay, excessPercent } = training[index] as FoldTraining;
    return {
      train: dayRange(trainDays, traffic.period),
      test: dayRange(testDays, traffic.period),
      policies: foldPolicies(input, index, outcomes[index] as readonly FoldOutcome[]),
      trained_delay_s: delays.fleet,
      best_delay_s: bestDelay,
      excess_percent: excessPercent,
    };
  });
  const testDays = input.folds.flatMap((fold) => fold.testDays);
  const margins = OutcomeMargins.of(traffic.period, testDays);
  const policies = policiesInSum(traffic.period, input, folds, outcomes, margins);
  const achievable = policies.filter(
    ({ knows, not_on_plan }) => knows !== "future" && not_on_plan === undefined,
  );
  const { before, within } = foldOutcome(outcomes, outcomes.length - 1, 0);
  return {
    question: questionSummary(question),
    traffic: trafficSummary(
      traffic,
      before.firstStarts + within.firstStarts,
      before.arrivals + within.arrivals,
      before.activeMs + within.activeMs,
    ),
    fold: input.fold,
    no_margins: "missing" in margins ? margins.missing : null,
    policies,
    folds,
    best: bestOf(achievable),
    best_settable: bestOf(achievable.filter(({ settable }) => settable)),
    drift: driftOf(training),
    traffic_change: input.trafficChange,
    limits: backtestLimits(question, input.policies),
  };
}

function foldPolicies(
  { question, policies, folds }: BacktestInput,
  fold: number,
  outcomes: readonly FoldOutcome[],
): readonly FoldPolicy[] {
  const { testFrom, testTo } = folds[fold] as BacktestInput["folds"][number];
  const current = outcomes[0] as FoldOutcome;
  return policies.map(({ name, trained }, index) => {
    const { before, within } = outcomes[index] as FoldOutcome;
    return {
      policy: name,
      promised: trained === "after" ? null : gainOf(before, current.before, question.costs),
      delivered: deliveredFigures(within, current.within, testTo - testFrom, question.costs),
    };
  });
}

function policiesInSum(
  period: Period,
  { question, policies, folds: given }: BacktestInput,
  folds: readonly BacktestedFold[],
  outcomes: readonly (readonly FoldOutcome[])[],
  margins: OutcomeMargins | { readonly missing: string },
): readonly BacktestedPolicy[] {
  const { costs } = question;
  const ms = given.reduce((sum, { testFrom, testTo }) => sum + testTo - testFrom, 0);
  const lastEnd = given.at(-1)?.testTo ?? period.endAt;
  const sumOf = (index: number) => sumOfFolds({ startAt: period.startAt, endAt: lastEnd }, outcomes, index);
  const current = sumOf(0);
  return policies.map(({ name, knows, settable, isOfAnotherPlan }, index) => {
    const inFolds = folds.map((fold) => fold.policies[index] as FoldPolicy);
    const promises = inFolds.flatMap(({ promised }, fold) =>
      promised === null ? [] : [{ promised, current: foldOutcome(outcomes, fold, 0).within }],
    );
    const own = sumOf(index);
    return {
      policy: name,
      knows,
      settable,
      ...(isOfAnotherPlan === true ? { not_on_plan: true } : {}),
      margin_95: deliveredMargins(own, current, margins, costs),
      promised: promises.length === 0 ? null : promisedInSum(promises, costs),
      delivered: deliveredFigures(own, current, ms, costs),
      folds_better: inFolds.filter(({ delivered }) => (delivered.gain_percent ?? 0) > 0).length,
    };
  });
}

function foldOutcome(
  outcomes: readonly (readonly FoldOutcome[])[],
  fold: number,
  policy: number,
): FoldOutcome {
  return outcomes[fold]?.[policy] as FoldOutcome;
}

function sumOfFolds(
  period: Period,
  outcomes: readonly (readonly FoldOutcome[])[],
  policy: number,
): ReplayOutcome {
  const sum = emptyOutcomeByDay(period);
  for (const fold of outcomes) mergeOutcome(sum, (fold[policy] as FoldOutcome).within);
  return sum;
}

/** The best policy. The current setting is first, so it wins a tie. */
function bestOf(policies: readonly BacktestedPolicy[]): string {
  const gain = ({ delivered }: BacktestedPolicy) => delivered.gain_percent ?? 0;
  return policies.reduce((best, policy) => (gain(policy) > gain(best) ? policy : best)).policy;
}
