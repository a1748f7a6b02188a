// @ts-nocheck
import { Command } from "commander";
import { dataOption, jsonOption, worldOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type WorldImportOptions = { data: string; world: string; json?: boolean };

export function importCommand(): Command {
  return new Command("import")
    .argument("<file>", "exported file or snapshot")
    .addOption(dataOption())
    .addOption(worldOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The file is verified before it is imported. Keys of an exported history do not
work; create a new one with: standin keys create <name>

Examples:
  $ standin import bug-4711.sqlite --data /tmp/bug && standin keys create me --data /tmp/bug
  $ standin import world.sqlite --world pull-request-7`,
    )
    .action(async (file: string, { data, world, json }: WorldImportOptions) => {
      const { importWorld } = await import("../history/world-history.ts");
      const { to } = await importWorld(file, data, world);
      if (json === true) print(`${JSON.stringify({ world, seq: to })}\n`);
      else
        print(
          `imported world "${world}" into ${data} at event ${to}; list its keys with: standin keys list --data ${data}${world === "default" ? "" : ` --world ${world}`}\n`,
        );
    });
}
