import { Command } from "commander";
import { addTargetOptions, requireServer, type ServerTarget } from "../client/client.ts";
import { shellKey } from "../client/shell-key.ts";
import { envOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

/**
 * Evaluated instead of the variables if the command fails, because a shell ignores the exit status within
 * `eval "$(…)"`. `false` stops `set -e` and `&&`. The host name does not exist (RFC 6761), so a client that runs
 * nevertheless reaches no server, in particular not the real platform.
 */
const FAILED_EXPORTS = [
  "export NEON_API_HOST='http://standin-is-not-running.invalid/api/v2'",
  "export NEON_API_KEY='standin-is-not-running'",
  "false",
];

export function envCommand(): Command {
  return addTargetOptions(new Command("env"))
    .addOption(
      envOption("--api-key <key>", "API key to export (default: a key of this data directory and world)"),
    )
    .addOption(jsonOption())
    .configureOutput({
      outputError(text, write) {
        printLines(FAILED_EXPORTS);
        write(text);
      },
    })
    .addHelpText(
      "after",
      `
If no server runs, the output makes the shell command fail, and points the
clients at a host that does not exist.

Examples:
  $ eval "$(standin env)" && neonctl projects list
  $ standin env --json`,
    )
    .action(async (options: ServerTarget & { apiKey?: string; json?: boolean }) => {
      try {
        const server = await requireServer(options);
        const key = options.apiKey ?? (await shellKey(server, options));
        const variables = { NEON_API_HOST: server.apiUrl, NEON_API_KEY: key };
        if (options.json === true) return void print(`${JSON.stringify(variables)}\n`);
        printLines(Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`));
      } catch (error) {
        if (options.json !== true) printLines(FAILED_EXPORTS);
        throw error;
      }
    });
}

function printLines(lines: readonly string[]): void {
  print(`${lines.join("\n")}\n`);
}
