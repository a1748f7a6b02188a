import { resolve } from "node:path";
import { Command } from "commander";
import { plural } from "../../whatif/units/number-format.ts";
import { volumesFolder } from "../../worlds/directory-layout.ts";
import { CliError } from "../terminal/cli-error.ts";
import { addDataPathOptions, dataPathOf, envOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type VerifyOptions = { world: string; volumes?: string; json?: boolean };

export function verifyCommand(): Command {
  return addDataPathOptions(new Command("verify"))
    .addOption(envOption("--volumes <dir>", "directory of the branches' data (default: <data>/volumes)"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Replays the journal into an empty world, compares the result with the stored
tables row by row, and checks the invariants. Also checks that the data of all
branches exists and matches its checksums, except data that is in use; of a file
only with --volumes. Only reads the data directory; a
server may be running on it.

Exit status: 0 no differences, 1 differences or the world cannot be read, 2 usage
error.

Examples:
  $ standin verify
  $ standin verify .standin --world pull-request-7 --json
  $ standin verify .standin/snapshots/default/before.sqlite`,
    )
    .action(
      async (pathArgument: string | undefined, { world, volumes, json }: VerifyOptions, command: Command) => {
        const { verifyWorld } = await import("../history/world-history.ts");
        const { verifyData } = await import("../history/verify-data.ts");
        const { worldDatabasePath } = await import("../history/world-database.ts");
        const path = dataPathOf(pathArgument, command);
        const history = await verifyWorld(path, world);
        const file = worldDatabasePath(path, world);
        const directory = volumes ?? (file === resolve(path) ? undefined : volumesFolder(path));
        const data = directory === undefined ? undefined : await verifyData(file, directory);
        const verification = {
          ...history,
          ok: history.ok && (data?.differences.length ?? 0) === 0,
          differences: [...history.differences, ...(data?.differences ?? [])],
          ...(data === undefined ? {} : { data: { ...data, differences: undefined } }),
        };
        const { ok, from, to, rows, checkpoints, invariants, differences } = verification;
        if (json === true) print(`${JSON.stringify(verification)}\n`);
        else {
          for (const { where, message } of differences) print(`${where}: ${message}\n`);
          const begins = from === 0 ? "the beginning" : `the checkpoint at event ${from}`;
          print(
            `replayed ${to - from} events from ${begins}; checked ${rows} rows, ${checkpoints} checkpoints, ${invariants} invariants\n`,
          );
          if (data !== undefined && data.references > 0)
            print(
              `checked the data of ${plural(data.references, "reference")}: ${data.pages} pages in ${plural(data.clusters, "cluster")}\n`,
            );
        }
        if (!ok)
          throw new CliError(
            `${plural(differences.length, "difference")}: ${history.ok ? "the data of the branches is not complete" : "the stored world does not match its journal"}`,
          );
      },
    );
}
