import { statSync } from "node:fs";
import { Command, Option } from "commander";
import { jsonOption, worldOption } from "./options.ts";

type Options = { out: string; world: string; events?: boolean; json?: boolean };

/** A whole history as one file, safe to hand on. */
export function exportCommand(): Command {
  return new Command("export")
    .argument("<dir>", "data directory, or a world's file, like a snapshot")
    .requiredOption("--out <file>", "where to write it")
    .addOption(new Option("--events", "its journal alone, as NDJSON: an event a line, for `standin whatif` and for scenarios"))
    .addOption(worldOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Emptied are passwords, the hashes of keys, and the addresses that keys were used from: no key opens the exported world.
It only looks at the directory: a server may have it open.

Examples:
  $ standin export .standin --out bug-4711.sqlite
  $ standin export .standin --world pull-request-7 --out world.sqlite
  $ standin export .standin --events --out journal.ndjson && standin whatif curve journal.ndjson`,
    )
    .action(async (path: string, { out, world, events, json }: Options) => {
      const { exportEvents, exportWorld } = await import("./history.ts");
      const written = events === true ? await exportEvents(path, world, out) : await exportWorld(path, world, out);
      const { size } = statSync(out);
      const told = written === undefined ? `${size} bytes` : `${written.toLocaleString("en")} events, ${size} bytes`;
      const answer = { file: out, size_bytes: size, ...(written === undefined ? {} : { events: written }) };
      process.stdout.write(json === true ? `${JSON.stringify(answer)}\n` : `wrote ${out} (${told})\n`);
    });
}
