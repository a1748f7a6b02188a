import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { Command, Option } from "commander";
import { addTargetOptions, type ServerTarget } from "../client/client.ts";
import { postgresVariables } from "../client/postgres-connection.ts";
import { CliError } from "../terminal/cli-error.ts";

/** A process that a signal ended has this exit status plus the number of the signal, as in a shell. */
const EXIT_SIGNAL = 128;

type PsqlOptions = ServerTarget & { pooled?: boolean; role?: string; database?: string };

export function psqlCommand(): Command {
  return addConnectionOptions(addTargetOptions(new Command("psql")))
    .argument(
      "[target]",
      "id or name of a branch, or id of a compute (default: the only project's default branch)",
    )
    .argument("[args...]", "arguments of psql, after --")
    .addHelpText(
      "after",
      `
Runs psql, which must be installed, with the connection in its environment. The
connection starts an idle compute.

Exit status: that of psql.

Examples:
  $ standin psql
  $ standin psql preview --pooled
  $ standin psql main -- -c 'select 1'`,
    )
    .action(async (_target: unknown, _args: unknown, options: PsqlOptions, command: Command) => {
      const psqlArguments = argumentsAfterDashes();
      const [target, ...others] = command.args.slice(0, command.args.length - psqlArguments.length);
      if (others.length > 0)
        throw new CliError("expected one branch or compute; arguments of psql follow --", true);
      process.exitCode = await runPsql(
        psqlArguments,
        await postgresVariables(options, { ...options, target }),
      );
    });
}

/** Options that select role, database and pooler of a connection. */
export function addConnectionOptions(command: Command): Command {
  return command
    .addOption(new Option("--pooled", "connect through the connection pooler"))
    .addOption(new Option("--role <name>", "role to log in as (default: the owner of the database)"))
    .addOption(new Option("--database <name>", "database (default: the first one of the branch)"));
}

function argumentsAfterDashes(): readonly string[] {
  const index = process.argv.indexOf("--");
  return index === -1 ? [] : process.argv.slice(index + 1);
}

async function runPsql(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<number> {
  // psql itself handles Ctrl-C: it cancels the query.
  const ignore = () => undefined;
  process.on("SIGINT", ignore);
  try {
    const child = spawn("psql", args, { stdio: "inherit", env: { ...process.env, ...variables } });
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return code ?? EXIT_SIGNAL + (signal === null ? 0 : constants.signals[signal]);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(
      code === "ENOENT"
        ? "psql is not installed; install the Postgres client, for example: apt-get install postgresql-client"
        : `cannot run psql: ${message}`,
    );
  } finally {
    process.off("SIGINT", ignore);
  }
}
