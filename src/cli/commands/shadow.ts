import { writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import { openAccountFile } from "../../account/account-file.ts";
import {
  previousPullAt,
  readActivity,
  readConsumptionRows,
  readTimedOperations,
} from "../../account/account-reader.ts";
import { isoInstant } from "../../kernel/calendar.ts";
import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import { DEFAULT_PROFILE, PROFILES } from "../../platform/catalog/defaults-and-limits.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { type AgreementSummary, agreementSummary, type CheckResult } from "../shadow/agreement.ts";
import {
  compareDurations,
  compareNames,
  compareOrder,
  compareSuspends,
  type ExpectedDurations,
} from "../shadow/compare-operations.ts";
import { CliError } from "../terminal/cli-error.ts";
import { fileProblem } from "../terminal/file-problem.ts";
import { integerParser, parseDurationOption, parseInstantOption } from "../terminal/option-parsers.ts";
import { jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
import { isProfileName, readProfileFile } from "../terminal/profile-option.ts";
import { formatTable } from "../terminal/text-table.ts";
import { openAccount } from "../whatif/account-input.ts";

type ShadowOptions = {
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
Sends nothing: standin account pull reads the account, and this command compares
the file. A surprise names the operation, the rule and its evidence.

Exit status: 0 the account agrees, 1 more surprises than --tolerance, 2 usage error.

Examples:
  $ standin account pull --from https://console.example.com/api/v2 --out shop.standin-account
  $ standin shadow shop.standin-account --profile shop.profile.yaml --out agreement.json`,
    )
    .action(shadow);
}

async function shadow(path: string, options: ShadowOptions): Promise<void> {
  const { expected, defaultDelayS } = await expectedOf(options.profile);
  const { fleet, summary } = openAccount(path, defaultDelayS);
  const database = openAccountFile(path, "read");
  let results: readonly CheckResult[];
  let since: SimTime;
  try {
    since = options.since ?? previousPullAt(database) ?? 0;
    const operations = [...readTimedOperations(database)];
    const recent = operations.filter(({ created_at }) => created_at >= since);
    const hours = readConsumptionRows(database).filter(
      ({ granularity, start_at }) => granularity === "hourly" && start_at >= since,
    );
    const order = compareOrder(operations);
    results = [
      compareSuspends(
        readActivity(database).filter(({ seen_at }) => seen_at >= since),
        operations,
        defaultDelayS,
        options.suspendTolerance,
      ),
      compareDurations(recent, expected),
      {
        ...order,
        compared: recent.filter(({ endpoint }) => endpoint !== null).length,
        surprises: order.surprises.filter(({ at }) => at >= since),
      },
      ...compareNames(recent),
      {
        check: "consumption",
        compared: hours.length,
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

async function expectedOf(
  text: string,
): Promise<{ readonly expected: ExpectedDurations; readonly defaultDelayS: number }> {
  if (isProfileName(text)) {
    const { variedDurations: durations, suspendTimeout } = PROFILES[text];
    return { expected: { durations, counts: {} }, defaultDelayS: suspendTimeout.defaultS };
  }
  const { parseProfileFile } = await import("../../app/profile-file.ts");
  const { like, durations, counts, suspend_timeout_s } = readProfileFile(text, parseProfileFile);
  const { variedDurations, suspendTimeout } = PROFILES[like];
  return {
    expected: { durations: { ...variedDurations, ...durations }, counts },
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
