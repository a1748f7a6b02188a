import { type Command, InvalidArgumentError, Option } from "commander";
import { messageOf } from "../../kernel/message-of.ts";
import { INPUT_FORMATS, type InputFormat } from "../../traffic/recorded/formats/formats.ts";
import { type ColumnMapping, parseMapping } from "../../traffic/recorded/rows/column-mapping.ts";
import { NUMBER_UNITS, type NumberUnit } from "../../traffic/recorded/rows/decimal.ts";
import { PRESETS, type PresetName } from "../../traffic/recorded/rows/presets.ts";

/** How to read trace files that are not columnar yet. */
export type InputOptions = {
  readonly format?: InputFormat;
  readonly map?: ColumnMapping;
  readonly preset?: PresetName;
  readonly endpoint?: string;
  readonly timeZone?: string;
  readonly timeUnit?: NumberUnit;
  readonly durationUnit?: NumberUnit;
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
    .addOption(new Option("--endpoint <name>", "compute of rows that name none"))
    .addOption(new Option("--time-zone <name>", "time zone of instants that name none (default: UTC)"))
    .addOption(
      new Option(
        "--time-unit <unit>",
        "unit of instants that are numbers (default: detected from the first one)",
      ).choices(NUMBER_UNITS),
    )
    .addOption(
      new Option(
        "--duration-unit <unit>",
        "unit of durations (default: from the name of the column, otherwise ms)",
      ).choices(NUMBER_UNITS),
    )
    .addOption(new Option("--strict", "reject a file with bad rows instead of skipping them"));
}

export function parseMappingOption(text: string): ColumnMapping {
  try {
    return parseMapping(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}
