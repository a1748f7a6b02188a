import { statSync } from "node:fs";
import { Command, Option } from "commander";
import { addDataPathOptions, dataPathOf, jsonOption } from "../terminal/option-parsers.ts";

type ExportOptions = { out: string; world: string; events?: boolean; json?: boolean };

/** A whole history as one file, safe to hand on. */
export function exportCommand(): Command {
  return addDataPathOptions(new Command("export"))
    .requiredOption("--out <file>", "where to write it")
    .addOption(
      new Option(
        "--events",
        "its journal alone, as NDJSON: an event a line, for `standin whatif` and for scenarios",
      ),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Emptied are passwords, the hashes of keys, and the addresses that keys were used from: no key opens the exported world.
It only looks at the directory: a server may have it open.

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
          written === undefined ? `${size} bytes` : `${written.toLocaleString("en")} events, ${size} bytes`;
        const result = { file: out, size_bytes: size, ...(written === undefined ? {} : { events: written }) };
        process.stdout.write(json === true ? `${JSON.stringify(result)}\n` : `wrote ${out} (${sizeText})\n`);
      },
    );
}
