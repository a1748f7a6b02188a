import { statSync } from "node:fs";
import { Command, Option } from "commander";
import { plural } from "../../whatif/units/number-format.ts";
import { volumesFolder } from "../../worlds/directory-layout.ts";
import { CliError } from "../terminal/cli-error.ts";
import { addDataPathOptions, dataPathOf, envOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type ExportOptions = {
  out: string;
  world: string;
  events?: boolean;
  withData?: boolean;
  volumes?: string;
  json?: boolean;
};

export function exportCommand(): Command {
  return addDataPathOptions(new Command("export"))
    .requiredOption("--out <file>", "file to create")
    .addOption(
      new Option(
        "--events",
        "write only the journal as NDJSON, one event per line, for whatif and scenarios",
      ),
    )
    .addOption(
      new Option(
        "--with-data",
        "also copy the data of the branches, to <file>.volumes; no server may use the data directory",
      ).conflicts("events"),
    )
    .addOption(envOption("--volumes <dir>", "directory of the branches' data (default: <data>/volumes)"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Passwords, key hashes and the addresses from which keys were used are removed, so
no existing key works with the exported world. Only reads the data directory; a
server may be running on it, except with --with-data.

With --with-data, the rows of all branches are copied as they are, with the
verifiers of role passwords that Postgres stores, and with the passwords in the
connection strings of subscriptions.

Examples:
  $ standin export --out bug-4711.sqlite
  $ standin export .standin --world pull-request-7 --out world.sqlite
  $ standin export --with-data --out shop.sqlite
  $ standin export .standin --events --out journal.ndjson && standin whatif curve journal.ndjson`,
    )
    .action(
      async (
        pathArgument: string | undefined,
        { out, world, events, withData, volumes, json }: ExportOptions,
        command: Command,
      ) => {
        const path = dataPathOf(pathArgument, command);
        const { exportEvents, exportWorld } = await import("../history/world-history.ts");
        const { DataDirectory } = await import("../../worlds/data-directory.ts");
        const { openDataDirectory } = await import("../history/open-data-directory.ts");
        const dataFrom = withData === true ? (volumes ?? volumesFolder(path)) : undefined;
        if (withData === true && !DataDirectory.hasWorld(path, world))
          throw new CliError(`--with-data: ${path} is not a data directory with a world "${world}"`, true);
        const directory = withData === true ? openDataDirectory(path) : undefined;
        let written: number | undefined;
        try {
          if (events === true) written = await exportEvents(path, world, out);
          else await exportWorld(path, world, out, dataFrom);
        } finally {
          directory?.release();
        }
        const { size } = statSync(out);
        const sizeText =
          written === undefined ? `${size} bytes` : `${plural(written, "event")}, ${size} bytes`;
        const data = withData === true ? `${out}.volumes` : undefined;
        const result = { file: out, size_bytes: size, events: written, data };
        const dataText = data === undefined ? "" : ` and ${data}`;
        print(json === true ? `${JSON.stringify(result)}\n` : `wrote ${out} (${sizeText})${dataText}\n`);
      },
    );
}
