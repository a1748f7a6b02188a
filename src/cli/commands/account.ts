import { Command, Option } from "commander";
import { ACCOUNT_SUFFIX } from "../../account/account-file.ts";
import { CALLS_AT_ONCE } from "../../account/pull.ts";
import { isoInstant } from "../../kernel/calendar.ts";
import { parseDuration } from "../../kernel/time.ts";
import { DEFAULT_PROFILE, PROFILES } from "../../platform/catalog/defaults-and-limits.ts";
import { amount, plural } from "../../whatif/units/number-format.ts";
import { arrivalsCommand } from "../account/arrivals-command.ts";
import { calibrateCommand } from "../account/calibrate-command.ts";
import { type PullSince, pullIntoFile } from "../account/pull-into-file.ts";
import { parseApiUrl } from "../client/api-access.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { parseInstantOption, secretParser } from "../terminal/option-parsers.ts";
import { envOption, jsonOption, RepeatableOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
import { formatTable } from "../terminal/text-table.ts";
import { openAccount } from "../whatif/account-input.ts";

type PullOptions = {
  from: string;
  fromKey: string;
  out: string;
  since?: PullSince;
  project?: string[];
  org?: string;
  redactNames?: boolean;
  json?: boolean;
};

/** Hours that are listed; all are in the JSON. */
const SHOWN_HOURS = 10;

export function accountCommand(): Command {
  return new Command("account")
    .addCommand(pullCommand())
    .addCommand(showCommand())
    .addCommand(calibrateCommand())
    .addCommand(arrivalsCommand())
    .addHelpText(
      "after",
      `
Examples:
  $ export STANDIN_FROM_KEY=…
  $ standin account pull --from https://console.example.com/api/v2 --out shop.standin-account
  $ standin account show shop.standin-account
  $ standin whatif curve shop.standin-account
  $ standin account calibrate shop.standin-account --out shop.profile.yaml
  $ standin account arrivals shop.standin-account --out shop.ndjson`,
    );
}

function pullCommand(): Command {
  return new Command("pull")
    .description("read the history of an account's computes from an API, with GET requests only")
    .requiredOption("--from <url>", "base URL of the API to read from; ends in /api/v2", (text) =>
      parseApiUrl("--from", text),
    )
    .addOption(
      envOption("--from-key <key>", "API key for --from; prefer the environment variable")
        .argParser(secretParser("--from-key or STANDIN_FROM_KEY"))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--out <file>", `file to create or to continue; ends in ${ACCOUNT_SUFFIX}`)
        .argParser(parseOut)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        "--since <instant or duration>",
        "oldest operation to read, such as 2026-01-31T12:00:00Z, or 90d before the time of the server (default: the oldest that the platform has)",
      ).argParser(parseSince),
    )
    .addOption(
      new RepeatableOption("--project <id>", "read only this project; repeatable").argParser(
        (id: string, previous: readonly string[] | undefined) => [...(previous ?? []), id],
      ),
    )
    .addOption(new Option("--org <id>", "read only the projects of this organization").conflicts("project"))
    .addOption(new Option("--redact-names", "store project-1, project-2 and so on instead of names"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The file has no key, password, email or connection string. An interrupted pull
keeps what it has read, and the next one continues. Later pulls add only what is
new, so a nightly job records more than the platform keeps. At most ${CALLS_AT_ONCE} calls run
at once; after a 429, a call waits as Retry-After says.

Examples:
  $ export STANDIN_FROM_KEY=…
  $ standin account pull --from https://console.example.com/api/v2 --out shop.standin-account
  $ standin account pull --from http://127.0.0.1:4400/api/v2 --out shop.standin-account --redact-names`,
    )
    .action((options: PullOptions) => interruptible((signal) => pull(options, signal)));
}

async function pull(options: PullOptions, signal: AbortSignal): Promise<void> {
  const report = await pullIntoFile(options, signal);
  if (options.json === true) print(`${JSON.stringify(report)}\n`);
  else
    print(
      `${options.out}: ${plural(report.operations, "new operation")} of ${plural(report.projects, "project")}, ${plural(report.calls, "call")}\n`,
    );
}

function parseSince(text: string): PullSince {
  const agoMs = parseDuration(text);
  return agoMs === undefined ? { at: parseInstantOption(text) } : { agoMs };
}

function parseOut(path: string): string {
  if (path.endsWith(ACCOUNT_SUFFIX)) return path;
  throw new CliError(
    `--out ${path}: must end in ${ACCOUNT_SUFFIX}, so that the what-if commands know the file`,
    true,
  );
}

function showCommand(): Command {
  return new Command("show")
    .description("print a summary of a file of account pull, and compare it with the metered time")
    .argument("<file>", "file of standin account pull")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  $ standin account show shop.standin-account`,
    )
    .action((file: string, { json }: { json?: boolean }) => show(file, json === true));
}

function show(file: string, isJson: boolean): void {
  const { fleet, summary } = openAccount(file, PROFILES[DEFAULT_PROFILE].suspendTimeout.defaultS);
  const { computes, reconciliation } = fleet;
  if (isJson) {
    const details = computes.map(({ id, project, periods, unused, delay, cu }) => ({
      ...{ id, project, delay_s: delay ?? null, cu, periods: periods.length },
      ...{ begins_unknown: unused.beginsUnknown, ends_unknown: unused.endsUnknown, failed: unused.failed },
    }));
    print(`${JSON.stringify({ ...summary, computes: details, reconciliation })}\n`);
    return;
  }
  const { meteredS, byOperationsS, different, frames } = reconciliation;
  const periods = computes.reduce((sum, compute) => sum + compute.periods.length, 0);
  print(
    [
      `${file}: read from ${summary.api}, last at ${isoInstant(summary.lastPullAt)}, ${plural(summary.pulls, "pull")}`,
      `${plural(summary.projects, "project")}, ${plural(computes.length, "compute")}, ${plural(fleet.operations, "operation")}, ${plural(periods, "active period")} since ${isoInstant(fleet.startAt)}`,
      ...(summary.incomplete === 0
        ? []
        : [`${plural(summary.incomplete, "project")} not read to the end: run standin account pull again`]),
      frames === 0
        ? "No hourly consumption."
        : `Active by operations ${amount(byOperationsS / 3_600)} h, metered ${amount(meteredS / 3_600)} h in ${plural(frames, "hour")} of projects; ${different.length === 0 ? "none differs" : `${different.length === 1 ? "1 differs" : `${different.length} differ`}; whatif curve --strict omits ${different.length === 1 ? "it" : "them"}`}.`,
      "",
    ].join("\n"),
  );
  if (different.length === 0) return;
  print(
    `${formatTable(
      ["PROJECT", "HOUR", "BY OPERATIONS", "METERED"],
      different
        .slice(0, SHOWN_HOURS)
        .map(({ project, startAt, byOperationsS: own, activeS }) => [
          ...[project, isoInstant(startAt), `${Math.round(own)} s`, `${activeS} s`],
        ]),
    )}\n`,
  );
}
