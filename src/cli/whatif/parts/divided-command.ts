import type { Command } from "commander";
import type { Shard } from "../../../kernel/shard.ts";
import type { QueuePlace } from "../../../ports/queue.ts";
import { questionSummary } from "../../../whatif/input/question-summary.ts";
import { needsFleetGaps } from "../../../whatif/input/replay-jobs.ts";
import { plainOutcome, type ReplayOutcome } from "../../../whatif/replay/replay-outcome.ts";
import { trafficWithin } from "../../../whatif/trace/traffic.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { newFilePathInExistingDirectory } from "../../terminal/new-file.ts";
import { decisionLine } from "../decision-line.ts";
import type { ResolvedFlags } from "../manifest.ts";
import type { OpenedTraces } from "../open-traffic.ts";
import {
  type Answered,
  type QuestionDescription,
  type QuestionRun,
  questionCommand,
} from "../question-command.ts";
import { type OutputOptions, shardOption, workersOption } from "../question-options.ts";
import { replayAll } from "../replay-workers.ts";
import { manifestOf } from "../report-output.ts";
import { answerOf } from "./merge-parts.ts";
import { type AnswerPart, partText } from "./part-file.ts";
import { addQueueOptions, answerByQueue, checkedQueue, type QueueOptions } from "./queued-answer.ts";

/** Options of such a command that its description does not add. */
export type DividedOptions = OutputOptions &
  QueueOptions & { readonly workers: number; readonly shard?: Shard };
type DividedRun<Options> = QuestionRun<Options, QueuePlace | undefined>;

/** The replay, and the flags that differ in the command that repeats it. */
type ReplaySetup = { readonly setup: AnswerPart["setup"]; readonly resolvedFlags: ResolvedFlags };

/** A question whose computes can be divided between threads, commands (`--shard`) and the workers of a queue. */
type DividedQuestion<Options extends DividedOptions> = Omit<
  QuestionDescription<Options, QueuePlace | undefined>,
  "prepare" | "answer"
> & { readonly setUp: (run: DividedRun<Options>) => Promise<ReplaySetup> };

export function dividedCommand<Options extends DividedOptions>({
  addOptions,
  setUp,
  ...question
}: DividedQuestion<Options>): Command {
  return questionCommand<Options, QueuePlace | undefined>({
    ...question,
    addOptions(command) {
      addOptions(command);
      addQueueOptions(command.addOption(workersOption()).addOption(shardOption()));
    },
    prepare: checkedQueue,
    answer: async (run) => answerInParts(run, await setUp(run)),
  });
}

/** Replays the traffic here or on the workers of a queue, for a report; of a shard, for the part. */
async function answerInParts(
  { opened, options, command, prepared: queue, signal }: DividedRun<DividedOptions>,
  { setup, resolvedFlags }: ReplaySetup,
): Promise<Answered> {
  const ofQuestion = { resolvedFlags, question: questionSummary(setup.question) };
  const manifest = { command, ...ofQuestion };
  if (queue !== undefined) {
    const result = await answerByQueue(queue, options.parts, opened, setup, manifest, signal);
    return { ...result, ...ofQuestion };
  }
  const shard = shardOf(opened, options.shard);
  const file =
    shard === undefined || options.out === undefined
      ? undefined
      : newFilePathInExistingDirectory(options.out);
  const answer = answerOf(setup);
  if (opened.shard !== undefined && answer.passes.some(({ jobs }) => needsFleetGaps(jobs)))
    throw new CliError(
      "the trace contains only a part of the computes, and best-fixed:fleet needs all of them; give a whole trace with --shard, or omit the policy",
      true,
    );
  const outcomes: ReplayOutcome[][] = [];
  for (const { period, jobs } of answer.passes) {
    const traffic = trafficWithin(opened.traffic, period);
    outcomes.push(
      await replayAll({ ...opened, traffic }, jobs, setup.question, options.workers, signal, shard),
    );
  }
  if (shard === undefined) return { ...answer.result(outcomes), ...ofQuestion };
  const text = partText({
    ...{ shard, setup, isTraceDivided: opened.shard !== undefined },
    manifest: manifestOf(manifest, opened.inputSummary),
    lastLine: decisionLine(process.argv.slice(2), command),
    outcomes: outcomes.map((ofPass) => ofPass.map(plainOutcome)),
  });
  return { text, file };
}

/** The requested shard. A trace that was divided by its import has one of its own. */
function shardOf({ shard: own }: OpenedTraces, requested: Shard | undefined): Shard | undefined {
  if (
    own !== undefined &&
    requested !== undefined &&
    (own.index !== requested.index || own.of !== requested.of)
  )
    throw new CliError(
      `--shard ${requested.index}/${requested.of}: the trace contains only the computes of ${own.index}/${own.of}`,
      true,
    );
  return requested ?? own;
}
