import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Command, Option } from "commander";
import { isoInstant } from "../../platform/core/calendar.ts";
import { TraceInputError } from "../../recordings/rows/recording-error.ts";
import { eachPart, type Period } from "../../recordings/trace/trace.ts";
import { checkReading } from "../../recordings/trace-files/file-input.ts";
import { TraceFile } from "../../recordings/trace-files/trace-file.ts";
import { plural } from "../../whatif/report/number-format.ts";
import type { WorldSetting } from "../../whatif/report/question.ts";
import { periodAsked, type Traffic, trafficWithin } from "../../whatif/trace/known-traffic.ts";
import { numbersOf, someComputes } from "../../whatif/trace/select-computes.ts";
import type { Target } from "../client/client.ts";
import { withControl } from "../client/control-client.ts";
import { CliError } from "../terminal/cli-error.ts";
import { DEFAULT_DATA, instant, option } from "../terminal/option-parsers.ts";
import { addInputOptions, type InputOptions, importFiles, READING_OPTIONS } from "./import-options.ts";
import type { PeriodOptions } from "./question-options.ts";
import { TRACE_SUFFIX, trafficOfFile, writeTraffic } from "./trace-files.ts";
import { readWorld, type WorldProject } from "./world-traffic-source.ts";

export type TraceOptions = PeriodOptions &
  InputOptions & {
    readonly data?: string;
    readonly world?: string;
    readonly url?: string;
    readonly controlToken?: string;
    readonly compute?: readonly string[];
  };

/** Where traffic came from, as reports tell it. */
type ToldInput = { readonly files: readonly object[]; readonly notes: readonly string[] };

/** What there is, before it is known which of it is looked at. */
type Opened = Pick<OpenedTraces, "traffic" | "target" | "projects" | "file" | "close"> & {
  readonly about: (looked: Traffic) => Pick<OpenedTraces, "world" | "told">;
};

export type OpenedTraces = {
  readonly traffic: Traffic;
  /** Those that are looked at alone, where it is not all of the file. */
  readonly only?: readonly string[];
  /** What the world has, where it is one. */
  readonly world?: WorldSetting | undefined;
  /** Where that world is. */
  readonly target?: Target | undefined;
  /** The world's projects, where it is one. */
  readonly projects?: readonly WorldProject[] | undefined;
  readonly told: ToldInput;
  /** A file with this traffic, for other threads; made when it is asked for. */
  readonly file: () => Promise<string>;
  readonly close: () => void;
};

export function addTraceOptions(command: Command): Command {
  addInputOptions(command.argument("[traces...]", `files: CSV, NDJSON, Parquet, logs, journals, ${TRACE_SUFFIX}`));
  return command
    .addOption(
      option("--data <dir>", `traffic of a world in this directory, in the place of files (default: STANDIN_DATA, else ${DEFAULT_DATA})`),
    )
    .addOption(option("--world <name>", "which of its worlds (default: STANDIN_WORLD, else default)"))
    .addOption(option("--url <url>", "traffic of a running double, in the place of --data (default: STANDIN_URL)"))
    .addOption(option("--control-token <token>", "token of that double's control API"))
    .addOption(
      new Option("--compute <name>", "look at this compute alone; again and again").argParser(
        (name: string, former: readonly string[] | undefined) => [...new Set([...(former ?? []), name])],
      ),
    )
    .addOption(new Option("--from <instant>", "the trace begins here: look at arrivals from here on").argParser(instant))
    .addOption(
      new Option("--to <instant>", "and ends here: look at arrivals before, and charge idle computes until then").argParser(instant),
    );
}

/** What is to be looked at: files, or a world. Whoever opens closes: what was made on the way is then cleared away. */
export async function openTraces(
  paths: readonly string[],
  options: TraceOptions,
  command: Command,
  signal: AbortSignal,
): Promise<OpenedTraces> {
  const target = targetOf(paths, options, command);
  const opened = target === undefined ? await openFiles(paths, options, signal) : await openWorld(target, options, signal);
  try {
    const { compute: only } = options;
    const some = only === undefined ? opened.traffic : computesOf(opened.traffic, only);
    const period = wantedPeriod(some.period, options);
    const traffic = period === undefined ? some : trafficWithin(some, period);
    const { told, world } = opened.about(traffic);
    for (const note of told.notes) process.stderr.write(`note: ${note}\n`);
    return { ...opened, traffic, told, world, ...(only === undefined ? {} : { only }) };
  } catch (error) {
    opened.close();
    throw error;
  }
}

function computesOf(traffic: Traffic, names: readonly string[]): Traffic {
  try {
    return someComputes(traffic, numbersOf(traffic, names));
  } catch (error) {
    if (error instanceof RangeError) throw new CliError(`--compute: ${error.message}`, true);
    throw error;
  }
}

/** `undefined` where all of it is wanted. */
function wantedPeriod(all: Period, bounds: PeriodOptions): Period | undefined {
  const period = periodAsked(all, bounds);
  if (period === undefined) {
    throw new CliError(
      `--from and --to leave nothing of the trace, which goes from ${isoInstant(all.startAt)} to ${isoInstant(all.endAt)}`,
      true,
    );
  }
  return period.startAt === all.startAt && period.endAt === all.endAt ? undefined : period;
}

/** The world that is meant, if it is one. What the environment says is meant where the command line says nothing else. */
function targetOf(paths: readonly string[], options: TraceOptions, command: Command): Target | undefined {
  const { data, world = "default", url, controlToken } = options;
  const isTyped = (name: keyof TraceOptions) => command.getOptionValueSource(name) === "cli";
  const flagOf = (name: keyof TraceOptions) => command.options.find((one) => one.attributeName() === name)?.long;
  if (paths.length > 0) {
    const typed = (["data", "world", "url", "controlToken"] as const).find(isTyped);
    if (typed !== undefined) throw new CliError(`${flagOf(typed)} is of a world, and there are traces: give one or the other`, true);
    return undefined;
  }
  if (data === undefined && options.world === undefined && url === undefined)
    throw new CliError("give traces, or a world by --data, --world or --url", true);
  if (isTyped("data") && isTyped("url")) throw new CliError("--data and --url are two worlds: give one or the other", true);
  const reading = READING_OPTIONS.find(isTyped);
  if (reading !== undefined) throw new CliError(`${flagOf(reading)} is of files: it changes nothing in how a world is read`, true);
  const isAtUrl = url !== undefined && !isTyped("data");
  return {
    data: data ?? DEFAULT_DATA,
    world,
    ...(isAtUrl ? { url } : {}),
    ...(controlToken === undefined ? {} : { controlToken }),
  };
}

async function openWorld(target: Target, options: TraceOptions, signal: AbortSignal): Promise<Opened> {
  const { world } = target;
  const { to } = options;
  const { traffic, about, projects } = await withControl(target, (call) => readWorld(call, to));
  // Bounds that leave nothing are told before that nothing is there.
  wantedPeriod(traffic.period, options);
  if (traffic.computes.length === 0) {
    const when = to === undefined ? "yet" : `before ${isoInstant(to)}`;
    throw new CliError(`nobody has used a compute of the world "${world}" ${when}: there is no traffic to look at`);
  }
  const temporary = new Temporary();
  const path = temporary.path(`${world}${TRACE_SUFFIX}`);
  let written: Promise<unknown> | undefined;
  return {
    traffic,
    target,
    projects,
    about(looked) {
      const { setting, notes } = about(looked.computes);
      return { world: setting, told: { files: [{ world, requests_sha256: hashOf(looked) }], notes } };
    },
    file: async () => {
      written ??= writeTraffic(traffic, path, `world ${world}`, signal);
      await written;
      return path;
    },
    close: () => temporary.remove(),
  };
}

async function openFiles(paths: readonly string[], options: TraceOptions, signal: AbortSignal): Promise<Opened> {
  const temporary = new Temporary();
  try {
    const [first = ""] = paths;
    const isImported = paths.length === 1 && first.endsWith(TRACE_SUFFIX);
    if (isImported) checkImported(first, options);
    const imported = isImported ? undefined : await importFiles(paths, temporary.path(`imported${TRACE_SUFFIX}`), options, signal);
    const file = new TraceFile(imported === undefined ? first : temporary.path(`imported${TRACE_SUFFIX}`));
    const { path, header, origin } = file;
    if (isImported && options.strict === true && origin.badRows > 0) {
      file.close();
      throw new TraceInputError(`${basename(first)}: --strict: ${plural(origin.badRows, "bad row")} left out when it was imported`);
    }
    for (const { input, line, reason } of imported?.bad ?? []) process.stderr.write(`bad row: ${input}, line ${line}: ${reason}\n`);
    if (origin.badRows > 0) {
      process.stderr.write(
        `note: of ${(origin.badRows + header.rows).toLocaleString("en")} rows, ${origin.badRows.toLocaleString("en")} bad left out\n`,
      );
    }
    const files = [{ trace: paths.map((given) => basename(given)), sha256: header.sha256, rows: header.rows, bad_rows: origin.badRows }];
    const told = { files, notes: imported?.notes ?? origin.notes };
    return {
      traffic: trafficOfFile(file),
      about: () => ({ world: undefined, told }),
      file: async () => path,
      close: () => {
        file.close();
        temporary.remove();
      },
    };
  } catch (error) {
    temporary.remove();
    if (error instanceof TraceInputError || (error instanceof Error && "code" in error)) throw new CliError(error.message);
    throw error;
  }
}

/** A trace that was imported is read as it is: how, was said then. */
function checkImported(path: string, { map: mapping, preset, endpoint, timeZone, format = "standin-trace" }: InputOptions): void {
  try {
    if (format !== "standin-trace") throw new TraceInputError(`is a standin-trace, no ${format}`);
    checkReading(format, { mapping, preset, endpoint, timeZone });
  } catch (error) {
    if (error instanceof TraceInputError) throw new TraceInputError(`${basename(path)}: ${error.message}`);
    throw error;
  }
}

/** A directory that is made when it is needed. */
class Temporary {
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

function hashOf(traffic: Traffic): string {
  const hash = createHash("sha256").update(JSON.stringify([traffic.period, traffic.sources]));
  for (const [number, name] of traffic.computes.entries()) {
    hash.update(name);
    eachPart(traffic.requests(number), ({ at, durationMs }) => hash.update(bytesOf(at)).update(bytesOf(durationMs)));
  }
  return hash.digest("hex");
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
