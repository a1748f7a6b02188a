import { Command } from "commander";
import { plural } from "../../whatif/report/number-format.ts";
import { CliError } from "../terminal/cli-error.ts";
import { addDataPathOptions, dataPathOf, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type VerifyOptions = { world: string; json?: boolean };

export function verifyCommand(): Command {
  return addDataPathOptions(new Command("verify"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Replays the journal into an empty world, compares the result with the stored
tables row by row, and checks the invariants. Only reads the data directory; a
server may be running on it.

Exit status: 0 no differences, 1 differences or the world cannot be read, 2 usage
error.

Examples:
  $ standin verify
  $ standin verify .standin --world pull-request-7 --json
  $ standin verify .standin/snapshots/default/before.sqlite`,
    )
    .action(async (pathArgument: string | undefined, { world, json }: VerifyOptions, command: Command) => {
      const { verifyWorld } = await import("../history/world-history.ts");
      const verification = await verifyWorld(dataPathOf(pathArgument, command), world);
      const { ok, from, to, rows, checkpoints, invariants, differences } = verification;
      if (json === true) print(`${JSON.stringify(verification)}\n`);
      else {
        for (const { where, message } of differences) print(`${where}: ${message}\n`);
        const begins = from === 0 ? "the beginning" : `the checkpoint at event ${from}`;
        print(
          `replayed ${to - from} events from ${begins}; checked ${rows} rows, ${checkpoints} checkpoints, ${invariants} invariants\n`,
        );
      }
      if (!ok)
        throw new CliError(
          `${plural(differences.length, "difference")}: the stored world does not match its journal`,
        );
    });
}
