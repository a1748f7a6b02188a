import { Command, Option } from "commander";
import type { ExecOptions } from "../server/run-with-server.ts";
import { checkInputExists } from "../terminal/input-file.ts";
import { integerParser, parseClockOption, parseInstantOption } from "../terminal/option-parsers.ts";
import { envOption, parseDirectoryOption } from "../terminal/options.ts";

export function execCommand(): Command {
  return new Command("exec")
    .argument("<command...>", "command to run, after --")
    .addOption(
      new Option("--data <dir>", "data directory (default: a temporary one, deleted at the end)")
        .argParser(parseDirectoryOption)
        .conflicts("keep"),
    )
    .addOption(new Option("--keep", "keep the temporary data directory if the command fails"))
    .addOption(
      envOption(
        "--clock <mode>",
        "clock mode: real, manual, or a factor such as 60x (default: real)",
      ).argParser(parseClockOption),
    )
    .addOption(envOption("--settle", "finish operations at once"))
    .addOption(
      envOption("--seed <n>", "random seed of the world (default: 1)").argParser(
        integerParser(0, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(
      envOption("--start-at <instant>", "initial time of the world, ISO 8601 (default: now)").argParser(
        parseInstantOption,
      ),
    )
    .addOption(envOption("--profile <profile>", "platform profile of the world: 2024, 2026, or a file"))
    .addOption(envOption("--seed-file <file>", "YAML file of what the world contains"))
    .addHelpText(
      "after",
      `
Starts a server on a free port, runs the command, and stops the server. The
environment of the command has NEON_API_HOST, NEON_API_KEY, and STANDIN_DATA for
the other commands of standin.

Exit status: that of the command, 1 if the server cannot start, 2 usage error,
126 or 127 if the command cannot be run, 128 plus the number of a signal that
ended it.

Examples:
  $ standin exec -- npm test
  $ standin exec --clock manual --settle --keep -- npx vitest run
  $ standin exec -- sh -c 'neonctl projects create --name shop && standin status'`,
    )
    .action(async (command: string[], options: ExecOptions) => {
      if (options.seedFile !== undefined) checkInputExists(options.seedFile, "--seed-file");
      const { runWithServer } = await import("../server/run-with-server.ts");
      process.exitCode = await runWithServer(command, options);
    });
}
