import { writeFileSync } from "node:fs";
import { Command, type Option } from "commander";
import { interruptible } from "../terminal/interrupt.ts";
import { print } from "../terminal/print.ts";
import { decisionLine } from "./decision-line.ts";
import type { OpenedTraces } from "./open-traffic.ts";
import { addOutputOptions, type OutputOptions } from "./question-options.ts";
import { type ManifestInput, outputResult, type WhatifResult } from "./report-output.ts";
import { addTraceOptions } from "./trace-options.ts";

/** A question that a command answers from traces or a world. `Prepared`: what is known before they are opened. */
export type QuestionDescription<Options extends OutputOptions, Prepared> = {
  readonly name: string;
  readonly description: string;
  /** Another option for the start of the period. */
  readonly fromOption?: Option;
  /** Adds the options between those of the input and those of the output. */
  readonly addOptions: (command: Command) => void;
  /** Follows the options. */
  readonly help: string;
  /** Rejects options that contradict each other. */
  readonly prepare: (options: Options, command: Command) => Prepared | Promise<Prepared>;
  readonly open: (
    paths: readonly string[],
    options: Options,
    command: Command,
    signal: AbortSignal,
  ) => Promise<OpenedTraces>;
  readonly answer: (run: QuestionRun<Options, Prepared>) => Promise<Answered>;
};

export type QuestionRun<Options, Prepared> = {
  readonly opened: OpenedTraces;
  readonly options: Options;
  readonly command: Command;
  readonly prepared: Prepared;
  readonly signal: AbortSignal;
};

/** A report, or a text that is printed, or written to a new file, as it is. */
export type Answered =
  | (WhatifResult & Omit<ManifestInput, "command">)
  | { readonly text: string; readonly file?: string | undefined };

export function questionCommand<Options extends OutputOptions, Prepared>(
  question: QuestionDescription<Options, Prepared>,
): Command {
  const command = new Command(question.name).description(question.description);
  addTraceOptions(command, question.fromOption);
  question.addOptions(command);
  return addOutputOptions(command)
    .addHelpText("after", question.help)
    .action((paths: string[], options: Options) =>
      interruptible((signal) => answerQuestion(question, paths, options, command, signal)),
    );
}

async function answerQuestion<Options extends OutputOptions, Prepared>(
  { prepare, open, answer }: QuestionDescription<Options, Prepared>,
  paths: readonly string[],
  options: Options,
  command: Command,
  signal: AbortSignal,
): Promise<void> {
  const prepared = await prepare(options, command);
  const opened = await open(paths, options, command, signal);
  try {
    const answered = await answer({ opened, options, command, prepared, signal });
    if ("text" in answered) {
      if (answered.file === undefined) print(answered.text);
      else writeFileSync(answered.file, answered.text, { flag: "wx" });
      return;
    }
    const { resolvedFlags, question, ...result } = answered;
    // Gaps from a database or a file are no input of it.
    const lastLine =
      opened.traffic.gapRows === undefined ? decisionLine(process.argv.slice(2), command) : undefined;
    const manifest = { command, resolvedFlags, question };
    await outputResult(result, opened.inputSummary, manifest, { ...options, lastLine });
  } finally {
    opened.close();
  }
}
