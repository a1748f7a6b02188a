import { Argument, Command } from "commander";
import { completedCommands } from "../shell/completed-commands.ts";
import { completionScript, SHELLS, type Shell } from "../shell/completion-script.ts";
import { print } from "../terminal/print.ts";

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
