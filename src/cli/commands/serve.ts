import { Command } from "commander";
import { DAY } from "../../platform/core/time.ts";
import type { ServeOptions } from "../server/server.ts";
import { CliError } from "../terminal/cli-error.ts";
import {
  dataOption,
  envOption,
  integerParser,
  parseBackupIntervalOption,
  parseBytesOption,
  parseClockOption,
  parseHostDomainOption,
  parseInstantOption,
  parseRetentionOption,
  parseStartDelayOption,
  planLimitParser,
  secretParser,
} from "../terminal/option-parsers.ts";

const MAX_LIMIT = 1_000_000;

export function serveCommand(): Command {
  return new Command("serve")
    .addOption(dataOption())
    .addOption(
      envOption("--port <n>", "port to listen on, 0 for a free one")
        .argParser(integerParser(0, 65_535))
        .default(4620),
    )
    .addOption(
      envOption(
        "--host <address>",
        "address to listen on; beyond loopback a control token is needed",
      ).default("127.0.0.1"),
    )
    .addOption(
      envOption("--clock <mode>", "real, manual, or a factor like 60x (new worlds: real)").argParser(
        parseClockOption,
      ),
    )
    .addOption(
      envOption(
        "--start-at <instant>",
        "where the clock of a new world begins (ISO 8601; default: now)",
      ).argParser(parseInstantOption),
    )
    .addOption(
      envOption("--seed <n>", "seed of a new world (default: a random one, which is printed)").argParser(
        integerParser(0, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(
      envOption("--profile <year>", "the platform's numbers of this year (new worlds: 2024)").choices([
        "2024",
        "2026",
      ]),
    )
    .addOption(
      envOption("--plan <plan>", "plan of a new world's accounts (new worlds: paid)").choices([
        "paid",
        "free",
      ]),
    )
    .addOption(
      envOption("--operations <mode>", "whether operations take their time (new worlds: timed)").choices([
        "timed",
        "immediate",
      ]),
    )
    .addOption(
      envOption(
        "--start-delay <duration>",
        "how long a start takes: 3s, 1s..5s, 3s~0.5, or profile (new worlds: profile)",
      ).argParser(parseStartDelayOption),
    )
    .addOption(
      envOption(
        "--projects-limit <n>",
        "projects of an account: a number, or plan (new worlds: plan)",
      ).argParser(planLimitParser(0)),
    )
    .addOption(
      envOption("--branches-limit <n>", "branches of a project, likewise").argParser(planLimitParser(1)),
    )
    .addOption(
      envOption("--endpoints-limit <n>", "computes of a project, likewise").argParser(planLimitParser(1)),
    )
    .addOption(
      envOption("--snapshots-limit <n>", "manual snapshots of a project, likewise").argParser(
        planLimitParser(0),
      ),
    )
    .addOption(
      envOption(
        "--host-domain <name>",
        "what the host names of a new world's computes end in (new worlds: standin.localhost)",
      ).argParser(parseHostDomainOption),
    )
    .addOption(
      envOption(
        "--seed-file <file>",
        "YAML file of accounts, keys, projects, branches and endpoints to lay out",
      ),
    )
    .addOption(
      envOption("--api-key <key>", "a key that must be valid, for CI; prefer the variable").argParser(
        secretParser("--api-key or STANDIN_API_KEY"),
      ),
    )
    .addOption(
      envOption("--control-token <token>", "what calls to /_sim must bring; prefer the variable").argParser(
        secretParser("--control-token or STANDIN_CONTROL_TOKEN"),
      ),
    )
    .addOption(
      envOption(
        "--rate-limit",
        "answer 429 beyond 700 requests a minute or 40 a second per route and account",
      ),
    )
    .addOption(
      envOption(
        "--backup-every <duration>",
        "keep the world as a snapshot so often, by the wall, like 1h",
      ).argParser(parseBackupIntervalOption),
    )
    .addOption(
      envOption("--keep-backups <n>", "so many of these snapshots stay (default: 24)").argParser(
        integerParser(1, 10_000),
      ),
    )
    .addOption(
      envOption("--keep-history <duration>", "forget events that are older, by the world's clock; or forever")
        .argParser(parseRetentionOption)
        .default(90 * DAY, "90d"),
    )
    .addOption(
      envOption("--keep-operations <duration>", "forget finished operations that are older; or forever")
        .argParser(parseRetentionOption)
        .default(180 * DAY, "180d"),
    )
    .addOption(
      envOption("--requests-limit <n>", "so many requests are kept in the journal of requests; 0: none")
        .argParser(integerParser(0, MAX_LIMIT))
        .default(10_000),
    )
    .addOption(
      envOption("--max-worlds <n>", "so many worlds at most")
        .argParser(integerParser(1, 100_000))
        .default(500),
    )
    .addOption(
      envOption("--max-world-size <size>", "larger worlds are not forked")
        .argParser(parseBytesOption)
        .default(4 * 1024 ** 3, "4GiB"),
    )
    .addOption(
      envOption("--log-level <level>", "what goes to stderr; debug shows every request")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("info"),
    )
    .addOption(envOption("--json", "the ready line in JSON, for machines"))
    .addHelpText(
      "after",
      `
A world keeps what it was made with. Clock, operations, start delay and limits may change at every start; left out, they stay as they are,
and profile and plan take back what was given in their place.

Examples:
  $ standin serve                                  # ./.standin, port 4620, the real clock
  $ standin serve --clock manual --seed 7 --start-at 2026-01-01T00:00:00Z
  $ STANDIN_API_KEY=$KEY standin serve --port 0 --data /tmp/ci --json
  $ standin serve --clock 60x --operations immediate
  $ standin serve --backup-every 1h --keep-backups 48`,
    )
    .action(async (options: ServeOptions) => {
      if (options.keepBackups !== undefined && options.backupEvery === undefined)
        throw new CliError(
          "--keep-backups (STANDIN_KEEP_BACKUPS) keeps what --backup-every (STANDIN_BACKUP_EVERY) makes: give both, or neither",
          true,
        );
      // Only this verb needs the whole house; the others start the sooner.
      const { serve } = await import("../server/server.ts");
      await serve(options);
    });
}
