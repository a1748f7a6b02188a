import { writeFileSync } from "node:fs";
import type { Shard } from "../../../kernel/shard.ts";
import { needsFleetGaps } from "../../../whatif/input/replay-jobs.ts";
import { plainOutcome, type ReplayOutcome } from "../../../whatif/replay/replay-outcome.ts";
import { trafficWithin } from "../../../whatif/trace/known-traffic.ts";
import type { QueuePlace } from "../../queue/signing-key.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { newFilePathInExistingDirectory } from "../../terminal/new-file.ts";
import { print } from "../../terminal/print.ts";
import type { OpenedTraces } from "../open-traffic.ts";
import type { OutputOptions } from "../question-options.ts";
import { replayAll } from "../replay-workers.ts";
import { type ManifestInput, manifestOf, outputResult } from "../report-output.ts";
import { answerOf } from "./merge-parts.ts";
import { type AnswerPart, partText } from "./part-file.ts";
import { answerByQueue } from "./queued-answer.ts";

type RunOptions = OutputOptions & {
  readonly queue?: QueuePlace | undefined;
  readonly parts: number;
  readonly workers: number;
  readonly shard?: Shard;
};

/** Replays the traffic, and prints the report; of a shard, prints the part. */
export async function runAnswer(
  opened: OpenedTraces,
  setup: AnswerPart["setup"],
  manifest: ManifestInput,
  options: RunOptions,
  signal: AbortSignal,
): Promise<void> {
  const { queue, parts } = options;
  if (queue !== undefined) {
    await outputResult(await answerByQueue(queue, parts, opened, setup, manifest, signal), manifest, options);
    return;
  }
  const shard = shardOf(opened, options.shard);
  const target =
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
  if (shard === undefined) {
    await outputResult(answer.result(outcomes), manifest, options);
    return;
  }
  const text = partText({
    ...{ shard, setup, isTraceDivided: opened.shard !== undefined, manifest: manifestOf(manifest) },
    outcomes: outcomes.map((ofPass) => ofPass.map(plainOutcome)),
  });
  if (target === undefined) print(text);
  else writeFileSync(target, text, { flag: "wx" });
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
