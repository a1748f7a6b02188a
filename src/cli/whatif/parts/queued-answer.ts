import { type Command, Option } from "commander";
import { MAX_SHARDS } from "../../../kernel/shard.ts";
import type { PartResult, QueuedPart, QueuePlace } from "../../../ports/queue.ts";
import { queueHost } from "../../queue/queue-host.ts";
import {
  addQueueKeyOptions,
  type QueueKeyOptions,
  queueOption,
  queuePlaceFrom,
} from "../../queue/queue-options.ts";
import { loadSatellite } from "../../satellites.ts";
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
  const args = repeatArgs(process.argv.slice(2), manifest.command, manifest.resolvedFlags);
  const directory = process.cwd();
  const jobs = Array.from({ length: of }, (_, index): QueuedPart => {
    const shard = `${index + 1}/${of}`;
    const title = `whatif ${setup.command} ${shard}`;
    return { title, args: [...args, "--shard", shard], directory, input: setup.input.files };
  });
  const { openParts } = await loadSatellite("queue", "--queue");
  const { results, close } = await openParts(queueHost(), place, jobs, signal);
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
