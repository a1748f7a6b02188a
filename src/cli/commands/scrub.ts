import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { plural } from "../../whatif/units/number-format.ts";
import { CliError } from "../terminal/cli-error.ts";
import { dataOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

export function scrubCommand(): Command {
  return new Command("scrub")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Checks each world as standin verify does, one after the other, with pauses. Only
reads the data directory; a server may be running on it. A server does the same
with standin serve --scrub-every.

With --json, prints one object per world and line.

Exit status: 0 no differences, 1 differences or a world cannot be read, 2 usage
error.

Examples:
  $ standin scrub
  $ standin scrub --data /var/lib/standin --json`,
    )
    .action(async ({ data, json }: { data: string; json?: boolean }) => {
      const directory = resolve(data);
      if (!existsSync(directory)) throw new CliError(`${data} does not exist`);
      const { scrubWorlds } = await import("../history/scrub-worlds.ts");
      let damaged = 0;
      await scrubWorlds(directory, (result) => {
        const { world, ok, to, rows, differences } = result;
        if (!ok) damaged += 1;
        if (json === true) print(`${JSON.stringify(result)}\n`);
        else if (ok) print(`${world}: no differences in ${rows} rows up to event ${to}\n`);
        else for (const { where, message } of differences) print(`${world}: ${where}: ${message}\n`);
      });
      if (damaged > 0) throw new CliError(`${plural(damaged, "world")} with differences`);
    });
}
