import { writeFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { Command, Option } from "commander";
import { ACCOUNT_SUFFIX, openAccountFile } from "../../account/account-file.ts";
import {
  accountSummary,
  readDelays,
  readPlanRow,
  readTimedOperations,
} from "../../account/account-reader.ts";
import { LEAST_OBSERVATIONS, type ObservedAction, observeActions } from "../../account/observed-actions.ts";
import { isoInstant } from "../../kernel/calendar.ts";
import { quantileMs } from "../../kernel/distribution.ts";
import {
  DEFAULT_PROFILE,
  PROFILE_NAMES,
  type ProfileName,
} from "../../platform/catalog/defaults-and-limits.ts";
import { millisText } from "../../whatif/units/number-format.ts";
import { CliError } from "../terminal/cli-error.ts";
import { writeProblem } from "../terminal/file-problem.ts";
import { jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
import { formatTable } from "../terminal/text-table.ts";
import { calibratedProfile, isKnown, profileText } from "./calibrated-profile.ts";

type CalibrateOptions = { out: string; like: ProfileName; name?: string; force?: boolean; json?: boolean };

const FORMATS: Readonly<Record<string, "yaml" | "json">> = {
  ".yaml": "yaml",
  ".yml": "yaml",
  ".json": "json",
};
/** The longest name of a profile. */
const MAX_NAME = 64;

export function calibrateCommand(): Command {
  return new Command("calibrate")
    .description("write a profile with the durations and failure rates of an account's operations")
    .argument("<file>", "file of standin account pull")
    .addOption(
      new Option("--out <file>", "profile file to create; ends in .yaml, .yml or .json")
        .argParser(parseOut)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--like <year>", "profile of all figures that the account does not show")
        .choices(PROFILE_NAMES)
        .default(DEFAULT_PROFILE),
    )
    .addOption(
      new Option("--name <name>", "name of the profile (default: from the name of the file)").argParser(
        parseName,
      ),
    )
    .addOption(new Option("--force", "replace the profile file if it exists"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The profile has the distribution of the durations and the share of failures of
each action, and what the plan allows. Each figure says its count and period. An
action with fewer than ${LEAST_OBSERVATIONS} durations gets those of --like.

serve, run, createStandin and the what-if commands read the file with --profile.

Examples:
  $ standin account calibrate shop.standin-account --out shop.profile.yaml
  $ standin serve --profile shop.profile.yaml`,
    )
    .action(calibrate);
}

function calibrate(path: string, { out, like, name, force, json }: CalibrateOptions): void {
  const database = openAccountFile(path, "read");
  try {
    const summary = accountSummary(database);
    const observed = observeActions(readTimedOperations(database));
    if (summary === undefined || observed.length === 0)
      throw new CliError(`${path}: contains no operation that has ended; run standin account pull first`);
    const profile = calibratedProfile(observed, {
      name: name ?? basename(path, ACCOUNT_SUFFIX).slice(0, MAX_NAME),
      like,
      origin: `${basename(path)}, read from ${summary.api}, last on ${isoInstant(summary.lastPullAt)}`,
      plan: readPlanRow(database),
      delaysS: readDelays(database),
    });
    write(out, profileText(profile, FORMATS[extname(out)] ?? "yaml"), force === true);
    if (json === true) print(`${JSON.stringify({ out, profile, unknown_actions: unknownOf(observed) })}\n`);
    else print(reportOf(observed, out, like));
  } finally {
    database.close();
  }
}

function unknownOf(observed: readonly ObservedAction[]): readonly string[] {
  return observed.map(({ action }) => action).filter((action) => !isKnown(action));
}

function reportOf(observed: readonly ObservedAction[], out: string, like: ProfileName): string {
  const rows = observed.map(({ action, durations, quantilesMs, failed, ended }) => [
    action,
    String(durations),
    ...(quantilesMs === undefined
      ? ["-", "-"]
      : [0.5, 0.99].map((share) => millisText(Math.round(quantileMs(quantilesMs, share))))),
    `${failed} of ${ended}`,
    ...[
      isKnown(action)
        ? quantilesMs === undefined
          ? `profile ${like}`
          : "this account"
        : "left out: unknown action",
    ],
  ]);
  return [
    formatTable(["ACTION", "DURATIONS", "MEDIAN", "99 %", "FAILED", "FIGURES"], rows),
    "",
    `${out}: written. Use it with --profile ${out}`,
    "",
  ].join("\n");
}

function write(out: string, text: string, replaces: boolean): void {
  try {
    writeFileSync(out, text, { flag: replaces ? "w" : "wx" });
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw new CliError(`--out ${out}: ${exists ? "exists; replace it with --force" : writeProblem(error)}`);
  }
}

function parseOut(path: string): string {
  if (FORMATS[extname(path)] !== undefined) return path;
  throw new CliError(`--out ${path}: must end in ${Object.keys(FORMATS).join(", ")}`, true);
}

function parseName(name: string): string {
  if (name.length > 0 && name.length <= MAX_NAME) return name;
  throw new CliError(`--name: must have 1 to ${MAX_NAME} characters`, true);
}
