import { closeSync, openSync, writeSync } from "node:fs";
import { Command, Option } from "commander";
import { DEFAULT_PROFILE, PROFILES } from "../../platform/catalog/defaults-and-limits.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { type ComputePast, readAccountPast } from "../recorded-past/account-past.ts";
import { recordedRequests } from "../recorded-past/recorded-requests.ts";
import { CliError } from "../terminal/cli-error.ts";
import { writeProblem } from "../terminal/file-problem.ts";
import { jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
import { readWorldProfile } from "../terminal/profile-option.ts";

type ArrivalsOptions = { out: string; profile: string; force?: boolean; json?: boolean };

const SUFFIX = ".ndjson";

export function arrivalsCommand(): Command {
  return new Command("arrivals")
    .description("write the requests that would cause the recorded starts and suspends, as recorded traffic")
    .argument("<file>", "file of standin account pull")
    .addOption(
      new Option("--out <file>", `recording to create; ends in ${SUFFIX}`)
        .argParser(parseOut)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        "--profile <profile>",
        "profile with the default delay: 2024, 2026, or a file of standin account calibrate",
      ).default(DEFAULT_PROFILE),
    )
    .addOption(new Option("--force", "replace the recording if it exists"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Each period has a request that starts the compute, and one that lasts until the last
use that its delay allows. Those in between are not known. Suspends, restarts and
changes by API calls are not part of it.

standin activity --file sends it to a world of standin mirror --history, or to a
fork of one. Scenarios replay it.

Examples:
  $ standin account arrivals shop.standin-account --out shop.ndjson
  $ standin activity --file shop.ndjson --world tuesday`,
    )
    .action(writeArrivals);
}

function parseOut(path: string): string {
  if (path.endsWith(SUFFIX)) return path;
  throw new CliError(`--out ${path}: must end in ${SUFFIX}`, true);
}

async function writeArrivals(file: string, { out, profile, force, json }: ArrivalsOptions): Promise<void> {
  const { defaultS } = PROFILES[(await readWorldProfile(profile)).profile].suspendTimeout;
  const computes = readAccountPast(file).projects.flatMap((project) => project.computes);
  let counts: { arrivals: number; computes: number };
  try {
    counts = writeLines(out, force === true ? "w" : "wx", computes, defaultS);
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw new CliError(`--out ${out}: ${exists ? "exists; replace it with --force" : writeProblem(error)}`);
  }
  print(
    json === true
      ? `${JSON.stringify({ file, out, ...counts })}\n`
      : `wrote ${out}: ${plural(counts.arrivals, "arrival")} of ${plural(counts.computes, "compute")}\n`,
  );
}

/** One compute after the other. */
function writeLines(out: string, flags: "w" | "wx", computes: readonly ComputePast[], defaultDelayS: number) {
  const target = openSync(out, flags);
  try {
    const counts = { arrivals: 0, computes: 0 };
    for (const compute of computes) {
      const lines = [...recordedRequests(compute, defaultDelayS)].map(
        (request) => `${JSON.stringify(request)}\n`,
      );
      if (lines.length === 0) continue;
      counts.arrivals += lines.length;
      counts.computes += 1;
      writeSync(target, lines.join(""));
    }
    return counts;
  } finally {
    closeSync(target);
  }
}
