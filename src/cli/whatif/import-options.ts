import { type Command, InvalidArgumentError, Option } from "commander";
import { messageOf } from "../../kernel/message-of.ts";
import type { DurationMs } from "../../kernel/time.ts";
import { INPUT_FORMATS, type InputFormat } from "../../traffic/recorded/formats/formats.ts";
import { type ColumnMapping, parseMapping } from "../../traffic/recorded/rows/column-mapping.ts";
import { NUMBER_UNITS, type NumberUnit } from "../../traffic/recorded/rows/decimal.ts";
import { PRESETS, type PresetName } from "../../traffic/recorded/rows/presets.ts";
import { parseMillisecondsOption, parseTimeZoneOption } from "../terminal/option-parsers.ts";

/** How to read trace files that are not columnar yet. */
export type InputOptions = {
  readonly format?: InputFormat;
  readonly map?: ColumnMapping;
  readonly preset?: PresetName;
  readonly endpoint?: string;
  readonly timeZone?: string;
  readonly timeUnit?: NumberUnit;
  readonly durationUnit?: NumberUnit;
  /** Duration of requests that state none; false if requests take no time. */
  readonly duration?: DurationMs | false;
  readonly strict?: boolean;
};

export const FILE_OPTIONS: readonly (keyof InputOptions)[] = [
  "format",
  "map",
  "preset",
  "endpoint",
  "timeZone",
  "timeUnit",
  "durationUnit",
  "duration",
  "strict",
];

export function addInputOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--format <name>", "format of the files (default: detected from their content)").choices(
        INPUT_FORMATS.filter((name) => name !== "world"),
      ),
    )
    .addOption(
      new Option(
        "--map <fields>",
        "column of each field, such as endpoint=db,at=start_time,duration=ms, or source=user_name+database_name for Postgres logs (default: detected)",
      ).argParser(parseMappingOption),
    )
    .addOption(
      new Option("--preset <name>", "column names of a published data set").choices(Object.keys(PRESETS)),
    )
    .addOption(new Option("--endpoint <name>", "compute of rows that do not name one"))
    .addOption(
      new Option(
        "--time-zone <name>",
        "time zone of instants that do not state one (default: UTC)",
      ).argParser(parseTimeZoneOption),
    )
    .addOption(
      new Option(
        "--time-unit <unit>",
        "unit of instants that are numbers (default: detected from the first one)",
      ).choices(NUMBER_UNITS),
    )
    .addOption(durationUnitOption())
    .addOption(
      new Option(
        "--duration <duration>",
        "duration of requests that state none: 50 (milliseconds) or 2s",
      ).argParser(parseMillisecondsOption),
    )
    .addOption(new Option("--no-duration", "requests that state no duration take no time"))
    .addOption(
      new Option(
        "--strict",
        "reject a file with bad rows, or whose columns or units would be guessed; of the file of an account, omit hours whose active time by operations differs from metered time, and periods that overlap them",
      ),
    );
}

export function durationUnitOption(): Option {
  return new Option(
    "--duration-unit <unit>",
    "unit of durations (default: from the name of the column, otherwise ms)",
  ).choices(NUMBER_UNITS);
}

/** Undefined if unknown. */
export function durationOf({ duration }: InputOptions): DurationMs | undefined {
  return duration === false ? 0 : duration;
}

export function parseMappingOption(text: string): ColumnMapping {
  try {
    return parseMapping(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}
