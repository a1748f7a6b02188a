import { Command } from "commander";
import { CONSOLE_MODES } from "../../app/console-mode.ts";
import { DAY, MINUTE } from "../../kernel/time.ts";
import { DEFAULT_PROFILE } from "../../platform/catalog/defaults-and-limits.ts";
import { MINIMUM_EVENTS } from "../../worlds/retention.ts";
import { addPostgresOptions } from "../server/postgres-port.ts";
import type { ServeOptions } from "../server/serve-options.ts";
import { CliError } from "../terminal/cli-error.ts";
import {
  integerParser,
  parseBackupIntervalOption,
  parseBytesOption,
  parseClockOption,
  parseHostDomainOption,
  parseIdleTimeOption,
  parseInstantOption,
  parseRetentionOption,
  parseStartDelayOption,
  planLimitParser,
  secretParser,
} from "../terminal/option-parsers.ts";
import { dataOption, envOption, parseWorldNameOption } from "../terminal/options.ts";

const MAX_LIMIT = 1_000_000;
const MAX_EVENTS = 1_000_000_000;

export function serveCommand(): Command {
  return addPostgresOptions(new Command("serve").addOption(dataOption()))
    .addOption(
      envOption("--port <n>", "port to listen on; 0 selects a free port")
        .argParser(integerParser(0, 65_535))
        .default(4620),
    )
    .addOption(
      envOption(
        "--host <address>",
        "address to listen on; a non-loopback address requires --control-token",
      ).default("127.0.0.1", "127.0.0.1"),
    )
    .addOption(
      envOption(
        "--clock <mode>",
        "clock mode: real, manual, or a factor such as 60x (default for a new world: real)",
      ).argParser(parseClockOption),
    )
    .addOption(
      envOption("--start-at <instant>", "initial time of a new world, ISO 8601 (default: now)").argParser(
        parseInstantOption,
      ),
    )
    .addOption(
      envOption(
        "--seed <n>",
        "random seed of a new world (default: a random number, which is printed)",
      ).argParser(integerParser(0, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(
      envOption(
        "--profile <year>",
        `platform profile of a new world: its sizes, limits and durations (default: ${DEFAULT_PROFILE})`,
      ).choices(["2024", "2026"]),
    )
    .addOption(
      envOption("--plan <plan>", "plan of accounts in a new world (default: paid)").choices(["paid", "free"]),
    )
    .addOption(
      envOption(
        "--operations <mode>",
        "whether operations take time or finish before the next request (default for a new world: timed)",
      ).choices(["timed", "immediate"]),
    )
    .addOption(
      envOption(
        "--settle",
        "finish operations at once; same as --operations immediate. On a manual clock, timers still wait",
      ).conflicts("operations"),
    )
    .addOption(
      envOption(
        "--locks <scope>",
        "whether an operation locks what it works on or its whole project (default for a new world: narrow)",
      ).choices(["narrow", "project"]),
    )
    .addOption(
      envOption(
        "--start-delay <duration>",
        "time that a compute needs to start: 3s, 1s..5s, 3s~0.5, or profile (default for a new world: profile)",
      ).argParser(parseStartDelayOption),
    )
    .addOption(
      envOption(
        "--projects-limit <n>",
        "projects per account: a number, or plan (default for a new world: plan)",
      ).argParser(planLimitParser(0)),
    )
    .addOption(
      envOption(
        "--branches-limit <n>",
        "branches per project: a number, or plan (default for a new world: plan)",
      ).argParser(planLimitParser(1)),
    )
    .addOption(
      envOption(
        "--endpoints-limit <n>",
        "computes per project: a number, or plan (default for a new world: plan)",
      ).argParser(planLimitParser(1)),
    )
    .addOption(
      envOption(
        "--snapshots-limit <n>",
        "manual snapshots per project: a number, or plan (default for a new world: plan)",
      ).argParser(planLimitParser(0)),
    )
    .addOption(
      envOption(
        "--host-domain <name>",
        "domain of the compute host names in a new world (default: standin.localhost)",
      ).argParser(parseHostDomainOption),
    )
    .addOption(
      envOption(
        "--seed-file <file>",
        "YAML file of accounts, keys, projects, branches and computes to create",
      ),
    )
    .addOption(
      envOption(
        "--api-key <key>",
        "API key that must be valid, for CI; prefer the environment variable",
      ).argParser(secretParser("--api-key or STANDIN_API_KEY")),
    )
    .addOption(
      envOption(
        "--control-token <token>",
        "token that calls to /_sim must send; prefer the environment variable",
      ).argParser(secretParser("--control-token or STANDIN_CONTROL_TOKEN")),
    )
    .addOption(
      envOption(
        "--cell <name>",
        "name of this server among several behind a router, whose headers X-Forwarded-Host and X-Forwarded-Proto it trusts; requires --control-token",
      ).argParser(parseWorldNameOption),
    )
    .addOption(
      envOption(
        "--rate-limit",
        "answer 429 beyond 700 requests per minute or 40 per second, per route and account",
      ),
    )
    .addOption(
      envOption(
        "--console <mode>",
        "whether browsers get the web console at /, and whether it offers changes",
      )
        .choices(CONSOLE_MODES)
        .default("on"),
    )
    .addOption(
      envOption(
        "--backup-every <duration>",
        "interval of wall-clock time between snapshots of the default world, such as 1h (default: no backups)",
      ).argParser(parseBackupIntervalOption),
    )
    .addOption(
      envOption(
        "--scrub-every <duration>",
        "interval of wall-clock time between checks of all worlds, such as 1d (default: no checks)",
      ).argParser(parseBackupIntervalOption),
    )
    .addOption(
      envOption(
        "--keep-backups <n>",
        "number of backups to retain; requires --backup-every (default: 24)",
      ).argParser(integerParser(1, 10_000)),
    )
    .addOption(
      envOption("--keep-automatic <n>", "number of snapshots to retain that restores take, for each world")
        .argParser(integerParser(1, 10_000))
        .default(10),
    )
    .addOption(
      envOption(
        "--keep-history <duration>",
        "delete events older than this, by the world's clock, except for --keep-events, or forever",
      )
        .argParser(parseRetentionOption)
        .default(90 * DAY, "90d"),
    )
    .addOption(
      envOption("--keep-events <n>", "number of the newest events to retain, however old they are")
        .argParser(integerParser(0, MAX_EVENTS))
        .default(MINIMUM_EVENTS),
    )
    .addOption(
      envOption(
        "--keep-operations <duration>",
        "delete finished operations older than this, by the world's clock, or forever",
      )
        .argParser(parseRetentionOption)
        .default(180 * DAY, "180d"),
    )
    .addOption(
      envOption("--requests-limit <n>", "number of requests to retain in the request log; 0 disables it")
        .argParser(integerParser(0, MAX_LIMIT))
        .default(10_000),
    )
    .addOption(
      envOption(
        "--accept-loss <world>",
        "serve this world even if acknowledged changes are missing from its files",
      ).argParser(parseWorldNameOption),
    )
    .addOption(
      envOption(
        "--wal <owner>",
        "who moves the write-ahead logs into the files: this server (internal), or a program that replicates them (external)",
      )
        .choices(["internal", "external"])
        .default("internal"),
    )
    .addOption(
      envOption("--max-worlds <n>", "maximum number of worlds")
        .argParser(integerParser(1, 100_000))
        .default(500),
    )
    .addOption(
      envOption("--max-world-size <size>", "size of the largest world that can be forked")
        .argParser(parseBytesOption)
        .default(4 * 1024 ** 3, "4GiB"),
    )
    .addOption(
      envOption(
        "--close-idle <duration>",
        "close a world other than the default after this wall-clock time without a request; 0 for never",
      )
        .argParser(parseIdleTimeOption)
        .default(10 * MINUTE, "10m"),
    )
    .addOption(
      envOption(
        "--expire-worlds <duration>",
        "delete a world other than the default after this wall-clock time without a request; 0 for never",
      )
        .argParser(parseIdleTimeOption)
        .default(0, "0"),
    )
    .addOption(
      envOption("--log-level <level>", "level of log messages on stderr; debug includes every request")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("info", "info"),
    )
    .addOption(envOption("--json", "print the ready line as JSON"))
    .addHelpText(
      "after",
      `
The options of new worlds (--start-at, --seed, --profile, --plan, --host-domain)
apply only when the world is created. On later starts omit them; a different
value is an error.

--clock, --operations, --locks, --start-delay and the --…-limit options are
stored with the world and may change at every start. Omit them to keep the stored
value. The values profile and plan remove an override.

A start delay of 1s..5s is uniform; 3s~0.5 is log-normal with a median of 3 s and
a sigma of 0.5.

Exit status: 0 stopped by Ctrl-C or SIGTERM, 1 failed, 2 usage error.

Examples:
  $ standin serve                                  # ./.standin, port 4620, real clock
  $ standin serve --clock manual --settle          # for neonctl on a manual clock
  $ standin serve --clock manual --seed 7 --start-at 2026-01-01T00:00:00Z
  $ STANDIN_API_KEY=$KEY standin serve --port 0 --data /tmp/ci --json
  $ standin serve --clock 60x --operations immediate
  $ standin serve --backup-every 1h --keep-backups 48`,
    )
    .action(async (options: ServeOptions) => {
      if (options.keepBackups !== undefined && options.backupEvery === undefined)
        throw new CliError(
          "--keep-backups (STANDIN_KEEP_BACKUPS) requires --backup-every (STANDIN_BACKUP_EVERY)",
          true,
        );
      const operations = options.settle === true ? "immediate" : options.operations;
      // The server is loaded only here, which keeps the startup of other commands fast.
      const { serve } = await import("../server/server.ts");
      await serve({ ...options, ...(operations === undefined ? {} : { operations }) });
    });
}
