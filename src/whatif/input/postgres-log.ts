import { type Cells, textAt } from "./cells.ts";
import type { InputReader } from "./csv-input.ts";
import { CsvScanner } from "./csv-scanner.ts";
import { millisecondsIn } from "./decimal.ts";
import { InstantReader } from "./instants.ts";
import type { Intake } from "./intake.ts";
import { parseObject } from "./json-input.ts";
import { LineScanner } from "./line-scanner.ts";

export type PostgresLogOptions = {
  /** The name of the compute: a log is of one server. */
  readonly endpoint?: string | undefined;
  /** Of log lines whose zone is an abbreviation like `CET`; those in UTC and GMT, and offsets, are understood without it. */
  readonly timeZone?: string | undefined;
};

/**
 * Columns of csvlog: 23 up to release 12, 24 in 13 (backend_type), 26 from 14 on (leader_pid, query_id)
 * (postgresql.org/docs, "Using CSV-Format Log Output").
 */
export const CSVLOG_COLUMNS: readonly number[] = [23, 24, 26];
const FEWEST_COLUMNS = 23;
const LOG_TIME = 0;
const MESSAGE = 13;
const APPLICATION_NAME = 22;
const BACKEND_TYPE = 23;

/** Statements are logged when they end, with how long they took; `log_duration` logs nothing but that. */
const DURATION = /^duration: (\d+(?:\.\d+)?) ms/;
/** Of `log_statement`, at their beginning, and of connections, once their user is known. */
const ARRIVAL = /^(statement: |execute [^:]*: |connection authorized: )/;

type LogLine = { readonly at: string; readonly message: string; readonly application: string; readonly backend: string };

/** `log_destination = csvlog`. Lines that tell of no statement and no connection are passed over. */
export function csvlogInput(intake: Intake, options: PostgresLogOptions = {}): InputReader {
  const log = new PostgresLog(intake, options);
  const scanner = new CsvScanner(
    {
      row(line, cells) {
        if (cells.count < FEWEST_COLUMNS) intake.refuse(line, `has ${cells.count} columns; a csvlog has at least ${FEWEST_COLUMNS}`);
        else log.take(line, csvLine(cells));
      },
      bad: (line, reason) => intake.refuse(line, reason),
    },
    ",",
  );
  return scanner;
}

/** `log_destination = jsonlog`, from release 15 on (postgresql.org/docs, "Using JSON-Format Log Output"). */
export function jsonlogInput(intake: Intake, options: PostgresLogOptions = {}): InputReader {
  const log = new PostgresLog(intake, options);
  return new LineScanner({
    line(line, text) {
      const value = parseObject(text);
      if (value === undefined) intake.refuse(line, "is no JSON object");
      else log.take(line, jsonLine(value));
    },
    bad: (line, reason) => intake.refuse(line, reason),
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

  take(line: number, { at: text, message, application, backend }: LogLine): void {
    const durationMs = durationOf(message);
    if (durationMs === undefined || !isClient(backend)) {
      this.#intake.skip();
      return;
    }
    const bytes = this.#encoder.encode(text);
    const loggedAt = this.#instants.read(bytes, 0, bytes.length);
    if (Number.isNaN(loggedAt)) {
      const hint = / [A-Z]{2,5}$/.test(text) ? "; name the log's time zone for a zone like this" : "";
      this.#intake.refuse(line, `log_time: ${JSON.stringify(text).slice(0, 60)} must be an instant${hint}`);
      return;
    }
    const compute = this.#intake.compute(this.#endpoint, 0, this.#endpoint.length);
    const source = this.#encoder.encode(application);
    this.#intake.take(line, compute, loggedAt - durationMs, durationMs, this.#intake.source(source, 0, source.length));
  }
}

function jsonLine(value: Readonly<Record<string, unknown>>): LogLine {
  const textOf = (key: string) => (typeof value[key] === "string" ? value[key] : "");
  return { at: textOf("timestamp"), message: textOf("message"), application: textOf("application_name"), backend: textOf("backend_type") };
}

function csvLine(cells: Cells): LogLine {
  return {
    at: textAt(cells, LOG_TIME),
    message: textAt(cells, MESSAGE),
    application: textAt(cells, APPLICATION_NAME),
    backend: textAt(cells, BACKEND_TYPE),
  };
}

/** `undefined` of messages that are no request. */
function durationOf(message: string): number | undefined {
  const [, ms] = DURATION.exec(message) ?? [];
  if (ms === undefined) return ARRIVAL.test(message) ? 0 : undefined;
  const bytes = new TextEncoder().encode(ms);
  return millisecondsIn(bytes, 0, bytes.length, "ms");
}

/** Releases before 13 do not say. */
function isClient(backend: string): boolean {
  return backend === "" || backend === "client backend";
}
