import { Command } from "commander";
import type { DurationDistribution } from "../../platform/core/distribution.ts";
import { DAY } from "../../platform/core/time.ts";
import type { ClockSetting } from "../../simulation/world-clock.ts";
import { CliError } from "../terminal/cli-error.ts";
import {
  backupInterval,
  bytes,
  clockSetting,
  dataOption,
  hostDomain,
  instant,
  integer,
  option,
  planLimit,
  retention,
  secret,
  startDelay,
} from "../terminal/option-parsers.ts";

const MAX_LIMIT = 1_000_000;

export type ServeOptions = {
  data: string;
  port: number;
  host: string;
  clock?: ClockSetting;
  startAt?: number;
  seed?: number;
  profile?: "2024" | "2026";
  plan?: "paid" | "free";
  operations?: "timed" | "immediate";
  startDelay?: DurationDistribution | "profile";
  projectsLimit?: number | "plan";
  branchesLimit?: number | "plan";
  endpointsLimit?: number | "plan";
  snapshotsLimit?: number | "plan";
  hostDomain?: string;
  seedFile?: string;
  apiKey?: string;
  controlToken?: string;
  rateLimit?: boolean;
  backupEvery?: number;
  keepBackups?: number;
  keepHistory: number;
  keepOperations: number;
  requestsLimit: number;
  maxWorlds: number;
  maxWorldSize: number;
  logLevel: string;
  json?: boolean;
};

export function serveCommand(): Command {
  return new Command("serve")
    .addOption(dataOption())
    .addOption(option("--port <n>", "port to listen on, 0 for a free one").argParser(integer(0, 65_535)).default(4620))
    .addOption(option("--host <address>", "address to listen on; beyond loopback a control token is needed").default("127.0.0.1"))
    .addOption(option("--clock <mode>", "real, manual, or a factor like 60x (new worlds: real)").argParser(clockSetting))
    .addOption(option("--start-at <instant>", "where the clock of a new world begins (ISO 8601; default: now)").argParser(instant))
    .addOption(
      option("--seed <n>", "seed of a new world (default: a random one, which is printed)").argParser(integer(0, Number.MAX_SAFE_INTEGER)),
    )
    .addOption(option("--profile <year>", "the platform's numbers of this year (new worlds: 2024)").choices(["2024", "2026"]))
    .addOption(option("--plan <plan>", "plan of a new world's accounts (new worlds: paid)").choices(["paid", "free"]))
    .addOption(option("--operations <mode>", "whether operations take their time (new worlds: timed)").choices(["timed", "immediate"]))
    .addOption(
      option("--start-delay <duration>", "how long a start takes: 3s, 1s..5s, 3s~0.5, or profile (new worlds: profile)").argParser(
        startDelay,
      ),
    )
    .addOption(option("--projects-limit <n>", "projects of an account: a number, or plan (new worlds: plan)").argParser(planLimit(0)))
    .addOption(option("--branches-limit <n>", "branches of a project, likewise").argParser(planLimit(1)))
    .addOption(option("--endpoints-limit <n>", "computes of a project, likewise").argParser(planLimit(1)))
    .addOption(option("--snapshots-limit <n>", "manual snapshots of a project, likewise").argParser(planLimit(0)))
    .addOption(
      option("--host-domain <name>", "what the host names of a new world's computes end in (new worlds: standin.localhost)").argParser(
        hostDomain,
      ),
    )
    .addOption(option("--seed-file <file>", "YAML file of accounts, keys, projects, branches and endpoints to lay out"))
    .addOption(
      option("--api-key <key>", "a key that must be valid, for CI; prefer the variable").argParser(secret("--api-key or STANDIN_API_KEY")),
    )
    .addOption(
      option("--control-token <token>", "what calls to /_sim must bring; prefer the variable").argParser(
        secret("--control-token or STANDIN_CONTROL_TOKEN"),
      ),
    )
    .addOption(option("--rate-limit", "answer 429 beyond 700 requests a minute or 40 a second per route and account"))
    .addOption(option("--backup-every <duration>", "keep the world as a snapshot so often, by the wall, like 1h").argParser(backupInterval))
    .addOption(option("--keep-backups <n>", "so many of these snapshots stay (default: 24)").argParser(integer(1, 10_000)))
    .addOption(
      option("--keep-history <duration>", "forget events that are older, by the world's clock; or forever")
        .argParser(retention)
        .default(90 * DAY, "90d"),
    )
    .addOption(
      option("--keep-operations <duration>", "forget finished operations that are older; or forever")
        .argParser(retention)
        .default(180 * DAY, "180d"),
    )
    .addOption(
      option("--requests-limit <n>", "so many requests are kept in the journal of requests; 0: none")
        .argParser(integer(0, MAX_LIMIT))
        .default(10_000),
    )
    .addOption(option("--max-worlds <n>", "so many worlds at most").argParser(integer(1, 100_000)).default(500))
    .addOption(
      option("--max-world-size <size>", "larger worlds are not forked")
        .argParser(bytes)
        .default(4 * 1024 ** 3, "4GiB"),
    )
    .addOption(
      option("--log-level <level>", "what goes to stderr; debug shows every request")
        .choices(["debug", "info", "warn", "error", "silent"])
        .default("info"),
    )
    .addOption(option("--json", "the ready line in JSON, for machines"))
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
