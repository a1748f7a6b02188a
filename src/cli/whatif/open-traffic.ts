import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Command } from "commander";
import { isoInstant } from "../../kernel/calendar.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { BadInputRow } from "../../traffic/recorded/rows/bad-rows.ts";
import { RecordingError } from "../../traffic/recorded/rows/recording-error.ts";
import { eachPart, type Period } from "../../traffic/recorded/trace/trace.ts";
import { checkFormatOptions } from "../../traffic/recorded/trace-files/file-input.ts";
import { TraceFile } from "../../traffic/recorded/trace-files/trace-file.ts";
import type { WorldDefaults } from "../../whatif/input/question.ts";
import { computeIndexes, trafficOfComputes } from "../../whatif/trace/select-computes.ts";
import { selectPeriod, type Traffic, trafficWithin } from "../../whatif/trace/traffic.ts";
import { plural } from "../../whatif/units/number-format.ts";
import type { ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { CliError } from "../terminal/cli-error.ts";
import { systemMessage } from "../terminal/file-problem.ts";
import { checkInputExists } from "../terminal/input-file.ts";
import { printError } from "../terminal/print.ts";
import { importFiles } from "./import-files.ts";
import type { InputOptions } from "./import-options.ts";
import type { PeriodOptions } from "./question-options.ts";
import { silenceAnswer } from "./silence-answer.ts";
import { TRACE_SUFFIX, trafficFromFile, writeTraffic } from "./trace-files.ts";
import { type TraceOptions, worldTargetOf } from "./trace-options.ts";
import { readWorldTraffic, type WorldProject } from "./world-traffic-source.ts";

/** Origin of the traffic, for reports. `bad`: the first bad rows, if the files were imported just now. */
export type InputSummary = {
  readonly files: readonly Readonly<Record<string, unknown>>[];
  readonly notes: readonly string[];
  readonly bad: readonly BadInputRow[];
};

/** The opened input, before computes and period are selected. */
type OpenedSource = Pick<OpenedTraces, "traffic" | "shard" | "target" | "projects" | "file" | "close"> & {
  readonly summarize: (selected: Traffic) => Pick<OpenedTraces, "world" | "inputSummary">;
};

export type OpenedTraces = {
  readonly traffic: Traffic;
  /** Names of the selected computes; absent if all are analyzed. */
  readonly only?: readonly string[];
  /** If the trace file has only the requests of this part of the computes. */
  readonly shard?: Shard | undefined;
  /** Settings of the world, if the input is a world. */
  readonly world?: WorldDefaults | undefined;
  /** Location of that world. */
  readonly target?: ServerTarget | undefined;
  /** Projects of that world. */
  readonly projects?: readonly WorldProject[] | undefined;
  readonly inputSummary: InputSummary;
  /** Path of a trace file with this traffic, for worker threads; written on the first call. */
  readonly file: () => Promise<string>;
  readonly close: () => void;
};

/** Opens the traces or the world to analyze. The caller must call `close`, which removes temporary files. */
export async function openTraces(
  paths: readonly string[],
  options: TraceOptions,
  command: Command,
  signal: AbortSignal,
  isPartAccepted = false,
): Promise<OpenedTraces> {
  const target = worldTargetOf(paths, options, command);
  const opened =
    target === undefined ? await openFiles(paths, options, signal) : await openWorld(target, options, signal);
  try {
    if (opened.shard !== undefined && !isPartAccepted)
      throw new CliError(
        `the trace has only the requests of shard ${opened.shard.index}/${opened.shard.of}; ${command.name()} needs all of them (whatif compare can answer for a shard)`,
        true,
      );
    const { compute: only } = options;
    const selected = only === undefined ? opened.traffic : selectComputes(opened.traffic, only);
    const period = selectedPeriod(selected.period, options);
    const traffic = period === undefined ? selected : trafficWithin(selected, period);
    const { inputSummary, world } = opened.summarize(traffic);
    for (const note of inputSummary.notes) printError(`note: ${note}\n`);
    return { ...opened, traffic, inputSummary, world, ...omitUndefined({ only }) };
  } catch (error) {
    opened.close();
    throw error;
  }
}

function selectComputes(traffic: Traffic, names: readonly string[]): Traffic {
  try {
    return trafficOfComputes(traffic, computeIndexes(traffic, names));
  } catch (error) {
    if (error instanceof RangeError) throw new CliError(`--compute: ${error.message}`, true);
    throw error;
  }
}

/** The selected period; `undefined` if it is the whole trace. */
function selectedPeriod(all: Period, bounds: PeriodOptions): Period | undefined {
  const period = selectPeriod(all, bounds);
  if (period === undefined) {
    throw new CliError(
      `--from and --to exclude the whole trace, which covers ${isoInstant(all.startAt)} to ${isoInstant(all.endAt)}`,
      true,
    );
  }
  return period.startAt === all.startAt && period.endAt === all.endAt ? undefined : period;
}

async function openWorld(
  target: ServerTarget,
  options: TraceOptions,
  signal: AbortSignal,
): Promise<OpenedSource> {
  const { world } = target;
  const { to } = options;
  const {
    traffic: recorded,
    settingFor,
    projects,
  } = await withControlApi(target, (call) => readWorldTraffic(call, to));
  // The history of a world is complete.
  const traffic = { ...recorded, silenceIsIdle: true };
  // Check the bounds first: their error is more specific than the one below.
  selectedPeriod(traffic.period, options);
  if (traffic.computes.length === 0) {
    const when = to === undefined ? "" : ` before ${isoInstant(to)}`;
    throw new CliError(`the world "${world}" has no traffic${when}: no compute was used`);
  }
  const temporary = new TemporaryDirectory();
  const path = temporary.path(`${world}${TRACE_SUFFIX}`);
  let written: Promise<unknown> | undefined;
  return {
    traffic,
    target,
    projects,
    summarize(selected) {
      const { setting, notes } = settingFor(selected);
      return {
        world: setting,
        inputSummary: { files: [{ world, requests_sha256: trafficHash(selected) }], notes, bad: [] },
      };
    },
    file: async () => {
      written ??= writeTraffic(traffic, path, `world ${world}`, signal);
      await written;
      return path;
    },
    close: () => temporary.remove(),
  };
}

async function openFiles(
  paths: readonly string[],
  options: TraceOptions,
  signal: AbortSignal,
): Promise<OpenedSource> {
  const temporary = new TemporaryDirectory();
  try {
    const [first = ""] = paths;
    const isImported = paths.length === 1 && first.endsWith(TRACE_SUFFIX);
    if (isImported) {
      checkInputExists(first);
      checkImported(first, options);
    }
    const imported = isImported
      ? undefined
      : await importFiles(paths, temporary.path(`imported${TRACE_SUFFIX}`), options, signal);
    const file = new TraceFile(imported === undefined ? first : temporary.path(`imported${TRACE_SUFFIX}`));
    const { path, header, origin } = file;
    if (isImported && options.strict === true && origin.badRows > 0) {
      file.close();
      throw new RecordingError(
        `${basename(first)}: --strict: ${plural(origin.badRows, "bad row")} skipped by the import`,
      );
    }
    for (const { input, line, reason } of imported?.bad ?? [])
      printError(`bad row: ${input}, line ${line}: ${reason}\n`);
    if (origin.badRows > 0) {
      printError(
        `note: skipped ${plural(origin.badRows, "bad row")} of ${(origin.badRows + header.rows).toLocaleString("en")}\n`,
      );
    }
    const silence = file.origin.shard === undefined ? silenceAnswer(file, options) : undefined;
    const files = [
      {
        trace: paths.map((inputPath) => basename(inputPath)),
        sha256: header.sha256,
        rows: header.rows,
        bad_rows: origin.badRows,
      },
    ];
    const notes = [...(imported?.notes ?? origin.notes), ...(silence?.notes ?? [])];
    const inputSummary = { files, notes, bad: imported?.bad ?? [] };
    const traffic = {
      ...(silence?.traffic ?? trafficFromFile(file)),
      silenceIsIdle: options.silence === "idle",
    };
    let written: Promise<unknown> | undefined;
    return {
      traffic,
      shard: origin.shard,
      summarize: () => ({ world: undefined, inputSummary }),
      file: async () => {
        if (silence?.traffic === undefined) return path;
        const withoutSilence = temporary.path(`without-silence${TRACE_SUFFIX}`);
        written ??= writeTraffic(traffic, withoutSilence, basename(path), signal);
        await written;
        return withoutSilence;
      },
      close: () => {
        file.close();
        temporary.remove();
      },
    };
  } catch (error) {
    temporary.remove();
    if (error instanceof RecordingError || (error instanceof Error && "code" in error))
      throw new CliError(systemMessage(error));
    throw error;
  }
}

/** Options about the format do not apply to a columnar trace; they were applied by the import. */
function checkImported(
  path: string,
  {
    map: mapping,
    preset,
    endpoint,
    timeZone,
    timeUnit,
    durationUnit,
    duration,
    format = "standin-trace",
  }: InputOptions,
): void {
  try {
    if (duration !== undefined)
      throw new RecordingError("--duration and --no-duration apply when the trace is imported");
    if (format !== "standin-trace") throw new RecordingError(`the file is a standin-trace, not ${format}`);
    checkFormatOptions(format, { mapping, preset, endpoint, timeZone, timeUnit, durationUnit });
  } catch (error) {
    if (error instanceof RecordingError) throw new RecordingError(`${basename(path)}: ${error.message}`);
    throw error;
  }
}

/** A temporary directory that is created on first use. */
class TemporaryDirectory {
  #directory: string | undefined;

  path(name: string): string {
    this.#directory ??= mkdtempSync(join(tmpdir(), "standin-whatif-"));
    return join(this.#directory, name);
  }

  remove(): void {
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
    this.#directory = undefined;
  }
}

function trafficHash(traffic: Traffic): string {
  const hash = createHash("sha256").update(JSON.stringify([traffic.period, traffic.sources]));
  for (const [number, name] of traffic.computes.entries()) {
    hash.update(name);
    eachPart(traffic.arrivals(number), ({ at, durationMs }) =>
      hash.update(bytesOf(at)).update(bytesOf(durationMs)),
    );
  }
  return hash.digest("hex");
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
