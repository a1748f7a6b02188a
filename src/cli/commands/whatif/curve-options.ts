import { type Command, InvalidArgumentError, Option } from "commander";
import { type ClientForm, parseClient } from "../../../whatif/coupled/client-forms.ts";
import type { SuspendDelay } from "../../../whatif/gap-curve/delay.ts";
import { type DaySpan, parseDaySpan, SPAN_RULE } from "../../../whatif/held-out/day-split.ts";
import { parseBytesOption, parseDurationOption } from "../../terminal/option-parsers.ts";
import { RepeatableOption } from "../../terminal/options.ts";
import { invalidValue } from "../../terminal/usage-errors.ts";
import { parseFromOption } from "../../whatif/databases/gap-sql-database.ts";
import type { CurveInputOptions } from "../../whatif/databases/open-curve-input.ts";
import { ignoreWaitsOption } from "../../whatif/ignore-waits-option.ts";
import {
  addQuestionOptions,
  cpuShareOption,
  DELAY_FORMS,
  type OutputOptions,
  type QuestionOptions,
  workersOption,
} from "../../whatif/question-options.ts";
import { numberAtLeast, parseDelayOption } from "../../whatif/question-values.ts";

export type CurveOptions = QuestionOptions &
  OutputOptions &
  CurveInputOptions & {
    readonly delay?: SuspendDelay;
    readonly byCompute?: boolean;
    readonly maxColdPerDay?: number;
    readonly maxWaitP99?: number;
    readonly maxCost?: number;
    readonly train?: DaySpan;
    readonly test?: DaySpan;
    readonly client?: readonly ClientForm[];
    readonly fast?: boolean;
    readonly workers: number;
  };

export function curveFromOption(): Option {
  return new RepeatableOption(
    "--from <instant or database>",
    "start of the period to analyze, inclusive; or the database that counts the gaps, see below",
  ).argParser(parseFromOption);
}

export function addCurveOptions(command: Command): void {
  addSourceOptions(addQuestionOptions(command));
  addChoiceOptions(command);
  addCheckOptions(command);
}

/** Adds the options that describe the input. */
function addSourceOptions(command: Command): void {
  command
    .addOption(
      new RepeatableOption(
        "--gaps <file>",
        "read results of the query of whatif sql instead of traces; - for stdin; repeatable",
      ).argParser((path: string, previous: readonly string[] | undefined) => [...(previous ?? []), path]),
    )
    .addOption(cpuShareOption())
    .addOption(ignoreWaitsOption().conflicts("client"))
    .addOption(new Option("--table <name>", "table of the requests in the database of --from; not quoted"))
    .addOption(
      new Option(
        "--memory <size>",
        "memory that the database of --from may use, such as 4GiB; the rest is on its disk (default: its own limit)",
      ).argParser(parseBytesOption),
    );
}

/** Adds the options that choose delays. */
function addChoiceOptions(command: Command): void {
  command
    .addOption(
      new Option("--delay <delay>", `print the figures of this delay only: ${DELAY_FORMS}`)
        .argParser(parseDelayOption)
        .conflicts(["byCompute", "maxColdPerDay", "maxWaitP99", "maxCost", "train", "test"]),
    )
    .addOption(new Option("--by-compute", "rank the computes by the gain from a delay of their own"))
    .addOption(
      new Option(
        "--max-cold-per-day <n>",
        "find the cheapest delay with at most this many cold starts per day, over all computes",
      ).argParser(numberAtLeast(0)),
    )
    .addOption(
      new Option(
        "--max-wait-p99 <duration>",
        "find the cheapest delay with at most this 99th percentile of added wait: 500 (milliseconds) or 1s; with --by-compute, also that of each compute",
      ).argParser(parseDurationOption),
    )
    .addOption(
      new Option(
        "--max-cost <dollars>",
        "consider only delays that cost at most this much per month of 730 hours",
      ).argParser(numberAtLeast(0)),
    );
}

/** How the choice is tested: on other days, and with clients. */
function addCheckOptions(command: Command): void {
  command
    .addOption(
      new Option(
        "--train <days>",
        "days before those of --test, on which delays are chosen: 14d, 50% or a first date (default: all)",
      ).argParser(parseDaySpanOption),
    )
    .addOption(
      new Option(
        "--test <days>",
        "last whole days (UTC), on which the chosen delays are evaluated: 7d, 30% or a first date (default: the last third, in whole weeks)",
      ).argParser(parseDaySpanOption),
    )
    .addOption(
      new RepeatableOption(
        "--client <form>",
        "also simulate this client at each compute; repeatable, see below",
      ).argParser(addClient),
    )
    .addOption(
      new Option("--fast", "omit the intervals and the test on other days, in about half the time").conflicts(
        ["train", "test"],
      ),
    )
    .addOption(workersOption());
}

function parseDaySpanOption(text: string): DaySpan {
  const span = parseDaySpan(text);
  if (span !== undefined) return span;
  throw invalidValue(SPAN_RULE);
}

function addClient(text: string, previous: readonly ClientForm[] | undefined): readonly ClientForm[] {
  try {
    return [...(previous ?? []), parseClient(text)];
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
