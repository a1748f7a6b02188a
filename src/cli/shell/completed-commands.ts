import type { Command } from "commander";
import type { CompletedCommand } from "./completion-script.ts";

/** The command and all below it, by their path: `["clock", "set"]`. */
export function completedCommands(command: Command, path: readonly string[]): CompletedCommand[] {
  const help = command.createHelp();
  const own: CompletedCommand = {
    path,
    description: command.description(),
    commands: help
      .visibleCommands(command)
      .map((child) => child.name())
      .filter((name) => name !== "help"),
    choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    options: help
      .visibleOptions(command)
      .flatMap(({ long, description, argChoices = [], required, optional }) =>
        long == null
          ? []
          : [{ name: long, description, choices: argChoices, hasValue: required || optional }],
      ),
  };
  return [own, ...command.commands.flatMap((child) => completedCommands(child, [...path, child.name()]))];
}
