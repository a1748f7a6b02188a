import { type Cells, textAt } from "../rows/cells.ts";
import { type ColumnMapping, columnsOf } from "../rows/column-mapping.ts";
import { millisecondsIn } from "../rows/decimal.ts";
import { InstantReader } from "../rows/instant-reader.ts";
import type { Intake } from "../rows/intake.ts";
import { RecordingError } from "../rows/recording-error.ts";
import type { InputReader } from "./csv-input.ts";
import { CsvScanner } from "./csv-scanner.ts";
import { parseObject } from "./json-input.ts";
import { LineScanner } from "./line-scanner.ts";

export type PostgresLogOptions = {
  /** The name of the compute; a log belongs to one server. */
  readonly endpoint?: string | undefined;
  /** Zone of log lines with an abbreviation such as `CET`; UTC, GMT and offsets need no zone. */
  readonly timeZone?: string | undefined;
  /** A log has fixed fields; only `source` may be mapped (default: the application name). */
  readonly mapping?: ColumnMapping | undefined;
};

/**
 * Columns of csvlog: 23 up to release 12, 24 in 13 (backend_type), 26 from 14 on (leader_pid, query_id)
 * (postgresql.org/docs, "Using CSV-Format Log Output").
 */
export const CSVLOG_COLUMNS: readonly number[] = [23, 24, 26];
const MIN_COLUMNS = 23;
const LOG_TIME = 0;
const MESSAGE = 13;
/** Columns that a source may be read from, by their documented names. */
const CSV_SOURCES: Readonly<Record<string, number>> = {
  user_name: 1,
  database_name: 2,
  application_name: 22,
};
/** Joins the names of a combined source, as in other formats. */
const SOURCE_SEPARATOR = "/";
const JSON_SOURCES: readonly string[] = ["user", "dbname", "application_name"];
const BACKEND_TYPE = 23;

/** Statements are logged at their end with their duration; `log_duration` logs only the duration. */
const DURATION = /^duration: (\d+(?:\.\d+)?) ms/;
/** `log_statement` logs statements at their start; connections are logged once their user is known. */
const ARRIVAL = /^(statement: |execute [^:]*: |connection authorized: )/;

type LogLine = {
  readonly at: string;
  readonly message: string;
  readonly source: string;
  readonly backend: string;
};

/** `log_destination = csvlog`. Lines without a statement or a connection are skipped. */
export function csvlogInput(intake: Intake, options: PostgresLogOptions = {}): InputReader {
  const log = new PostgresLog(intake, options);
  const sources = sourcesOf(options, Object.keys(CSV_SOURCES));
  const sourceOf = (cells: Cells) =>
    sources.map((name) => textAt(cells, CSV_SOURCES[name])).join(SOURCE_SEPARATOR);
  const scanner = new CsvScanner(
    {
      row(line, cells) {
        if (cells.count < MIN_COLUMNS)
          intake.reject(line, `has ${cells.count} columns; a csvlog has at least ${MIN_COLUMNS}`);
        else log.take(line, csvLine(cells, sourceOf(cells)));
      },
      bad: (line, reason) => intake.reject(line, reason),
    },
    ",",
  );
  return scanner;
}

/** `log_destination = jsonlog`, from release 15 on (postgresql.org/docs, "Using JSON-Format Log Output"). */
export function jsonlogInput(intake: Intake, options: PostgresLogOptions = {}): InputReader {
  const log = new PostgresLog(intake, options);
  const sources = sourcesOf(options, JSON_SOURCES);
  return new LineScanner({
    line(line, text) {
      const value = parseObject(text);
      if (value === undefined) intake.reject(line, "is not a JSON object");
      else log.take(line, jsonLine(value, sources));
    },
    bad: (line, reason) => intake.reject(line, reason),
  });
}

class PostgresLog {
  readonly #intake: Intake;
  readonly #instants: InstantReader;
  readonly #endpoint: Uint8Array;
  readonly #encoder = new TextEncoder();

  constructor(intake: Intake, { endpoint = "postgres", timeZone }: PostgresLogOptions) {
    this.#intake = intake;
    this.#instants = new InstantReader({ timeZone });
    this.#endpoint = this.#encoder.encode(endpoint);
  }

  take(line: number, { at: text, message, source: name, backend }: LogLine): void {
    const stated = durationOf(message);
    if (stated === undefined || !isClient(backend)) {
      this.#intake.skip();
      return;
    }
    const durationMs = stated === "unknown" ? this.#intake.unknownDuration() : stated;
    const bytes = this.#encoder.encode(text);
    const loggedAt = this.#instants.read(bytes, 0, bytes.length);
    if (Number.isNaN(loggedAt)) {
      const hint = / [A-Z]{2,5}$/.test(text) ? "; set the time zone of the log" : "";
      this.#intake.reject(line, `log_time: ${JSON.stringify(text).slice(0, 60)} must be an instant${hint}`);
      return;
    }
    const compute = this.#intake.compute(this.#endpoint, 0, this.#endpoint.length);
    const source = this.#encoder.encode(name);
    this.#intake.take(
      line,
      compute,
      stated === "unknown" ? loggedAt : loggedAt - durationMs,
      durationMs,
      this.#intake.source(source, 0, source.length),
    );
  }
}

function jsonLine(value: Readonly<Record<string, unknown>>, sources: readonly string[]): LogLine {
  const textOf = (key: string) => (typeof value[key] === "string" ? value[key] : "");
  const source = sources.map(textOf).join(SOURCE_SEPARATOR);
  return { at: textOf("timestamp"), message: textOf("message"), source, backend: textOf("backend_type") };
}

function csvLine(cells: Cells, source: string): LogLine {
  return {
    at: textAt(cells, LOG_TIME),
    message: textAt(cells, MESSAGE),
    source,
    backend: textAt(cells, BACKEND_TYPE),
  };
}

/** The columns that a source is read from; throws for a mapping that a log does not support. */
function sourcesOf({ mapping = {} }: PostgresLogOptions, allowed: readonly string[]): readonly string[] {
  const { source = "application_name", ...others } = mapping;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new RecordingError(`${other}: a log has fixed columns; only source can be mapped`);
  const names = columnsOf(source, allowed);
  const unknown = names.find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    throw new RecordingError(
      `source: a log has no column "${unknown}" for a source; use one of ${allowed.join(", ")}`,
    );
  return names;
}

/** `undefined` for messages without an arrival. What is logged at its start has an unknown duration. */
function durationOf(message: string): number | "unknown" | undefined {
  const [, ms] = DURATION.exec(message) ?? [];
  if (ms === undefined) return ARRIVAL.test(message) ? "unknown" : undefined;
  const bytes = new TextEncoder().encode(ms);
  return millisecondsIn(bytes, 0, bytes.length, "ms");
}

/** Releases before 13 do not log the backend type. */
function isClient(backend: string): boolean {
  return backend === "" || backend === "client backend";
}
