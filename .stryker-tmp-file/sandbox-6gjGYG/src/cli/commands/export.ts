// @ts-nocheck
import { statSync } from "node:fs";
import { Command, Option } from "commander";
import { plural } from "../../whatif/report/number-format.ts";
import { addDataPathOptions, dataPathOf, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type ExportOptions = { out: string; world: string; events?: boolean; json?: boolean };

export function exportCommand(): Command {
  return addDataPathOptions(new Command("export"))
    .requiredOption("--out <file>", "file to create")
    .addOption(
      new Option(
        "--events",
        "write only the journal as NDJSON, one event per line, for whatif and scenarios",
      ),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Passwords, key hashes and the addresses that keys were used from are removed, so
no existing key works with the exported world. Only reads the data directory; a
server may be running on it.

Examples:
  $ standin export --out bug-4711.sqlite
  $ standin export .standin --world pull-request-7 --out world.sqlite
  $ standin export .standin --events --out journal.ndjson && standin whatif curve journal.ndjson`,
    )
    .action(
      async (
        pathArgument: string | undefined,
        { out, world, events, json }: ExportOptions,
        command: Command,
      ) => {
        const path = dataPathOf(pathArgument, command);
        const { exportEvents, exportWorld } = await import("../history/world-history.ts");
        const written =
          events === true ? await exportEvents(path, world, out) : await exportWorld(path, world, out);
        const { size } = statSync(out);
        const sizeText =
          written === undefined ? `${size} bytes` : `${plural(written, "event")}, ${size} bytes`;
        const result = { file: out, size_bytes: size, events: written };
        print(json === true ? `${JSON.stringify(result)}\n` : `wrote ${out} (${sizeText})\n`);
      },
    );
}
