import { statSync } from "node:fs";
import { Command } from "commander";
import { jsonOption, worldOption } from "./options.ts";

type Options = { out: string; world: string; json?: boolean };

/** A whole history as one file, safe to hand on. */
export function exportCommand(): Command {
  return new Command("export")
    .description("write a world's whole history into one SQLite file, with every secret emptied: fit for a bug report")
    .argument("<dir>", "data directory, or a world's file, like a snapshot")
    .requiredOption("--out <file>", "where to write it")
    .addOption(worldOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Emptied are passwords, the hashes of keys, and the addresses that keys were used from: no key opens the exported world.
It only looks at the directory: a server may have it open.

Examples:
  $ standin export .standin --out bug-4711.sqlite
  $ standin export .standin --world pull-request-7 --out world.sqlite`,
    )
    .action(async (path: string, { out, world, json }: Options) => {
      const { exportWorld } = await import("./history.ts");
      await exportWorld(path, world, out);
      const { size } = statSync(out);
      process.stdout.write(json === true ? `${JSON.stringify({ file: out, size_bytes: size })}\n` : `wrote ${out} (${size} bytes)\n`);
    });
}
