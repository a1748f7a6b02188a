import { type Command, Option } from "commander";
import type { SimTime } from "../../kernel/time.ts";
import type { Profile } from "../../platform/catalog/defaults-and-limits.ts";
import {
  DEFAULT_PRICED_PLAN,
  newestPriceList,
  PRICE_LIST_DATES,
  PRICED_PLANS,
  type PricedPlan,
  type PriceListDate,
} from "../../platform/catalog/price-lists.ts";
import type { SuspendDelay } from "../../whatif/gap-curve/delay.ts";
import {
  DEFAULTS,
  effectiveProfile,
  type Question,
  type QuestionInput,
  questionFrom,
  type WorldDefaults,
} from "../../whatif/input/question.ts";
import { fromWorldText } from "../../whatif/input/question-summary.ts";
import { DEFAULT_RESERVED_CONNECTIONS } from "../../whatif/questions/capacity/sufficient-size.ts";
import type { NamedProfile } from "../../whatif/units/prices.ts";
import type { StartLatency } from "../../whatif/units/start-latency.ts";
import { CliError } from "../terminal/cli-error.ts";
import { integerParser, parseShardOption } from "../terminal/option-parsers.ts";
import { envOption, jsonOption, runSeedOption } from "../terminal/options.ts";
import { printError } from "../terminal/print.ts";
import {
  numberAbove,
  numberAtLeast,
  parseCpuShareOption,
  parseDelayOption,
  parseLatencyOption,
  parseStartWorthOption,
  parseWholeSecondsOption,
  type StartCost,
} from "./question-values.ts";

/** Options that the what-if commands share. */
export type QuestionOptions = {
  readonly present?: SuspendDelay;
  /** A name, or the path of a file. */
  readonly profile?: string;
  /** The profile of that name or file, which is read before the traces. */
  readonly givenProfile?: NamedProfile;
  readonly plan?: PricedPlan;
  readonly price?: number;
  readonly prices?: PriceListDate;
  readonly pricePlan?: PricedPlan;
  readonly cu?: number;
  /** Seconds of active time, or dollars. */
  readonly coldStartWorth?: number | StartCost;
  readonly waitWorth?: number;
  readonly startLatency?: StartLatency;
  readonly cpuShare?: number;
  readonly ignoreWaitsOf?: readonly string[];
  readonly seed: number;
};

export type OutputOptions = { readonly json?: boolean; readonly out?: string };
export type PeriodOptions = { readonly from?: SimTime; readonly to?: SimTime };

const MAX_WORKERS = 64;
/** Forms of an autosuspend delay, for help texts. */
export const DELAY_FORMS = "300 (seconds), 5m or never";

/** `excluded`: options that have no effect on the results of this command. */
export function addQuestionOptions(
  command: Command,
  excluded: readonly (keyof QuestionOptions)[] = [],
): Command {
  const options = [
    new Option(
      "--present <delay>",
      `current autosuspend delay: ${DELAY_FORMS} (default: those of the world, or 5m)`,
    ).argParser(parseDelayOption),
    // No environment variable: STANDIN_PROFILE applies to worlds that `serve` creates; an existing world has
    // its own.
    new Option(
      "--profile <name|file>",
      `platform profile: start latency, default delay and limits (default: that of the world, or ${DEFAULTS.profile})`,
    ),
    planOption(),
    new Option("--price <dollars>", "price per CU-hour (default: that of --prices)")
      .argParser(numberAtLeast(0))
      .conflicts(["prices", "pricePlan"]),
    ...priceListOptions(),
    cuOption(),
    coldStartOrDollarsOption(),
    waitWorthOption(),
    new Option(
      "--start-latency <duration>",
      "time that a suspended compute needs to start: 500ms, 500 (milliseconds), 1s..5s, 3s~0.5 or measured (default: that of the world, or of the profile)",
    ).argParser(parseLatencyOption),
    seedOption(),
  ];
  for (const one of options)
    if (!excluded.some((name) => name === one.attributeName())) command.addOption(one);
  return command.hook("preAction", readGivenProfile);
}

async function readGivenProfile(command: Command): Promise<void> {
  const { profile } = command.opts<QuestionOptions>();
  if (profile === undefined) return;
  const { readProfile } = await import("./profile-file.ts");
  command.setOptionValue("givenProfile" satisfies keyof QuestionOptions, readProfile(profile));
}

function planOption(): Option {
  return new Option(
    "--plan <name>",
    `current plan, which determines the price and the delays that can be set (default: ${DEFAULT_PRICED_PLAN})`,
  ).choices(PRICED_PLANS);
}

export function priceListOptions(): readonly Option[] {
  return [
    new Option(
      "--prices <date>",
      `price list of this date (default: the price of a profile file, or the newest list, ${newestPriceList().date})`,
    ).choices(PRICE_LIST_DATES),
    new Option(
      "--price-plan <plan>",
      `plan of that list (default: that of --plan, or ${DEFAULT_PRICED_PLAN})`,
    ).choices(PRICED_PLANS),
  ];
}

export function cuOption(): Option {
  return new Option(
    "--cu <size>",
    `size of each compute in CU (default: those of the world, or ${DEFAULTS.cu})`,
  ).argParser(numberAbove(0));
}

/** For commands that know no waits: a worth in dollars would have no effect. */
export function coldStartWorthOption(): Option {
  return new Option(
    "--cold-start-worth <duration>",
    "active time that avoiding one cold start is worth: 120 (seconds) or 2m",
  )
    .argParser(parseWholeSecondsOption)
    .default(DEFAULTS.coldStartWorthS, `${DEFAULTS.coldStartWorthS}s`);
}

function coldStartOrDollarsOption(): Option {
  return new Option(
    "--cold-start-worth <worth>",
    "what avoiding one cold start is worth: active time such as 120 (seconds) or 2m, or dollars such as 0.01usd",
  )
    .argParser(parseStartWorthOption)
    .default(DEFAULTS.coldStartWorthS, `${DEFAULTS.coldStartWorthS}s`);
}

function waitWorthOption(): Option {
  return new Option(
    "--wait-worth <dollars>",
    "what avoiding one hour of waiting requests is worth, instead of --cold-start-worth",
  )
    .argParser(numberAtLeast(0))
    .conflicts("coldStartWorth");
}

export function seedOption(): Option {
  return runSeedOption("random seed").default(DEFAULTS.seed);
}

export function reservedOption(): Option {
  return new Option("--reserved <n>", "connections of max_connections that are reserved for the platform")
    .argParser(integerParser(0, 1_000))
    .default(DEFAULT_RESERVED_CONNECTIONS);
}

export function addOutputOptions(command: Command): Command {
  return command
    .addOption(jsonOption())
    .addOption(
      new Option(
        "--out <path>",
        "directory for report.html, SVG, CSV, summary.json and a manifest, or an .html file for the report alone; replaces a previous report",
      ),
    );
}

export function shardOption(): Option {
  return new Option(
    "--shard <i/n>",
    "replay only one of n parts of the computes, such as 1/3, and print it; standin whatif merge joins the parts",
  ).argParser(parseShardOption);
}

export function workersOption(): Option {
  return envOption("--workers <n>", "number of threads; does not affect the result")
    .argParser(integerParser(1, MAX_WORKERS))
    .default(1);
}

/** Builds the question from flags and the settings of the world, and prints a note about the latter. */
export function questionFromOptions(
  { coldStartWorth, waitWorth, profile: _, givenProfile: profile, ...options }: QuestionOptions,
  world: WorldDefaults | undefined,
): { readonly question: Question; readonly profile: Profile } {
  const worth =
    typeof coldStartWorth === "object"
      ? { coldStartDollars: coldStartWorth.dollars }
      : { coldStartWorthS: coldStartWorth, waitDollarsPerHour: waitWorth };
  const question = questionOrError({ ...options, profile, ...worth }, world);
  if (options.cpuShare !== undefined && question.scaling === undefined)
    throw new CliError(
      "--cpu-share: no size follows the load here; it needs a world with a compute that autoscales, and no --cu",
      true,
    );
  const note = fromWorldText(question);
  if (note !== undefined) printError(`note: ${note}\n`);
  return { question, profile: effectiveProfile(profile, world).profile };
}

function questionOrError(input: QuestionInput, world: WorldDefaults | undefined): Question {
  try {
    return questionFrom(input, world);
  } catch (error) {
    if (error instanceof RangeError) throw new CliError(error.message, true);
    throw error;
  }
}

/** `fallback`: undefined for commands that assume no load. */
export function loadPerRequestOption(fallback?: number): Option {
  const option = new Option(
    "--load-per-request <vcpu>",
    `vCPUs that a running request uses${fallback === undefined ? ", where the input states no loads: sizes are compared with it (default: sizes are compared only if a world states loads)" : ""}`,
  ).argParser(numberAbove(0));
  return fallback === undefined ? option : option.default(fallback);
}

export function cpuShareOption(): Option {
  return new Option(
    "--cpu-share <share>",
    "share of a request's duration in which it keeps its vCPUs busy; during the rest it waits, for example for a lock: 50% or 0.5 (default: 100%)",
  ).argParser(parseCpuShareOption);
}
