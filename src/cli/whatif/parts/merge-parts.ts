import { MergeError, shardsInOrder } from "../../../scenario/report/merge-reports.ts";
import { mergeReplays } from "../../../whatif/input/replay-jobs.ts";
import { outcomeFrom, type ReplayOutcome } from "../../../whatif/replay/replay-outcome.ts";
import { CliError } from "../../terminal/cli-error.ts";
import type { InputSummary } from "../open-traffic.ts";
import type { Manifest, WhatifResult } from "../report-output.ts";
import type { Answer } from "./answer.ts";
import { backtestAnswer } from "./backtest-answer.ts";
import { compareAnswer } from "./compare-answer.ts";
import type { AnswerPart } from "./part-file.ts";

export type NamedPart = AnswerPart & { readonly source: string };

/** The report of all parts, which is the same for any order. Throws a `CliError` unless each part is there once. */
export function mergeParts(parts: readonly NamedPart[]): {
  readonly result: WhatifResult;
  readonly input: InputSummary;
  readonly manifest: Manifest;
  /** Undefined if each part names only its own trace. */
  readonly lastLine: string | undefined;
} {
  const ordered = inOrder(parts);
  const first = ordered[0] as NamedPart;
  for (const part of ordered)
    if (comparableText(part) !== comparableText(first))
      throw new CliError(
        `${part.source}: answers another question than ${first.source}, or that of another trace; use the same traces and options for all parts`,
      );
  const input = first.isTraceDivided ? joinedInput(ordered) : first.setup.input;
  const answer = answerOf(first.setup);
  return {
    result: answer.result(mergedOutcomes(ordered, answer)),
    input,
    manifest: { ...first.manifest, inputs: input.files },
    lastLine: first.isTraceDivided ? undefined : first.lastLine,
  };
}

function inOrder(parts: readonly NamedPart[]): readonly NamedPart[] {
  try {
    return shardsInOrder(parts);
  } catch (error) {
    if (error instanceof MergeError) throw new CliError(error.message);
    throw error;
  }
}

export function answerOf(setup: AnswerPart["setup"]): Answer {
  return setup.command === "compare" ? compareAnswer(setup) : backtestAnswer(setup);
}

function mergedOutcomes(
  parts: readonly Pick<AnswerPart, "outcomes">[],
  { passes }: Answer,
): readonly (readonly ReplayOutcome[])[] {
  return passes.map(({ jobs, period }, pass) =>
    mergeReplays(
      parts.map(({ outcomes }) => (outcomes[pass] ?? []).map(outcomeFrom)),
      jobs,
      period,
    ),
  );
}

/** The setup; without the file if each part has another one. */
function comparableText({ setup, isTraceDivided }: AnswerPart): string {
  return JSON.stringify([isTraceDivided, isTraceDivided ? { ...setup, input: undefined } : setup]);
}

function joinedInput(parts: readonly NamedPart[]): InputSummary {
  const inputs = parts.map(({ setup }) => setup.input);
  return {
    files: inputs.flatMap(({ files }) => files),
    notes: [...new Set(inputs.flatMap(({ notes }) => notes))],
    bad: inputs.flatMap(({ bad }) => bad),
  };
}
