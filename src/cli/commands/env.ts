import { Command, Option } from "commander";
import { addTargetOptions, requireServer, type ServerTarget } from "../client/client.ts";
import { postgresVariables } from "../client/postgres-connection.ts";
import { shellKey } from "../client/shell-key.ts";
import { shellQuoted } from "../shell/quote.ts";
import { CliError } from "../terminal/cli-error.ts";
import { envOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
import { addConnectionOptions } from "./psql.ts";

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

const FAILED_DATABASE_URL = "export DATABASE_URL='postgresql://standin-is-not-running.invalid/'";

type EnvOptions = ServerTarget & {
  apiKey?: string;
  json?: boolean;
  branch?: string;
  pooled?: boolean;
  role?: string;
  database?: string;
};

export function envCommand(): Command {
  return addConnectionOptions(addTargetOptions(new Command("env")))
    .addOption(
      new Option(
        "--branch <branch>",
        "also export DATABASE_URL, PG* and NEON_* for Postgres clients of this branch, by id or name, or of a compute, by id",
      ),
    )
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
If no server is running, the output makes the shell command fail, and points the
clients at a host that does not exist.

Examples:
  $ eval "$(standin env)" && neonctl projects list
  $ eval "$(standin env --branch main)" && psql
  $ standin env --json`,
    )
    .action(async (options: EnvOptions) => {
      const { branch } = options;
      for (const name of ["pooled", "role", "database"] as const)
        if (options[name] !== undefined && branch === undefined)
          throw new CliError(`--${name} requires --branch`, true);
      try {
        const server = await requireServer(options);
        const key = options.apiKey ?? (await shellKey(server, options));
        const variables = {
          NEON_API_HOST: server.apiUrl,
          NEON_API_KEY: key,
          ...(branch === undefined
            ? {}
            : {
                ...(await postgresVariables(options, { ...options, target: branch })),
                ...serverlessVariables(server.apiUrl),
              }),
        };
        if (options.json === true) return void print(`${JSON.stringify(variables)}\n`);
        // Names of roles and databases may contain quotes.
        printLines(Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuoted(value)}`));
      } catch (error) {
        if (options.json !== true)
          printLines(branch === undefined ? FAILED_EXPORTS : [FAILED_DATABASE_URL, ...FAILED_EXPORTS]);
        throw error;
      }
    });
}

/** Values for `neonConfig` of the serverless driver. */
function serverlessVariables(apiUrl: string): Record<string, string> {
  const base = apiUrl.replace(/\/api\/v2$/, "");
  return { NEON_FETCH_ENDPOINT: `${base}/sql`, NEON_WS_PROXY: `${base.replace(/^https?:\/\//, "")}/v2` };
}

function printLines(lines: readonly string[]): void {
  print(`${lines.join("\n")}\n`);
}
