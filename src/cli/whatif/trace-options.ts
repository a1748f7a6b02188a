import { type Command, Option } from "commander";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { DEFAULT_DATA } from "../../worlds/directory-layout.ts";
import type { ServerTarget } from "../client/client.ts";
import { CliError } from "../terminal/cli-error.ts";
import { parseInstantOption, parseServerUrlOption } from "../terminal/option-parsers.ts";
import { controlTokenOption, envOption, RepeatableOption } from "../terminal/options.ts";
import { addInputOptions, FILE_OPTIONS, type InputOptions } from "./import-options.ts";
import type { PeriodOptions } from "./question-options.ts";
import { TRACE_SUFFIX } from "./trace-files.ts";

export type TraceOptions = PeriodOptions &
  InputOptions & {
    readonly data?: string;
    readonly world?: string;
    readonly url?: string;
    readonly controlToken?: string;
    readonly compute?: readonly string[];
    /** What days without any request are, if they look like missing data. */
    readonly silence?: "idle" | "omit";
  };

/** They select a world instead of trace files. */
export const WORLD_OPTIONS = [
  "data",
  "world",
  "url",
  "controlToken",
] as const satisfies readonly (keyof TraceOptions)[];

/** `fromOption`: another option for the start of the period, if the command has one. */
export function addTraceOptions(command: Command, fromOption: Option = periodStartOption()): Command {
  addInputOptions(
    command.argument(
      "[traces...]",
      `trace files: CSV, NDJSON, Parquet, Postgres logs, journals, ${TRACE_SUFFIX}; - for stdin`,
    ),
  );
  return command
    .addOption(
      envOption(
        "--data <dir>",
        `data directory of a world to analyze instead of trace files (default: ${DEFAULT_DATA})`,
      ),
    )
    .addOption(envOption("--world <name>", "world in the data directory (default: default)"))
    .addOption(
      envOption(
        "--url <url>",
        "URL of the server, such as http://127.0.0.1:4620 (default: the server running on --data)",
      ).argParser(parseServerUrlOption),
    )
    .addOption(controlTokenOption())
    .addOption(
      new RepeatableOption("--compute <name>", "analyze only this compute; repeatable").argParser(
        (name: string, previous: readonly string[] | undefined) => [...new Set([...(previous ?? []), name])],
      ),
    )
    .addOption(
      new Option(
        "--silence <meaning>",
        "days without any request that look like missing data: idle time, or omit them (default: an error)",
      ).choices(["idle", "omit"]),
    )
    .addOption(fromOption)
    .addOption(
      new Option(
        "--to <instant>",
        "end of the period to analyze, exclusive; idle computes are billed until then (default: the end of the trace)",
      ).argParser(parseInstantOption),
    );
}

function periodStartOption(): Option {
  return new Option(
    "--from <instant>",
    "start of the period to analyze, inclusive (default: the start of the trace)",
  ).argParser(parseInstantOption);
}

/** The world to analyze, if the input is a world. Trace files take precedence over environment variables. */
export function worldTargetOf(
  paths: readonly string[],
  options: TraceOptions,
  command: Command,
): ServerTarget | undefined {
  const { data, world = "default", url, controlToken } = options;
  const isTyped = (name: keyof TraceOptions) => command.getOptionValueSource(name) === "cli";
  const flagOf = (name: keyof TraceOptions) =>
    command.options.find((one) => one.attributeName() === name)?.long;
  if (paths.length > 0) {
    const typed = WORLD_OPTIONS.find(isTyped);
    if (typed !== undefined)
      throw new CliError(`${flagOf(typed)} selects a world and cannot be combined with trace files`, true);
    return undefined;
  }
  if (data === undefined && options.world === undefined && url === undefined)
    throw new CliError("give trace files, or a world with --data, --world or --url", true);
  if (isTyped("data") && isTyped("url")) throw new CliError("give either --data or --url, not both", true);
  const fileOption = ([...FILE_OPTIONS, "silence"] as const).find(isTyped);
  if (fileOption !== undefined)
    throw new CliError(
      `${flagOf(fileOption)} applies only to trace files and cannot be combined with a world`,
      true,
    );
  const isAtUrl = url !== undefined && !isTyped("data");
  return {
    data: data ?? DEFAULT_DATA,
    world,
    ...(isAtUrl ? { url } : {}),
    ...omitUndefined({ controlToken }),
  };
}
