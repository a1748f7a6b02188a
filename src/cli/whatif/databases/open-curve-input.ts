import type { Command } from "commander";
import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { openGapFiles } from "../gap-files.ts";
import { type OpenedTraces, openTraces } from "../open-traffic.ts";
import { type TraceOptions, WORLD_OPTIONS } from "../trace-options.ts";
import { type FromOption, openDatabase } from "./gap-sql-database.ts";

/** Input of a curve: traces or a world, gap rows, or a table of a database. */
export type CurveInputOptions = Omit<TraceOptions, "from"> & {
  readonly from?: FromOption;
  readonly table?: string;
  readonly memory?: number;
  readonly gaps?: readonly string[];
};

/** They need the requests one by one, or are about files. */
const NEED_REQUESTS = ["startLatency", "maxWaitP99", "client"];
const OF_TRACE_FILES = ["format", "preset", "timeZone", "strict"];
const OF_DATABASES = ["table", "memory"];

/** The caller must call `close` of the result. */
export function openCurveInput(
  paths: readonly string[],
  options: CurveInputOptions,
  command: Command,
  signal: AbortSignal,
): Promise<OpenedTraces> {
  const { from: { from, database } = {}, gaps, table, memory, ...others } = options;
  const ofTraces = { ...others, ...omitUndefined({ from }) };
  const given = (names: readonly string[]) => {
    const name = names.find((one) => command.getOptionValueSource(one) === "cli");
    return command.options.find((option) => option.attributeName() === name)?.long;
  };
  const source =
    database !== undefined ? "--from with a database" : gaps !== undefined ? "--gaps" : undefined;
  if (source === undefined) {
    const idle = given(OF_DATABASES);
    if (idle !== undefined) throw new CliError(`${idle} has no effect without --from and a database`, true);
    return openTraces(paths, ofTraces, command, signal);
  }
  const conflict = given([...NEED_REQUESTS, ...OF_TRACE_FILES, ...WORLD_OPTIONS]);
  if (conflict !== undefined) throw new CliError(`${conflict} cannot be combined with ${source}`, true);
  if (paths.length > 0)
    throw new CliError(`${source}: the figures come from one source, so leave out the traces`, true);
  if (database !== undefined && gaps !== undefined)
    throw new CliError("--gaps and a database of --from are two sources; give one of them", true);
  if (database !== undefined)
    return openDatabase(database, { ...ofTraces, ...omitUndefined({ table, memory }) }, signal);
  const unused = given([...OF_DATABASES, "map", "endpoint", "timeUnit", "durationUnit"]);
  if (unused !== undefined)
    throw new CliError(
      `${unused} has no effect with --gaps; set it in the query, with standin whatif sql`,
      true,
    );
  return openGapFiles(gaps ?? [], ofTraces, signal);
}
