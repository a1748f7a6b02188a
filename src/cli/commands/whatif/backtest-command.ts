import { type Command, Option } from "commander";
import { noTrainingReason, trafficChangeOf } from "../../../whatif/held-out/day-statistics.ts";
import type { Question } from "../../../whatif/input/question.ts";
import { BACKTEST_DEFAULTS, backtestPolicy } from "../../../whatif/questions/backtest/backtest-policies.ts";
import { FOLD_DAYS, type Fold, type FoldLength, foldsOf } from "../../../whatif/questions/backtest/folds.ts";
import { type FoldTraining, foldTraining } from "../../../whatif/questions/backtest/training.ts";
import type { LongGaps } from "../../../whatif/trace/long-gaps.ts";
import { changeSummary } from "../../../whatif/units/traffic-change.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { rethrowRangeError, runWithProgress } from "../../terminal/run-with-progress.ts";
import { resolvedQuestionFlags } from "../../whatif/manifest.ts";
import { type OpenedTraces, openTraces } from "../../whatif/open-traffic.ts";
import { coverageOf } from "../../whatif/parts/answer.ts";
import type { BacktestSetup } from "../../whatif/parts/backtest-answer.ts";
import { type DividedOptions, dividedCommand } from "../../whatif/parts/divided-command.ts";
import { POLICIES_HELP, policyOption } from "../../whatif/policy-option.ts";
import {
  addQuestionOptions,
  type QuestionOptions,
  questionFromOptions,
} from "../../whatif/question-options.ts";
import { readGaps } from "../../whatif/replay-workers.ts";
import type { TraceOptions } from "../../whatif/trace-options.ts";

type BacktestOptions = QuestionOptions &
  TraceOptions &
  DividedOptions & { readonly fold: FoldLength; readonly policy?: readonly string[] };

/** Trains policies on the past and judges them on the time after it. */
export function backtestCommand(): Command {
  return dividedCommand<BacktestOptions>({
    name: "backtest",
    description: "train policies on past days, evaluate them on the following days, and report the drift",
    addOptions: (command) =>
      addQuestionOptions(command)
        .addOption(
          new Option("--fold <length>", "time for which policies are evaluated before they are trained again")
            .choices(Object.keys(FOLD_DAYS))
            .default("week" satisfies FoldLength),
        )
        .addOption(
          policyOption(
            `policy to evaluate in addition to the current setting, the platform's default, ${BACKTEST_DEFAULTS.join(", ")}; repeatable, see below`,
            backtestPolicy,
          ),
        ),
    help: `
Policies are trained on all days before each fold. best-fixed:fleet is one delay for
all computes, best-fixed:compute one for each, and shrunk one for each that is
shrunk towards the one for all. schedule:trained is trained until the fold begins.

${POLICIES_HELP}

Examples:
  $ standin whatif backtest fleet.standin-trace --present 300
  $ standin whatif backtest fleet.csv --fold day --out report/
  $ standin whatif backtest fleet.csv --policy fixed:60 --policy best-fixed:compute --json
  $ standin whatif backtest fleet.standin-trace --shard 1/2 > part-1.json
  $ standin whatif backtest fleet.standin-trace --queue redis://localhost:6379`,
    open: openTraces,
    async setUp({ opened, options, signal }) {
      const { question, profile } = questionFromOptions(options, opened.world);
      return {
        setup: {
          ...{ command: "backtest", question, fold: options.fold, policies: options.policy ?? [] },
          platformDelay: profile.suspendTimeout.defaultS,
          ...(await trainedPolicies(opened, question, options, signal)),
          ...coverageOf(opened),
        },
        resolvedFlags: resolvedQuestionFlags(question, opened),
      };
    },
  });
}

async function trainedPolicies(
  opened: OpenedTraces,
  question: Question,
  { fold, workers }: BacktestOptions,
  signal: AbortSignal,
): Promise<Pick<BacktestSetup, "training" | "trafficChange">> {
  const { traffic } = opened;
  const folds = foldsOrError(() => foldsOf(traffic.period, fold));
  const detail = { byCompute: false, byDay: true };
  const { longGaps } = await readGaps(opened, question, detail, workers, signal);
  const missing = noTrainingReason(traffic.period, longGaps);
  if (missing !== undefined) throw new CliError(`no backtest: ${missing}`);
  const work = trainings(longGaps as LongGaps, question, folds);
  const training: readonly FoldTraining[] = await runWithProgress(work, "training", folds.length, signal);
  const change = trafficChangeOf(traffic, longGaps as LongGaps);
  return { training, trafficChange: change === undefined ? null : changeSummary(change) };
}

function* trainings(gaps: LongGaps, question: Question, folds: readonly Fold[]) {
  const training = [];
  for (const [index, fold] of folds.entries()) {
    training.push(foldTraining(gaps, question, fold));
    yield index + 1;
  }
  return training;
}

function foldsOrError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return rethrowRangeError(error);
  }
}
