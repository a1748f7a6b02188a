import { writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import { isoInstant } from "../../kernel/calendar.ts";
import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import { DEFAULT_PROFILE } from "../../platform/catalog/defaults-and-limits.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { pullIntoFile } from "../account/pull-into-file.ts";
import { parseApiUrl } from "../client/api-access.ts";
import { type Agreement, agreementSummary } from "../shadow/agreement.ts";
import { agreementText } from "../shadow/agreement-text.ts";
import { compareAccount } from "../shadow/compare-account.ts";
import { readExpectedRules } from "../shadow/expected-rules.ts";
import { CliError } from "../terminal/cli-error.ts";
import { writeProblem } from "../terminal/file-problem.ts";
import { checkInputExists } from "../terminal/input-file.ts";
import { interruptible } from "../terminal/interrupt.ts";
import {
  integerParser,
  parseDurationOption,
  parseInstantOption,
  secretParser,
} from "../terminal/option-parsers.ts";
import { dataOption, envOption, jsonOption, parseWorldNameOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

type ShadowOptions = {
  from?: string;
  fromKey?: string;
  profile: string;
  since?: SimTime;
  tolerance: number;
  suspendTolerance: DurationMs;
  out?: string;
  data: string;
  world?: string;
  json?: boolean;
};

/** Seed of a world with the past of an account; the default seed of `standin mirror --history`. */
const WORLD_SEED = 1;

const MAX_TOLERANCE = 1_000_000;

export function shadowCommand(): Command {
  return new Command("shadow")
    .description("compare the behavior of an account's computes with the rules of standin")
    .argument("<file>", "file of standin account pull")
    .option(
      "--from <url>",
      "first pull new data from this API, with GET requests only; ends in /api/v2",
      (text) => parseApiUrl("--from", text),
    )
    .addOption(
      envOption("--from-key <key>", "API key for --from; prefer the environment variable").argParser(
        secretParser("--from-key or STANDIN_FROM_KEY"),
      ),
    )
    .addOption(
      new Option(
        "--profile <profile>",
        "profile whose durations are expected: 2024, 2026, or a file of standin account calibrate",
      ).default(DEFAULT_PROFILE),
    )
    .addOption(
      new Option(
        "--since <instant>",
        "compare only what happened from this instant on (default: since the pull before the last one)",
      ).argParser(parseInstantOption),
    )
    .addOption(
      new Option("--tolerance <n>", "number of surprises up to which the account still agrees")
        .argParser(integerParser(0, MAX_TOLERANCE))
        .default(0),
    )
    .addOption(
      new Option("--suspend-tolerance <duration>", "how much later a compute may suspend")
        .argParser(parseDurationOption)
        .default(SECOND, "1s"),
    )
    .addOption(
      new Option(
        "--out <file>",
        "write the agreement to this file: as a page if it ends in .html, otherwise as JSON",
      ),
    )
    .addOption(
      new Option(
        "--world <name>",
        "also create this world in --data, or continue it, with the past until the last pull",
      ).argParser(parseWorldNameOption),
    )
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Without --from, it sends no requests and compares the data that standin account
pull has read. With --from, it first reads new data, like that command. A surprise names the
operation, the rule and its evidence.

With --world, the first run creates a world, as standin mirror --history does, and each
later run adds what happened since. The console of standin serve shows the agreement in
it. If the world was changed by other means, that is an error; to experiment,
fork it with standin worlds create. No server may use --data during the run.

Exit status: 0 the account agrees, 1 more surprises than --tolerance, or the file or
the API cannot be read or --world cannot be continued, 2 usage error.

Examples:
  $ standin account pull --from https://console.example.com/api/v2 --out shop.standin-account
  $ standin shadow shop.standin-account --profile shop.profile.yaml --out agreement.json
  $ standin shadow shop.standin-account --profile shop.profile.yaml --out agreement.html
  $ standin shadow shop.standin-account --from https://console.example.com/api/v2
  $ standin shadow shop.standin-account --world shop --data past`,
    )
    .action(shadow);
}

async function shadow(path: string, options: ShadowOptions, command: Command): Promise<void> {
  if (options.world === undefined && command.getOptionValueSource("data") === "cli")
    throw new CliError("--data: has an effect only with --world", true);
  checkInputExists(path);
  if (options.world !== undefined)
    // Before anything is read or written.
    (await import("../recorded-past/world-of-pull.ts")).checkWorldOfPull(options.data, options.world);
  if (options.from !== undefined) await pullFirst(path, options.from, options.fromKey);
  const rules = await readExpectedRules(options.profile);
  const { results, since, summary } = compareAccount(path, rules, options.since, options.suspendTolerance);
  const agreement: Agreement = {
    version: 1,
    ...{ api: summary.api, since: isoInstant(since), until: isoInstant(summary.lastPullAt) },
    profile: options.profile,
    ...agreementSummary(results, options.tolerance),
  };
  if (options.out !== undefined) await write(options.out, agreement, path);
  const written = await worldOf(path, options, agreement);
  if (options.json === true) print(`${JSON.stringify({ ...agreement, ...written?.json })}\n`);
  else print(`${agreementText(agreement, path)}${written?.text ?? ""}`);
  if (!agreement.agrees) process.exitCode = 1;
}

/** With `--world`. */
async function worldOf(file: string, { world, data, profile }: ShadowOptions, agreement: Agreement) {
  if (world === undefined) return undefined;
  const { writeWorldOfPull } = await import("../recorded-past/world-of-pull.ts");
  const request = { file, data, world, profile, seed: WORLD_SEED, agreement };
  const { isNew, events } = await writeWorldOfPull(request);
  return {
    json: { world, is_new_world: isNew, world_events: events },
    text: `\n${isNew ? "Created" : "Continued"} world "${world}" in ${data}: its past is recorded until the last pull, with ${plural(events, "event")}.\n`,
  };
}

/** The comparison begins after the pull before this one. */
async function pullFirst(out: string, from: string, fromKey: string | undefined): Promise<void> {
  if (fromKey === undefined)
    throw new CliError("--from needs an API key: set STANDIN_FROM_KEY or give --from-key", true);
  await interruptible((signal) => pullIntoFile({ from, fromKey, out }, signal));
}

async function write(out: string, agreement: Agreement, account: string): Promise<void> {
  const text = /\.html?$/i.test(out)
    ? (await import("../shadow/agreement-page.ts")).agreementPage(agreement, account)
    : `${JSON.stringify(agreement, undefined, 2)}\n`;
  try {
    writeFileSync(out, text);
  } catch (error) {
    throw new CliError(`--out ${out}: ${writeProblem(error)}`);
  }
}
