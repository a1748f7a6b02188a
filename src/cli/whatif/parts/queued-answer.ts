import { type Command, Option } from "commander";
import { MAX_SHARDS, type Shard } from "../../../kernel/shard.ts";
import { digestOf } from "../../queue/packed-job.ts";
import type { PartResult } from "../../queue/part-result.ts";
import { openQueue } from "../../queue/queue-pool.ts";
import { showQueueProgress } from "../../queue/queue-progress.ts";
import { queueOption } from "../../queue/redis-link.ts";
import {
  addQueueKeyOptions,
  type QueueKeyOptions,
  type QueuePlace,
  queuePlaceFrom,
} from "../../queue/signing-key.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { integerParser } from "../../terminal/option-parsers.ts";
import { repeatArgs } from "../manifest.ts";
import type { OpenedTraces } from "../open-traffic.ts";
import type { ManifestInput, WhatifResult } from "../report-output.ts";
import { mergeParts, type NamedPart } from "./merge-parts.ts";
import { type AnswerPart, parsePart } from "./part-file.ts";

const DEFAULT_PARTS = 8;
const STANDARD_INPUT = "-";

export type QueueOptions = QueueKeyOptions & { readonly queue?: string; readonly parts: number };

export function addQueueOptions(command: Command): Command {
  return addQueueKeyOptions(
    command.addOption(
      queueOption("answer on the workers of this Redis server; see standin worker").conflicts("shard"),
    ),
  ).addOption(
    new Option("--parts <n>", "with --queue: number of parts that the computes are divided into")
      .argParser(integerParser(1, MAX_SHARDS))
      .default(DEFAULT_PARTS),
  );
}

/** Throws a `CliError` without a key, for options that have no effect, and for input that workers cannot read. */
export function checkedQueue(options: QueueOptions, command: Command): QueuePlace | undefined {
  const { queue } = options;
  if (queue === undefined && command.getOptionValueSource("parts") === "cli")
    throw new CliError("--parts requires --queue", true);
  if (queue === undefined) return queuePlaceFrom(options, command);
  if (command.name() === "compare" && command.getOptionValueSource("workers") === "cli")
    throw new CliError(
      "--workers has no effect with --queue: start more workers, or raise --concurrency of standin worker",
      true,
    );
  if (command.args.length === 0)
    throw new CliError(
      "--queue: workers read trace files; give trace files instead of a world, such as its journal",
      true,
    );
  if (command.args.includes(STANDARD_INPUT))
    throw new CliError("--queue: workers cannot read the standard input; give a file", true);
  return queuePlaceFrom(options, command);
}

type PartJob = { readonly title: string; readonly shard: Shard };

/**
 * Divides the computes into parts, which workers answer for, and merges the parts. The workers read the same
 * files, by the same names.
 */
export async function answerByQueue(
  place: QueuePlace,
  parts: number,
  opened: OpenedTraces,
  setup: AnswerPart["setup"],
  manifest: ManifestInput,
  signal: AbortSignal,
): Promise<WhatifResult> {
  checkTraces(opened);
  const of = Math.max(1, Math.min(parts, setup.computes));
  const jobs = Array.from({ length: of }, (_, index): PartJob => {
    const shard = { index: index + 1, of };
    return { title: `whatif ${setup.command} ${shard.index}/${of}`, shard };
  });
  const args = repeatArgs(process.argv.slice(2), manifest.command, manifest.resolvedFlags);
  const directory = process.cwd();
  const { results, close } = await openQueue<PartJob, PartResult>(
    place,
    {
      jobs,
      files: new Map(),
      pack({ title, shard }, code, run) {
        const ofPart = [...args, "--shard", `${shard.index}/${shard.of}`];
        const id = digestOf(JSON.stringify([code, ofPart, directory, setup.input.files]));
        // The files of a worker may differ, so a result counts for this command only, which compares them.
        return { id, run, isReusable: false, title, args: ofPart, directory };
      },
      runHere: async ({ title }) => {
        throw new Error(`${title} is not for this machine`);
      },
    },
    showQueueProgress(),
    signal,
  );
  try {
    const answered: NamedPart[] = [];
    for (const [{ title }, result] of results) answered.push(partOf(title, await result, setup, directory));
    return mergeParts(answered).result;
  } finally {
    await close();
  }
}

function checkTraces({ shard }: OpenedTraces): void {
  if (shard !== undefined)
    throw new CliError(
      `--queue: the trace contains only the computes of ${shard.index}/${shard.of}; give a whole trace`,
      true,
    );
}

function partOf(title: string, result: PartResult, setup: AnswerPart["setup"], directory: string): NamedPart {
  if (result.verdict === "could_not_run")
    throw new CliError(`--queue: a worker could not answer ${title}: ${result.reason}`);
  const part = parsePart(result.text, title);
  if (JSON.stringify(part.setup) !== JSON.stringify(setup))
    throw new CliError(
      `--queue: the worker of ${title} has other files than this machine in ${directory}; give all workers the same files there`,
    );
  return { ...part, source: title };
}
