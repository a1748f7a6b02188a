import { Command } from "commander";
import { checkSetup, type SetupCheck } from "../doctor/check-setup.ts";
import { readSetup } from "../doctor/setup-facts.ts";
import { dataOption, jsonOption } from "../terminal/options.ts";
import { printResult } from "../terminal/print.ts";

type DoctorOptions = { readonly data: string; readonly json?: boolean };

export function doctorCommand(): Command {
  return new Command("doctor")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Checks Node, the SQLite module, the data directory and its worlds, free disk
space, the ports, the versions of Postgres, and the names of computes. Changes
nothing, and needs no server.

problem: a server with default options does not start, or will soon be unable to write.
warning: a part of it does not work, or works differently.

Exit status: 0 no problem, 1 at least one problem, 2 usage error.

Examples:
  $ standin doctor
  $ standin doctor --data ./shop --json`,
    )
    .action(async (options: DoctorOptions) => {
      const checks = checkSetup(await readSetup(options.data));
      printResult(options, { checks }, checks.map(describeCheck).join("\n"));
      if (checks.some(({ level }) => level === "problem")) process.exitCode = 1;
    });
}

function describeCheck({ check, level, found, fix }: SetupCheck): string {
  const line = `${level.padEnd("warning".length)}  ${check.padEnd("postgres port".length)}  ${found}`;
  return fix === undefined ? line : `${line}\n${" ".repeat("warning  ".length)}fix: ${fix}`;
}
