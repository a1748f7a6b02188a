import type { Command, Option } from "commander";
import { jsonOption } from "../terminal/options.ts";
import { addTargetOptions } from "./client.ts";

/** A subcommand that works on a world, such as `standin worlds list`. */
export type TargetCommand = {
  /** The name and its arguments: `create <name>`. */
  readonly usage: string;
  readonly description: string;
  /** Its own options, between those of the target and `--json`. */
  readonly options?: readonly Option[];
  /** Paragraphs of the help before the examples. */
  readonly notes?: string;
  /** Commands as they are typed. */
  readonly examples: readonly string[];
  /** Whether the parent without a subcommand runs this one. */
  readonly isDefault?: boolean;
};

/** Adds a subcommand with the options that select its server and its world, and `--json`. */
export function addTargetCommand(
  parent: Command,
  { usage, description, options = [], notes, examples, isDefault = false }: TargetCommand,
): Command {
  const command = addTargetOptions(parent.command(usage, { isDefault }).description(description));
  for (const option of options) command.addOption(option);
  return command
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `${notes === undefined ? "" : `\n${notes}\n`}\nExamples:\n${examples.map((example) => `  $ ${example}`).join("\n")}`,
    );
}
