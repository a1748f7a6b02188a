import { Command } from "commander";
import { clockCommand } from "./clock.ts";
import { envCommand } from "./env.ts";
import { keysCommand } from "./keys.ts";
import { serveCommand } from "./serve.ts";
import { statusCommand } from "./status.ts";
import { VERSION } from "./version.ts";
import { waitCommand } from "./wait.ts";

export function createProgram(): Command {
  const program = new Command("standin")
    .description("a persistent, deterministic stand-in for a hosted Postgres platform's management API")
    .version(VERSION)
    .showHelpAfterError("(see --help)");
  for (const command of [serveCommand(), statusCommand(), clockCommand(), keysCommand(), envCommand(), waitCommand()])
    program.addCommand(command);
  throwInsteadOfExit(program);
  return program;
}

/** So that `main` alone decides how the process ends. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) throwInsteadOfExit(child);
}
