import type { SuspendDelay } from "../../../whatif/gap-curve/delay.ts";
import { backtestOf } from "../../../whatif/questions/backtest/backtest.ts";
import { backtestPage } from "../../../whatif/questions/backtest/backtest-page.ts";
import { BacktestPlan } from "../../../whatif/questions/backtest/backtest-plan.ts";
import { backtestPolicies } from "../../../whatif/questions/backtest/backtest-policies.ts";
import { type FoldLength, foldsOf } from "../../../whatif/questions/backtest/folds.ts";
import type { FoldTraining } from "../../../whatif/questions/backtest/training.ts";
import type { TrafficChangeSummary } from "../../../whatif/units/traffic-change.ts";
import { type Answer, type AnswerSetup, coveredBy } from "./answer.ts";

export type BacktestSetup = AnswerSetup & {
  readonly command: "backtest";
  readonly fold: FoldLength;
  readonly platformDelay: SuspendDelay;
  /** Policies in addition to the default ones. */
  readonly policies: readonly string[];
  readonly trafficChange: TrafficChangeSummary | null;
  /** One for each fold. */
  readonly training: readonly FoldTraining[];
};

export function backtestAnswer(setup: BacktestSetup): Answer {
  const { question, period, fold, platformDelay, training, trafficChange } = setup;
  const policies = backtestPolicies(question, platformDelay, setup.policies);
  const folds = foldsOf(period, fold);
  const input = { question, fold, folds, training, trafficChange, policies };
  const plan = new BacktestPlan(period, input);
  return {
    passes: plan.passes,
    result(outcomes) {
      const backtest = backtestOf(coveredBy(setup), input, plan.foldOutcomes(outcomes));
      return {
        summary: backtest,
        page: backtestPage(backtest),
        charts: async () =>
          (await import("../../../whatif/questions/backtest/backtest-charts.ts")).backtestCharts(backtest),
      };
    },
  };
}
