import { Argument, Command } from "commander";
import { print } from "../terminal/print.ts";
import { type CompletedCommand, completionScript, SHELLS, type Shell } from "./completion-script.ts";

/** `loadProgram` loads every command, so that the script has all of their options. */
export function completionCommand(loadProgram: () => Promise<Command>): Command {
  return new Command("completion")
    .addArgument(new Argument("<shell>", "shell to complete commands in").choices(SHELLS))
    .addHelpText(
      "after",
      `
Prints a script that completes commands, options and their values.

Examples:
  $ source <(standin completion bash)
  $ standin completion zsh > ~/.zfunc/_standin
  $ standin completion fish > ~/.config/fish/completions/standin.fish`,
    )
    .action(async (shell: Shell) => {
      print(completionScript(shell, completedCommands(await loadProgram(), [])));
    });
}

/** The command and all below it, by their path: `["clock", "set"]`. */
function completedCommands(command: Command, path: readonly string[]): CompletedCommand[] {
  const { visibleCommands, visibleOptions } = {
    visibleCommands: command.createHelp().visibleCommands(command),
    visibleOptions: command.createHelp().visibleOptions(command),
  };
  const own: CompletedCommand = {
    path,
    description: command.description(),
    commands: visibleCommands.map((child) => child.name()).filter((name) => name !== "help"),
    choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    options: visibleOptions.flatMap(({ long, description, argChoices = [], required, optional }) =>
      long == null ? [] : [{ name: long, description, choices: argChoices, hasValue: required || optional }],
    ),
  };
  return [own, ...command.commands.flatMap((child) => completedCommands(child, [...path, child.name()]))];
}
