import { Command } from "commander";
import { dataOption, envOption, jsonOption, worldOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type WorldImportOptions = { data: string; world: string; volumes?: string; json?: boolean };

export function importCommand(): Command {
  return new Command("import")
    .argument("<file>", "exported file or snapshot")
    .addOption(dataOption())
    .addOption(worldOption())
    .addOption(envOption("--volumes <dir>", "directory of the branches' data (default: <data>/volumes)"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The file is verified before it is imported. Keys of an exported history do not
work; create a new one with: standin keys create <name>

The data of the branches is imported from <file>.volumes, if that exists. Role
passwords must be reset before clients can connect to it.

Examples:
  $ standin import bug-4711.sqlite --data /tmp/bug && standin keys create me --data /tmp/bug
  $ standin import world.sqlite --world pull-request-7`,
    )
    .action(async (file: string, { data, world, volumes, json }: WorldImportOptions) => {
      const { importWorld } = await import("../history/world-history.ts");
      const imported = await importWorld(file, data, world, volumes);
      const { to } = imported;
      if (imported.data === "missing")
        process.stderr.write(
          `standin: ${file}.volumes does not exist, so the branches of this world have no data, and clients that connect to them are rejected\n`,
        );
      if (json === true) print(`${JSON.stringify({ world, seq: to, data: imported.data })}\n`);
      else
        print(
          `imported world "${world}" into ${data} at event ${to}; list its keys with: standin keys list --data ${data}${world === "default" ? "" : ` --world ${world}`}\n`,
        );
    });
}
