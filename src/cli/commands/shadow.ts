import { existsSync, writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import { openAccountFile } from "../../account/account-file.ts";
import {
  countHoursSince,
  previousPullAt,
  readActivity,
  readTimedOperations,
} from "../../account/account-reader.ts";
import { isoInstant } from "../../kernel/calendar.ts";
import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import { DEFAULT_PROFILE, PROFILES } from "../../platform/catalog/defaults-and-limits.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { pullIntoFile } from "../account/pull-into-file.ts";
import { parseApiUrl } from "../client/api-access.ts";
import { type AgreementSummary, agreementSummary, type CheckResult } from "../shadow/agreement.ts";
import { compareFailures, type ExpectedFailures } from "../shadow/compare-failures.ts";
import { compareLocks } from "../shadow/compare-locks.ts";
import {
  compareDurations,
  compareNames,
  compareOrder,
  compareSuspends,
  type ExpectedDurations,
} from "../shadow/compare-operations.ts";
import { CliError } from "../terminal/cli-error.ts";
import { fileProblem } from "../terminal/file-problem.ts";
import { interruptible } from "../terminal/interrupt.ts";
import {
  integerParser,
  parseDurationOption,
  parseInstantOption,
  secretParser,
} from "../terminal/option-parsers.ts";
import { envOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
import { isProfileName, readProfileFile } from "../terminal/profile-option.ts";
import { formatTable } from "../terminal/text-table.ts";
import { openAccount } from "../whatif/account-input.ts";

type ShadowOptions = {
  from?: string;
  fromKey?: string;
  profile: string;
  since?: SimTime;
  tolerance: number;
  suspendTolerance: DurationMs;
  out?: string;
  json?: boolean;
};

const MAX_TOLERANCE = 1_000_000;
/** Surprises that are listed; all are in the JSON. */
const SHOWN_SURPRISES = 20;

export function shadowCommand(): Command {
  return new Command("shadow")
    .description("compare what the computes of an account did with what the rules of standin say")
    .argument("<file>", "file of standin account pull")
    .option(
      "--from <url>",
      "first pull what is new from this API, with GET requests only; ends in /api/v2",
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
        "compare what happened from then on (default: since the pull before the last one)",
      ).argParser(parseInstantOption),
    )
    .addOption(
      new Option("--tolerance <n>", "number of surprises that still agree")
        .argParser(integerParser(0, MAX_TOLERANCE))
        .default(0),
    )
    .addOption(
      new Option("--suspend-tolerance <duration>", "how much later a compute may suspend")
        .argParser(parseDurationOption)
        .default(SECOND, "1s"),
    )
    .addOption(new Option("--out <file>", "write the agreement to this file as JSON"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Without --from it sends nothing, and compares what standin account pull has read.
With --from, it reads what is new first, as that command does. A surprise names the operation, the rule and its evidence.

Exit status: 0 the account agrees, 1 more surprises than --tolerance, 2 usage error.

Examples:
  $ standin account pull --from https://console.example.com/api/v2 --out shop.standin-account
  $ standin shadow shop.standin-account --profile shop.profile.yaml --out agreement.json
  $ standin shadow shop.standin-account --from https://console.example.com/api/v2`,
    )
    .action(shadow);
}

async function shadow(path: string, options: ShadowOptions): Promise<void> {
  if (options.from !== undefined) await pullFirst(path, options.from, options.fromKey);
  const { expected, failures, defaultDelayS } = await expectedOf(options.profile);
  const { fleet, summary } = openAccount(path, defaultDelayS);
  const database = openAccountFile(path, "read");
  let results: readonly CheckResult[];
  let since: SimTime;
  try {
    since = options.since ?? previousPullAt(database) ?? 0;
    const operations = [...readTimedOperations(database)];
    const recent = operations.filter(({ created_at }) => created_at >= since);
    const order = compareOrder(operations);
    results = [
      compareSuspends(
        readActivity(database).filter(({ seen_at }) => seen_at >= since),
        operations,
        defaultDelayS,
        options.suspendTolerance,
      ),
      compareDurations(recent, expected),
      compareFailures(recent, failures),
      compareLocks(recent),
      {
        ...order,
        compared: recent.filter(({ endpoint }) => endpoint !== null).length,
        surprises: order.surprises.filter(({ at }) => at >= since),
      },
      ...compareNames(recent),
      {
        check: "consumption",
        compared: countHoursSince(database, since),
        skipped: 0,
        surprises: fleet.reconciliation.different
          .filter(({ startAt }) => startAt >= since)
          .map(({ project, startAt, activeS, byOperationsS }) => ({
            ...{ check: "consumption", project, compute: null, operation: null, at: startAt },
            text: `${activeS} s metered, ${Math.round(byOperationsS)} s by operations`,
          })),
      },
    ];
  } finally {
    database.close();
  }
  const agreement = {
    version: 1,
    ...{ api: summary.api, since: isoInstant(since), until: isoInstant(summary.lastPullAt) },
    profile: options.profile,
    ...agreementSummary(results, options.tolerance),
  };
  if (options.out !== undefined) write(options.out, `${JSON.stringify(agreement, undefined, 2)}\n`);
  if (options.json === true) print(`${JSON.stringify(agreement)}\n`);
  else print(reportOf(agreement, path));
  if (!agreement.agrees) process.exitCode = 1;
}

/** The comparison begins after the pull before this one. */
async function pullFirst(out: string, from: string, fromKey: string | undefined): Promise<void> {
  if (fromKey === undefined)
    throw new CliError("--from needs an API key: set STANDIN_FROM_KEY or give --from-key", true);
  if (!existsSync(out)) throw new CliError(`${out} does not exist; create it with: standin account pull`);
  await interruptible((signal) => pullIntoFile({ from, fromKey, out }, signal));
}

type Expected = {
  readonly expected: ExpectedDurations;
  readonly failures: ExpectedFailures;
  readonly defaultDelayS: number;
};

async function expectedOf(text: string): Promise<Expected> {
  if (isProfileName(text)) {
    const { variedDurations: durations, suspendTimeout } = PROFILES[text];
    return {
      ...{ expected: { durations, counts: {} }, failures: { shares: {}, counts: {} } },
      defaultDelayS: suspendTimeout.defaultS,
    };
  }
  const { parseProfileFile } = await import("../../app/profile-file.ts");
  const file = readProfileFile(text, parseProfileFile);
  const { like, durations, counts, suspend_timeout_s, failures = {} } = file;
  const { variedDurations, suspendTimeout } = PROFILES[like];
  return {
    expected: { durations: { ...variedDurations, ...durations }, counts },
    failures: {
      shares: Object.fromEntries(Object.entries(failures).map(([action, { share }]) => [action, share])),
      counts,
    },
    defaultDelayS: suspend_timeout_s?.default ?? suspendTimeout.defaultS,
  };
}

type Agreement = AgreementSummary & { readonly since: string; readonly until: string };

function reportOf({ agrees, checks, surprises, tolerance, since, until }: Agreement, path: string): string {
  const total = surprises.length;
  const rows = checks.map(({ check, compared, skipped, surprises: own, differences_ms: differences }) => [
    ...[check, String(compared), String(skipped), String(own)],
    differences === null
      ? ""
      : `${differences.least} to ${differences.most} ms, median ${differences.median} ms`,
  ]);
  const shown = surprises
    .slice(0, SHOWN_SURPRISES)
    .map(({ at, check, rule, evidence, text, compute, operation }) =>
      [
        `${at} ${[compute, operation && `operation ${operation}`].filter(Boolean).join(", ") || check}: ${text}`,
        `  rule (${evidence}): ${rule}`,
      ].join("\n"),
    );
  return [
    `${path}: ${since} to ${until}`,
    agrees
      ? `Agrees with the rules: ${plural(total, "surprise")}.`
      : `Differs from the rules: ${plural(total, "surprise")}, ${tolerance} tolerated.`,
    "",
    formatTable(["CHECK", "COMPARED", "SKIPPED", "SURPRISES", "DIFFERENCES"], rows),
    ...(shown.length === 0 ? [] : ["", ...shown]),
    ...(total > SHOWN_SURPRISES ? [`and ${total - SHOWN_SURPRISES} more: see --json`] : []),
    "",
  ].join("\n");
}

function write(out: string, text: string): void {
  try {
    writeFileSync(out, text);
  } catch (error) {
    throw new CliError(`--out ${out}: ${fileProblem(error)}`);
  }
}
