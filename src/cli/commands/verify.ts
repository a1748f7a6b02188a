import { Command } from "commander";
import { CliError } from "../terminal/cli-error.ts";
import { addDataPathOptions, dataPathOf, jsonOption } from "../terminal/option-parsers.ts";

type VerifyOptions = { world: string; json?: boolean };

/** Whether a world's tables are what its journal tells. */
export function verifyCommand(): Command {
  return addDataPathOptions(new Command("verify"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Exit code 0 only where all agree. It only looks: a server may have the directory open.

Examples:
  $ standin verify
  $ standin verify .standin --world pull-request-7 --json
  $ standin verify .standin/snapshots/default/before.sqlite`,
    )
    .action(async (pathArgument: string | undefined, { world, json }: VerifyOptions, command: Command) => {
      const { verifyWorld } = await import("../history/world-history.ts");
      const verification = await verifyWorld(dataPathOf(pathArgument, command), world);
      const { ok, from, to, rows, checkpoints, invariants, differences } = verification;
      if (json === true) process.stdout.write(`${JSON.stringify(verification)}\n`);
      else {
        for (const { where, message } of differences) process.stdout.write(`${where}: ${message}\n`);
        const begins = from === 0 ? "the empty world" : `event ${from}, before which history is forgotten`;
        process.stdout.write(
          `folded ${to - from} events from ${begins}; compared ${rows} rows, ${checkpoints} checkpoints, ${invariants} invariants\n`,
        );
      }
      if (!ok)
        throw new CliError(
          `${differences.length === 1 ? "1 difference" : `${differences.length} differences`}: this world is not what its journal tells`,
        );
    });
}
