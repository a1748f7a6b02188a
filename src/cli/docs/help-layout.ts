import type { Command } from "commander";
import { COMMAND_PAGES, pageOfCommand } from "./command-pages.ts";

/** Groups the commands in the help of `standin`, and ends each help with the page of the documentation. */
export function layOutHelp(program: Command): void {
  for (const [group, commands] of Object.entries(COMMAND_PAGES))
    for (const command of program.commands)
      if (Object.hasOwn(commands, command.name())) command.helpGroup(group);
  program.addHelpText(
    "after",
    "\nExamples:\n  $ standin serve\n  $ standin run scenarios/*.yaml\n\nDocs: docs/index.md (standin docs)",
  );
  for (const command of program.commands) endWithPage(command, command.name());
}

function endWithPage(command: Command, name: string): void {
  command.addHelpText("after", `\nDocs: docs/${pageOfCommand(name)} (standin docs ${name})`);
  for (const child of command.commands) endWithPage(child, `${name} ${child.name()}`);
}
