import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { Command, type Option } from "commander";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { print } from "../terminal/print.ts";
import { isAccountFile } from "./account-input.ts";
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
  /** Answers from a file of `standin account pull`, which has no requests. */
  readonly answerAccount?: (path: string, options: Options, command: Command) => Promise<AccountAnswer>;
};

/** What an answer from an account is based on is in its summary. */
export type AccountAnswer = WhatifResult & Omit<ManifestInput, "command">;

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
  { prepare, open, answer, answerAccount }: QuestionDescription<Options, Prepared>,
  paths: readonly string[],
  options: Options,
  command: Command,
  signal: AbortSignal,
): Promise<void> {
  const account = paths.find(isAccountFile);
  if (account !== undefined) {
    if (answerAccount === undefined)
      throw new CliError(
        `${account}: ${command.name()} needs requests, and the file of an account has only starts and suspends; use: standin whatif curve`,
        true,
      );
    if (paths.length > 1)
      throw new CliError(`${account}: the file of an account cannot be combined with other files`, true);
    const { resolvedFlags, question, ...result } = await answerAccount(account, options, command);
    const input = { files: [{ account: basename(account) }], notes: [], bad: [] };
    return outputResult(result, input, { command, resolvedFlags, question }, options);
  }
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
    // Gaps from a database or a file are not part of its input.
    const lastLine =
      opened.traffic.gapRows === undefined ? decisionLine(process.argv.slice(2), command) : undefined;
    const manifest = { command, resolvedFlags, question };
    await outputResult(result, opened.inputSummary, manifest, { ...options, lastLine });
  } finally {
    opened.close();
  }
}
