import { type Command, InvalidArgumentError, Option } from "commander";
import { PROFILES, type ProfileName } from "../../platform/catalog/profile.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { SuspendDelay } from "../../whatif/curve/curve.ts";
import type { StartLatency } from "../../whatif/replay/start-latency.ts";
import {
  DEFAULTS,
  DELAY_RULE,
  fromWorldText,
  LATENCY_RULE,
  parseDelay,
  parseLatency,
  parseWorth,
  type Question,
  questionFrom,
  WORTH_RULE,
  type WorldDefaults,
} from "../../whatif/report/question.ts";
import { envOption, integerParser, jsonOption } from "../terminal/option-parsers.ts";

/** What all what-if commands ask in the same words. */
export type QuestionOptions = {
  readonly present?: SuspendDelay;
  readonly profile?: ProfileName;
  readonly price?: number;
  readonly cu?: number;
  readonly coldStartWorth?: number;
  readonly startLatency?: StartLatency;
  readonly seed: number;
};

export type OutputOptions = { readonly json?: boolean; readonly out?: string };
export type PeriodOptions = { readonly from?: SimTime; readonly to?: SimTime };

const MAX_WORKERS = 64;
/** D: connection pooling, seven are kept for the platform's own role. The reference says nothing of it, so for profile 2024 this is A. */
const DEFAULT_RESERVED_CONNECTIONS = 7;

/** `without`: what changes nothing in the answers of this command. */
export function addQuestionOptions(
  command: Command,
  excluded: readonly (keyof QuestionOptions)[] = [],
): Command {
  const options = [
    new Option(
      "--present <delay>",
      "the delay that is set now: 300 (a bare number is seconds), 5m, never (default: those of the world, or 5m)",
    ).argParser(parseDelayOption),
    // Of no environment: STANDIN_PROFILE is that of the worlds that `serve` makes, and a world is asked as it is.
    new Option(
      "--profile <name>",
      `whose prices and start latency (default: that of the world, or ${DEFAULTS.profile})`,
    ).choices(Object.keys(PROFILES)),
    new Option(
      "--price <dollars>",
      "per CU-hour (default: that of the profile's paid plan, where it has one)",
    ).argParser(numberAtLeast(0)),
    cuOption(),
    coldStartWorthOption(),
    new Option(
      "--start-latency <time>",
      "how long a start takes: 0, 500ms (a bare number is milliseconds), 1s..5s, 3s~0.5 or measured (default: that of the world, or of the profile)",
    ).argParser(parseLatencyOption),
    seedOption(),
  ];
  for (const one of options)
    if (!excluded.some((name) => name === one.attributeName())) command.addOption(one);
  return command;
}

export function cuOption(): Option {
  return new Option(
    "--cu <size>",
    `CU of each compute while it is active (default: those of the world, or ${DEFAULTS.cu})`,
  ).argParser(numberAbove(0));
}

export function coldStartWorthOption(): Option {
  return new Option(
    "--cold-start-worth <duration>",
    "what you would pay in active time to avoid one cold start: 120 (a bare number is seconds), 2m",
  )
    .argParser(parseWholeSecondsOption)
    .default(DEFAULTS.coldStartWorthS, `${DEFAULTS.coldStartWorthS}s`);
}

export function seedOption(): Option {
  return new Option("--seed <n>", "chance is drawn from this")
    .argParser(integerParser(0, 2 ** 32 - 1))
    .default(DEFAULTS.seed);
}

export function reservedOption(): Option {
  return new Option("--reserved <n>", "of max_connections, those that the platform keeps for itself")
    .argParser(integerParser(0, 1_000))
    .default(DEFAULT_RESERVED_CONNECTIONS);
}

export function addOutputOptions(command: Command): Command {
  return command
    .addOption(jsonOption())
    .addOption(
      new Option(
        "--out <dir>",
        "write report.html, SVGs, summary.json, CSV and a manifest there, in the place of the report that is there",
      ),
    );
}

export function workersOption(): Option {
  return envOption("--workers <n>", "work in so many threads; the answer is the same")
    .argParser(integerParser(1, MAX_WORKERS))
    .default(1);
}

/** The question that the flags put; what they leave open is as the world has it, and told. */
export function questionFromOptions(
  { coldStartWorth, ...options }: QuestionOptions,
  world: WorldDefaults | undefined,
): Question {
  const question = questionFrom({ ...options, coldStartWorthS: coldStartWorth }, world);
  const note = fromWorldText(question);
  if (note !== undefined) process.stderr.write(`note: ${note}\n`);
  return question;
}

/** Whole seconds, `5m`, `never`. */
export function parseDelayOption(text: string): SuspendDelay {
  const parsed = parseDelay(text);
  if (parsed !== undefined) return parsed;
  throw new InvalidArgumentError(`It ${DELAY_RULE}.`);
}

/** The same, again and again. */
export function addDelayOption(
  text: string,
  previous: readonly SuspendDelay[] | undefined,
): readonly SuspendDelay[] {
  return [...new Set([...(previous ?? []), parseDelayOption(text)])];
}

export function numberAbove(minimum: number) {
  return (text: string): number => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isFinite(value) && value > minimum) return value;
    throw new InvalidArgumentError(`It must be a number above ${minimum}.`);
  };
}

export function numberAtLeast(minimum: number) {
  return (text: string): number => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isFinite(value) && value >= minimum) return value;
    throw new InvalidArgumentError(`It must be a number, at least ${minimum}.`);
  };
}

function parseWholeSecondsOption(text: string): number {
  const seconds = parseWorth(text);
  if (seconds !== undefined) return seconds;
  throw new InvalidArgumentError(`It ${WORTH_RULE}.`);
}

/** How long a start takes. */
export function parseLatencyOption(text: string): StartLatency {
  const parsed = parseLatency(text);
  if (parsed !== undefined) return parsed;
  throw new InvalidArgumentError(`It ${LATENCY_RULE}.`);
}
