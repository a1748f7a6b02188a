import { Command, Option } from "commander";
import type { Shard } from "../../../kernel/shard.ts";
import { noTrainingReason } from "../../../whatif/held-out/day-statistics.ts";
import type { Question } from "../../../whatif/input/question.ts";
import { questionSummary } from "../../../whatif/input/question-summary.ts";
import { BACKTEST_DEFAULTS, backtestPolicy } from "../../../whatif/questions/backtest/backtest-policies.ts";
import { FOLD_DAYS, type Fold, type FoldLength, foldsOf } from "../../../whatif/questions/backtest/folds.ts";
import { type FoldTraining, foldTraining } from "../../../whatif/questions/backtest/training.ts";
import type { LongGaps } from "../../../whatif/trace/long-gaps.ts";
import { meanLatencyMs } from "../../../whatif/units/mean-latency.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { rethrowRangeError, runWithProgress } from "../../terminal/run-with-progress.ts";
import { resolvedQuestionFlags } from "../../whatif/manifest.ts";
import { type OpenedTraces, openTraces } from "../../whatif/open-traffic.ts";
import { addQueueOptions, checkedQueue, type QueueOptions } from "../../whatif/parts/queued-answer.ts";
import { runAnswer } from "../../whatif/parts/run-answer.ts";
import { POLICIES_HELP, policyOption } from "../../whatif/policy-option.ts";
import {
  addOutputOptions,
  addQuestionOptions,
  coldStartOrDollarsOption,
  type OutputOptions,
  type QuestionOptions,
  questionFromOptions,
  shardOption,
  waitWorthOption,
  workersOption,
} from "../../whatif/question-options.ts";
import { readGaps } from "../../whatif/replay-workers.ts";
import { addTraceOptions, type TraceOptions } from "../../whatif/trace-options.ts";

type BacktestOptions = QuestionOptions &
  OutputOptions &
  TraceOptions &
  QueueOptions & {
    readonly fold: FoldLength;
    readonly policy?: readonly string[];
    readonly workers: number;
    readonly shard?: Shard;
  };

/** Trains policies on the past and judges them on the time after it. */
export function backtestCommand(): Command {
  const command = new Command("backtest").description(
    "train policies on past days, judge them on the next ones, and report the drift",
  );
  addTraceOptions(command);
  addQuestionOptions(command, ["coldStartWorth"])
    .addOption(coldStartOrDollarsOption())
    .addOption(waitWorthOption())
    .addOption(
      new Option("--fold <length>", "time that policies are judged on before they are trained again")
        .choices(Object.keys(FOLD_DAYS))
        .default("week" satisfies FoldLength),
    )
    .addOption(
      policyOption(
        `policy to judge besides the current setting, the platform's default, ${BACKTEST_DEFAULTS.join(", ")}; repeatable, see below`,
        backtestPolicy,
      ),
    )
    .addOption(workersOption())
    .addOption(shardOption());
  addQueueOptions(command);
  return addOutputOptions(command)
    .addHelpText(
      "after",
      `
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
    )
    .action(async (paths: string[], options: BacktestOptions, invokedCommand: Command) =>
      interruptible((signal) => runBacktest(paths, options, invokedCommand, signal)),
    );
}

async function runBacktest(
  paths: readonly string[],
  options: BacktestOptions,
  command: Command,
  signal: AbortSignal,
): Promise<void> {
  const queue = checkedQueue(options, command);
  const opened = await openTraces(paths, options, command, signal);
  try {
    const { question, profile } = await questionFromOptions(options, opened.world);
    const { traffic, inputSummary: input } = opened;
    await runAnswer(
      opened,
      {
        ...{ command: "backtest", question, fold: options.fold, policies: options.policy ?? [] },
        platformDelay: profile.suspendTimeout.defaultS,
        training: await trainedPolicies(opened, question, options, signal),
        ...{ period: traffic.period, computes: traffic.computes.length, input },
      },
      {
        command,
        resolvedFlags: {
          ...resolvedQuestionFlags(question, opened),
          // The default worth of a cold start does not apply, and both options together are an error.
          ...(options.waitWorth === undefined ? {} : { "cold-start-worth": [] }),
        },
        inputs: input.files,
        question: questionSummary(question),
      },
      { ...options, queue },
      signal,
    );
  } finally {
    opened.close();
  }
}

async function trainedPolicies(
  opened: OpenedTraces,
  question: Question,
  { fold, workers }: BacktestOptions,
  signal: AbortSignal,
): Promise<readonly FoldTraining[]> {
  const { traffic } = opened;
  const folds = foldsOrError(() => foldsOf(traffic.period, fold));
  const { currentDelay, ownDelays, deletedAt, costs } = question;
  const startMs = meanLatencyMs(question.latency);
  const readingOptions = {
    currentDelay,
    ownDelays,
    deletedAt,
    costs,
    startMs,
    byCompute: false,
    byDay: true,
  };
  const { longGaps } = await readGaps(opened, readingOptions, workers, signal);
  const missing = noTrainingReason(traffic.period, longGaps);
  if (missing !== undefined) throw new CliError(`no backtest: ${missing}`);
  return runWithProgress(trainings(longGaps as LongGaps, question, folds), "training", folds.length, signal);
}

function* trainings(gaps: LongGaps, { costs }: Question, folds: readonly Fold[]) {
  const training = [];
  for (const [index, fold] of folds.entries()) {
    training.push(foldTraining(gaps, costs, fold));
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
