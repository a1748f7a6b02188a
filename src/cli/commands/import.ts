import { Command } from "commander";
import { dataOption, jsonOption, worldOption } from "../terminal/option-parsers.ts";

type WorldImportOptions = { data: string; world: string; json?: boolean };

/** The other end of `export`. */
export function importCommand(): Command {
  return new Command("import")
    .argument("<file>", "the file")
    .addOption(dataOption())
    .addOption(worldOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The keys of an exported history open nothing; make a new one with: standin keys create <name>

Examples:
  $ standin import bug-4711.sqlite --data /tmp/bug && standin keys create me --data /tmp/bug
  $ standin import world.sqlite --world pull-request-7`,
    )
    .action(async (file: string, { data, world, json }: WorldImportOptions) => {
      const { importWorld } = await import("../history/world-history.ts");
      const { to } = await importWorld(file, data, world);
      if (json === true) process.stdout.write(`${JSON.stringify({ world, seq: to })}\n`);
      else
        process.stdout.write(
          `world "${world}" of ${data} stands at event ${to}; its keys: standin keys list --data ${data}${world === "default" ? "" : ` --world ${world}`}\n`,
        );
    });
}
