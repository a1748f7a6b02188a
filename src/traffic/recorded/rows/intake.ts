import { MAX } from "../../../input-limits/limits.ts";
import { isoInstant } from "../../../kernel/calendar.ts";
import { DAY, END_OF_TIME, MINUTE, type SimTime } from "../../../kernel/time.ts";
import { type BadInputRow, BadRows } from "./bad-rows.ts";
import { DURATION_ADVICE } from "./column-names.ts";
import { type InputReading, InputReadings, type ReadColumns } from "./input-reading.ts";
import { NameTable } from "./name-table.ts";
import { RecordingError } from "./recording-error.ts";

/** A sink of rows in any order: numbers of computes and sources, whole milliseconds. */
export type RowSink = {
  readonly add: (
    compute: number,
    at: SimTime,
    durationMs: number,
    source: number,
    load: number | undefined,
  ) => void;
};

export type IntakeOptions = {
  /** Throws a `RecordingError` on the first bad row. */
  readonly strict?: boolean | undefined;
  /** Duration of requests whose input states none, in milliseconds (default: unknown). */
  readonly durationMs?: number | undefined;
  /** Rows before `startAt`, and from `endAt` on, are omitted and counted. */
  readonly startAt?: SimTime | undefined;
  readonly endAt?: SimTime | undefined;
};

/** Interval between sampled rows, after the first rows, which are all sampled. */
const SAMPLE_EVERY = 1_024;
/** The share of the earliest instants, and of the latest ones, that may be wrong. */
const STRAY_SHARE = 0.01;
const STRAY_FACTOR = 2;
const MIN_PERIOD = 30 * DAY;
/** A year has one clock change that repeats an hour. */
const MAX_CLOCK_CHANGES = 3;
const MIN_SORTED_ROWS = 20;
/** From the last request of an hour to the first one of its repetition; requests may be rare. */
const REPEATED_MINUTES = [20, 60] as const;
const LONGEST_PLAUSIBLE = 3_660 * DAY;
/** `source` is a column of 16 bits. */
export const MAX_SOURCES = 65_536;
const OTHER_SOURCES = "(other)";

/** Collects the rows of all inputs of one trace: numbers names, counts bad rows and gathers notes. */
export class Intake {
  readonly notes: string[] = [];
  /** Advice to map another column, if bad values were in a guessed one. */
  wrongGuess: string | undefined;
  /** Rows that were accepted, that are not arrivals, and that are outside the period. */
  rows = 0;
  skippedRows = 0;
  outsideRows = 0;
  firstAt = Number.POSITIVE_INFINITY;
  lastAt = Number.NEGATIVE_INFINITY;
  /** The period that the inputs state themselves; minute counts cover whole days. */
  period: { startAt: SimTime; endAt: SimTime } | undefined;
  readonly #options: IntakeOptions;
  readonly #sink: RowSink;
  readonly #bad: BadRows;
  #input = "";
  readonly #computes = new NameTable(MAX.traceComputes);
  readonly #sources = new NameTable(MAX_SOURCES - 1);
  #hasOtherSources = false;
  readonly #sampledAt: number[] = [];
  readonly #readings = new InputReadings();
  #unknownDurations = 0;
  #rowsBefore = 0;
  #previousAt = 0;
  /** Places where the instants of this input went back; at most one more than clock changes explain. */
  readonly #backSteps: { readonly from: SimTime; readonly to: SimTime }[] = [];

  constructor(sink: RowSink, options: IntakeOptions = {}) {
    this.#sink = sink;
    this.#options = options;
    this.#bad = new BadRows(options.strict);
  }

  /** Names the input of the next rows. */
  begin(input: string): void {
    this.#input = input;
    this.#readings.begin(input);
    [this.#unknownDurations, this.#rowsBefore, this.#previousAt] = [0, this.rows, 0];
    this.#backSteps.length = 0;
  }

  /** After the last row of an input. Throws if no request of it has a known duration. */
  end(): void {
    this.#noteRepeatedHour();
    const unknown = this.#unknownDurations;
    if (unknown === 0 || this.knowsDuration) return;
    if (unknown >= this.rows - this.#rowsBefore)
      throw new RecordingError(`duration: no request states one; ${DURATION_ADVICE}`);
    const stated = unknown === 1 ? "1 request states" : `${unknown.toLocaleString("en")} requests state`;
    this.note(`${stated} no duration, which is read as 0 ms; --duration sets another`);
  }

  /** Whether a duration was given for requests that state none. */
  get knowsDuration(): boolean {
    return this.#options.durationMs !== undefined;
  }

  /** The duration of a request that states none. */
  unknownDuration(): number {
    this.#unknownDurations += 1;
    return this.#options.durationMs ?? 0;
  }

  /** How the inputs were read, in their order. */
  get readings(): readonly InputReading[] {
    return this.#readings.list;
  }

  /** The columns of this input; noted if they were not all mapped explicitly. */
  readColumns(columns: ReadColumns, isFound: boolean): void {
    const text = this.#readings.columns(columns);
    if (isFound) this.note(text);
  }

  /** Reports a guess, and the option that replaces it. Throws if guesses are not allowed. */
  guess(what: string, option: string): void {
    if (this.#options.strict === true)
      throw new RecordingError(`--strict: ${what} is a guess; state it: ${option}`, 1);
  }

  /** The number of the compute; throws if there are too many. */
  compute(bytes: Uint8Array, start: number, end: number): number {
    const number = this.#computes.numberOf(bytes, start, end);
    if (number >= 0) return number;
    throw new RecordingError(
      `endpoint: there are more than ${MAX.traceComputes} computes; does this column hold query ids? Map another column`,
    );
  }

  source(bytes: Uint8Array, start: number, end: number): number {
    const number = this.#sources.numberOf(bytes, start, end);
    if (number >= 0) return number;
    this.#hasOtherSources = true;
    this.note(`source: there are more than ${MAX_SOURCES} sources; the rest count as ${OTHER_SOURCES}`);
    return MAX_SOURCES - 1;
  }

  get badRows(): number {
    return this.#bad.count;
  }

  /** The first bad rows. */
  get bad(): readonly BadInputRow[] {
    return this.#bad.first;
  }

  get computeNames(): readonly string[] {
    return this.#computes.list;
  }

  /** Rows without a source have the empty name. */
  get sourceNames(): readonly string[] {
    return this.#hasOtherSources ? [...this.#sources.list, OTHER_SOURCES] : this.#sources.list;
  }

  /** `load`: busy vCPUs while it runs, where the input states it. */
  take(
    line: number,
    compute: number,
    at: SimTime,
    durationMs: number,
    source: number,
    load?: number | undefined,
  ): void {
    if (!(at >= 0 && at <= END_OF_TIME)) {
      this.reject(line, `at: ${at} is before 1970 or after 9999`);
      return;
    }
    const { startAt = 0, endAt = Number.POSITIVE_INFINITY } = this.#options;
    if (at < startAt || at >= endAt) {
      this.outsideRows += 1;
      return;
    }
    if (at < this.#previousAt && this.#backSteps.length <= MAX_CLOCK_CHANGES)
      this.#backSteps.push({ from: this.#previousAt, to: at });
    this.#previousAt = at;
    if (at < this.firstAt) this.firstAt = at;
    if (at > this.lastAt) this.lastAt = at;
    if (this.rows % SAMPLE_EVERY === 0 || this.rows < SAMPLE_EVERY) this.#sampledAt.push(at);
    this.rows += 1;
    if (this.#readings.isIncomplete)
      this.#readings.row({
        compute: this.#computes.list[compute] ?? "",
        at,
        durationMs,
        source: this.#sources.list[source] ?? "",
      });
    this.#sink.add(compute, at, durationMs, source, load);
  }

  reject(line: number, reason: string): void {
    this.#bad.add(this.#input, line, reason);
  }

  skip(): void {
    this.skippedRows += 1;
  }

  /** Notes an hour that occurs twice in an otherwise sorted input: local times at the end of summer time. */
  #noteRepeatedHour(): void {
    if (this.#backSteps.length > MAX_CLOCK_CHANGES || this.rows - this.#rowsBefore < MIN_SORTED_ROWS) return;
    for (const { from, to } of this.#backSteps) {
      const minutes = Math.round((from - to) / MINUTE);
      if (minutes >= REPEATED_MINUTES[0] && minutes <= REPEATED_MINUTES[1])
        this.note(
          `the instants go back by ${minutes} min after ${isoInstant(from)}: if they are local times at a clock change, this hour counts twice; write instants in UTC or with an offset`,
        );
    }
  }

  /** Adds a note if a few instants make the trace much longer than the others do. */
  noteStrayInstants(): void {
    const sampled = this.#sampledAt.sort((a, b) => a - b);
    const skipped = Math.floor(sampled.length * STRAY_SHARE);
    const [from = 0, to = 0] = [sampled[skipped], sampled[sampled.length - 1 - skipped]];
    const lengthMs = this.lastAt - this.firstAt;
    const isStray = lengthMs > STRAY_FACTOR * (to - from + MIN_PERIOD);
    if (!isStray && lengthMs <= LONGEST_PLAUSIBLE) return;
    const bulk = isStray
      ? `, but ${100 - 200 * STRAY_SHARE} % of its requests are from ${isoInstant(from)} to ${isoInstant(to)}`
      : "";
    this.note(
      `the trace lasts ${Math.round(lengthMs / DAY).toLocaleString("en")} days, from ${isoInstant(this.firstAt)} to ${isoInstant(this.lastAt)}${bulk}: check its instants, or limit the period with --from and --to`,
    );
  }

  /** Adds a note about the first guessed column with bad values. */
  noteWrongGuess(text: string): void {
    if (this.wrongGuess !== undefined) return;
    this.wrongGuess = text;
    this.note(text);
  }

  /** Adds a note for the user, once. */
  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }

  /** Extends the stated period to include this one. */
  extendPeriod(startAt: SimTime, endAt: SimTime): void {
    const period = this.period ?? { startAt, endAt };
    this.period = { startAt: Math.min(period.startAt, startAt), endAt: Math.max(period.endAt, endAt) };
  }
}
