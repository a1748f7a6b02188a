import { Command, Option } from "commander";
import { volumesFolder } from "../../worlds/directory-layout.ts";
import { checkInputExists } from "../terminal/input-file.ts";
import { dataOption, envOption, jsonOption, worldOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type WorldImportOptions = {
  data: string;
  world: string;
  withData?: boolean;
  volumes?: string;
  json?: boolean;
};

export function importCommand(): Command {
  return new Command("import")
    .argument("<file>", "exported file or snapshot")
    .addOption(dataOption())
    .addOption(worldOption())
    .addOption(
      new Option(
        "--with-data",
        "also import the data of the branches, from <file>.volumes; only from a sender who may run programs as this user",
      ),
    )
    .addOption(envOption("--volumes <dir>", "directory of the branches' data (default: <data>/volumes)"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The file is verified before it is imported. Keys of an exported history do not
work; create a new one with: standin keys create <name>

With --with-data, the data of the branches is imported from <file>.volumes. Postgres
trusts its files, so they can run programs. Import only files that you or
somebody you trust exported. Role passwords must be reset before clients can connect.

Examples:
  $ standin import bug-4711.sqlite --data /tmp/bug && standin keys create me --data /tmp/bug
  $ standin import world.sqlite --world pull-request-7
  $ standin import shop.sqlite --with-data`,
    )
    .action(async (file: string, { data, world, withData, volumes, json }: WorldImportOptions) => {
      checkInputExists(file);
      const { importWorld } = await import("../history/world-history.ts");
      const imported = await importWorld(
        file,
        data,
        world,
        withData === true ? (volumes ?? volumesFolder(data)) : undefined,
      );
      const { to } = imported;
      if (imported.data === "left out")
        process.stderr.write(
          `standin: the data of the branches in ${file}.volumes was not imported, so clients that connect to them are rejected; import it with --with-data if you trust its sender: Postgres files can run programs\n`,
        );
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
