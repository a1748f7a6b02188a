import { Command, InvalidArgumentError, Option } from "commander";
import { DAY, type SimTime } from "../../../kernel/time.ts";
import { FLEET_PATTERNS, type FleetPattern, fleetTraffic } from "../../../whatif/trace/fleet-traffic.ts";
import type { Traffic } from "../../../whatif/trace/traffic.ts";
import { plural } from "../../../whatif/units/number-format.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { newFilePathInExistingDirectory } from "../../terminal/new-file.ts";
import { integerParser, parseInstantOption } from "../../terminal/option-parsers.ts";
import { jsonOption, RepeatableOption, runSeedOption } from "../../terminal/options.ts";
import { print } from "../../terminal/print.ts";
import { expectedOneOf } from "../../terminal/usage-errors.ts";
import { TRACE_SUFFIX, writeTraffic } from "../../whatif/trace-files.ts";

type FleetCommandOptions = {
  readonly computes: number;
  readonly days: number;
  readonly seed: number;
  readonly start: SimTime;
  readonly pattern?: readonly FleetPattern[];
  readonly out: string;
  readonly json?: boolean;
};

const MAX_COMPUTES = 1_000_000;
const MAX_DAYS = 3_650;
/** A Monday. */
const DEFAULT_START = Date.UTC(2026, 0, 5);

export function fleetCommand(): Command {
  return new Command("fleet")
    .description("generate a synthetic trace of a fleet, to try standin without data of your own")
    .addOption(
      new Option("--computes <n>", "number of computes")
        .argParser(integerParser(1, MAX_COMPUTES))
        .default(100),
    )
    .addOption(new Option("--days <n>", "number of days").argParser(integerParser(1, MAX_DAYS)).default(7))
    .addOption(runSeedOption("random seed; the same seed generates the same trace").default(1))
    .addOption(
      new Option("--start <instant>", "start of the trace")
        .argParser(parseInstantOption)
        .default(DEFAULT_START, new Date(DEFAULT_START).toISOString()),
    )
    .addOption(
      new RepeatableOption(
        "--pattern <name>",
        "traffic pattern of every compute; repeatable, see below (default: azure)",
      ).argParser(addPattern),
    )
    .requiredOption("--out <file>", `trace file to create, ending in .csv or ${TRACE_SUFFIX}`)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Patterns. With several, every compute has all of them, each as its own source:
${Object.entries(FLEET_PATTERNS)
  .map(([name, { meaning }]) => `  ${name.padEnd(14)} ${meaning}`)
  .join("\n")}

Examples:
  $ standin whatif fleet --computes 200 --days 7 --seed 1 --out fleet.csv
  $ standin whatif fleet --computes 12 --days 28 --pattern office-hours --pattern health-check --out shop.csv`,
    )
    .action((options: FleetCommandOptions) => interruptible((signal) => writeFleet(options, signal)));
}

async function writeFleet(options: FleetCommandOptions, signal: AbortSignal): Promise<void> {
  const { computes, days, seed, start, pattern = ["azure"], out, json } = options;
  if (!out.endsWith(".csv") && !out.endsWith(TRACE_SUFFIX))
    throw new CliError(`--out ${out}: the name must end in .csv or ${TRACE_SUFFIX}`, true);
  newFilePathInExistingDirectory(out);
  const traffic: Traffic = fleetTraffic({
    computes,
    seed,
    patterns: pattern,
    period: { startAt: start, endAt: start + days * DAY },
  });
  const { computesUsed, requests } = await writeTraffic(traffic, out, `fleet of seed ${seed}`, signal);
  if (json === true) {
    print(`${JSON.stringify({ file: out, computes, computes_used: computesUsed, requests }, null, 2)}\n`);
    return;
  }
  const used = computesUsed === computes ? "" : `${computesUsed.toLocaleString("en")} of `;
  print(`${out}: ${plural(requests, "request")} to ${used}${plural(computes, "compute")}\n`);
}

function addPattern(text: string, previous: readonly FleetPattern[] | undefined): readonly FleetPattern[] {
  const known = Object.keys(FLEET_PATTERNS).find((name) => name === text) as FleetPattern | undefined;
  if (known !== undefined) return [...(previous ?? []), known];
  throw new InvalidArgumentError(expectedOneOf(Object.keys(FLEET_PATTERNS), text));
}
