import { existsSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { STARTER_FILES } from "../init/starter-files.ts";
import { CliError } from "../terminal/cli-error.ts";
import { print } from "../terminal/print.ts";

export function initCommand(): Command {
  return new Command("init")
    .addHelpText(
      "after",
      `
Writes ${Object.keys(STARTER_FILES).join(", ")} to the current directory. If one of
them exists, writes nothing.

Examples:
  $ standin init
  $ standin init && standin run scenario.yaml`,
    )
    .action(() => {
      const existing = Object.keys(STARTER_FILES).filter((name) => existsSync(name));
      if (existing.length > 0)
        throw new CliError(
          `${existing.join(", ")} already exist${existing.length === 1 ? "s" : ""} here; nothing was written`,
        );
      for (const [name, { text, use }] of Object.entries(STARTER_FILES)) {
        // Fails if the file has appeared since the check.
        writeFileSync(name, text, { flag: "wx" });
        print(`wrote ${name}; use it with: ${use}\n`);
      }
    });
}
