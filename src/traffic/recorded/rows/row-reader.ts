import { END_OF_TIME, type SimTime } from "../../../kernel/time.ts";
import { type Cells, textAt } from "./cells.ts";
import {
  type ColumnMapping,
  columnsOf,
  completeMapping,
  mapOption,
  type TraceField,
} from "./column-mapping.ts";
import { durationUnitOf, mapHint, missingColumn, missingDuration, namesUnit } from "./column-names.ts";
import { millisecondsIn, type NumberUnit } from "./decimal.ts";
import { INSTANT_OR_NUMBER_RULE, InstantReader } from "./instant-reader.ts";
import type { Intake } from "./intake.ts";
import { PRESETS, type PresetName, presetOf } from "./presets.ts";

export type RowOptions = {
  readonly mapping?: ColumnMapping | undefined;
  /** A published data set (default: recognised by its columns). */
  readonly preset?: PresetName | undefined;
  /** The endpoint of rows without one. */
  readonly endpoint?: string | undefined;
  /** Unit of numbers in `at` (default: guessed from the first number). */
  readonly timeUnit?: NumberUnit | undefined;
  /** Unit of durations (default: from the suffix of the column's name, otherwise milliseconds). */
  readonly durationUnit?: NumberUnit | undefined;
  /** Zone of instants without a zone (default: UTC). */
  readonly timeZone?: string | undefined;
};

/** Reads rows with named columns. Guessed columns are noted. */
export class RowReader {
  /** The columns that are read. */
  readonly columns: readonly string[];
  readonly #intake: Intake;
  readonly #instants: InstantReader;
  readonly #durationUnit: NumberUnit;
  readonly #missing: Uint8Array | undefined;
  readonly #defaultEndpoint: Uint8Array | undefined;
  readonly #atColumn: number | undefined;
  readonly #endColumn: number | undefined;
  /** A row has a start and an end instead of a duration. */
  readonly #isSpan: boolean;
  readonly #durationColumns: Int32Array;
  readonly #endpointColumn: number | undefined;
  readonly #sourceColumns: Int32Array;
  readonly #encoder = new TextEncoder();
  readonly #kindColumn: number | undefined;
  readonly #guesses: ColumnMapping;
  readonly #names: readonly string[];
  #isUnitNoted: boolean;
  #isCutNoted = false;

  /**
   * `names` are all columns; `columnIndex` is a column's position in a row. Throws if a required column is
   * missing.
   */
  constructor(
    intake: Intake,
    names: readonly string[],
    options: RowOptions,
    columnIndex = (name: string) => names.indexOf(name),
  ) {
    const presetName = options.preset ?? (options.mapping === undefined ? presetOf(names) : undefined);
    const preset = presetName === undefined ? undefined : PRESETS[presetName];
    if (preset !== undefined) intake.note(preset.note);
    if (options.preset === undefined && presetName !== undefined)
      intake.note(`the columns match the data set ${presetName}`);
    const { mapping, found, guesses } = completeMapping(names, { ...preset?.mapping, ...options.mapping });
    this.#guesses = guesses;
    this.#names = names;
    checkRequired(mapping, names, options.endpoint);
    for (const [field, name] of Object.entries(guesses))
      intake.guess(`${field}: the column "${name}"`, mapOption(field as TraceField)(name));
    this.#intake = intake;
    this.#instants = new InstantReader({
      unit: options.timeUnit ?? preset?.timeUnit,
      origin: preset?.origin,
      timeZone: options.timeZone,
    });
    this.#isUnitNoted = (options.timeUnit ?? preset?.timeUnit) !== undefined;
    const [durations, sources] = [columnsOf(mapping.duration, names), columnsOf(mapping.source, names)];
    this.#durationUnit = options.durationUnit ?? preset?.durationUnit ?? durationUnitOf(durations[0]);
    this.#isSpan = mapping.at !== undefined && mapping.end !== undefined && durations.length === 0;
    if (durations.length === 0 && !this.#isSpan && !intake.knowsDuration)
      throw missingDuration(names, mapOption("duration"));
    const [durationColumn] = durations;
    const isUnitKnown = (options.durationUnit ?? preset?.durationUnit) !== undefined;
    if (durationColumn !== undefined && !isUnitKnown && !namesUnit(durationColumn))
      intake.guess(`duration: the unit of "${durationColumn}"`, `--duration-unit ${this.#durationUnit}`);
    if (options.mapping?.end !== undefined && mapping.at !== undefined && durations.length > 0)
      intake.note("end: is not read, because start and duration determine it");
    this.#missing = preset?.missing === undefined ? undefined : new TextEncoder().encode(preset.missing);
    this.#defaultEndpoint =
      options.endpoint === undefined ? undefined : new TextEncoder().encode(options.endpoint);
    const optionalColumnIndex = (name: string | undefined) =>
      name === undefined ? undefined : columnIndex(name);
    this.#atColumn = mapping.at === undefined ? undefined : optionalColumnIndex(mapping.at);
    this.#endColumn = mapping.at === undefined || this.#isSpan ? optionalColumnIndex(mapping.end) : undefined;
    this.#durationColumns = Int32Array.from(durations, columnIndex);
    this.#endpointColumn = optionalColumnIndex(mapping.endpoint);
    this.#sourceColumns = Int32Array.from(sources, columnIndex);
    this.#kindColumn = optionalColumnIndex(mapping.kind);
    const instants = this.#isSpan ? [mapping.at, mapping.end] : [mapping.at ?? mapping.end];
    this.columns = [mapping.endpoint, ...instants, ...durations, ...sources, mapping.kind].filter(
      (name) => name !== undefined,
    );
    intake.readColumns(
      {
        mapping,
        durationUnit: durations.length === 0 ? undefined : this.#durationUnit,
        unread: names.filter((name) => !this.columns.includes(name)),
      },
      Object.keys(found).length > 0,
    );
  }

  read(line: number, cells: Cells): void {
    if (this.#kindColumn !== undefined && textAt(cells, this.#kindColumn) === "disconnect") {
      this.#intake.skip();
      return;
    }
    const compute = this.#computeOf(cells);
    const durationMs = this.#isSpan ? this.#spanOf(cells) : this.#durationOf(cells);
    const at = this.#atOf(cells, durationMs);
    const problem = this.#problemIn(cells, compute, durationMs, at);
    if (problem === undefined) this.#intake.take(line, compute, at, durationMs, this.#sourceOf(cells));
    else {
      this.#noteWrongGuess(problem.slice(0, problem.indexOf(":")) as TraceField);
      this.#intake.reject(line, problem);
    }
  }

  /** Notes how to read another column if the column of the bad value was guessed. */
  #noteWrongGuess(field: TraceField): void {
    const guessed = this.#guesses[field];
    if (guessed === undefined) return;
    this.#intake.noteWrongGuess(
      `${field}: the column "${guessed}" was guessed, and not all of its values can be read; ${mapHint(field, this.#names, mapOption(field))}`,
    );
  }

  #problemIn(cells: Cells, compute: number, durationMs: number, at: number): string | undefined {
    if (compute < 0) return "endpoint: is empty; map another column, or set one endpoint for all rows";
    if (this.#isSpan && !Number.isNaN(at) && !(durationMs >= 0)) {
      const quoted = quotedCell(cells, this.#endColumn);
      return Number.isNaN(durationMs)
        ? `end: ${quoted} ${INSTANT_OR_NUMBER_RULE}`
        : `end: ${quoted} is before ${quotedCell(cells, this.#atColumn)}`;
    }
    if (!this.#isSpan && !(durationMs <= END_OF_TIME))
      return `duration: ${this.#quotedDurations(cells)} must be a number, at least 0`;
    if (!Number.isNaN(at)) return undefined;
    const quoted = quotedCell(cells, this.#atColumn ?? this.#endColumn);
    return `${this.#atColumn === undefined ? "end" : "at"}: ${quoted} ${INSTANT_OR_NUMBER_RULE}`;
  }

  #computeOf(cells: Cells): number {
    const { bytes, starts, ends, count } = cells;
    const column = this.#endpointColumn;
    if (column !== undefined && column < count && !this.#isMissing(cells, column)) {
      return this.#intake.compute(bytes, starts[column] as number, ends[column] as number);
    }
    return this.#defaultEndpoint === undefined
      ? -1
      : this.#intake.compute(this.#defaultEndpoint, 0, this.#defaultEndpoint.length);
  }

  #sourceOf(cells: Cells): number {
    const { bytes, starts, ends, count } = cells;
    if (this.#sourceColumns.length > 1) {
      const name = this.#encoder.encode(
        Array.from(this.#sourceColumns, (column) => textAt(cells, column)).join("/"),
      );
      return this.#intake.source(name, 0, name.length);
    }
    const column = this.#sourceColumns[0];
    if (column === undefined || column >= count || this.#isMissing(cells, column))
      return this.#intake.source(bytes, 0, 0);
    return this.#intake.source(bytes, starts[column] as number, ends[column] as number);
  }

  #atOf(cells: Cells, durationMs: number): SimTime {
    const column = this.#atColumn ?? this.#endColumn ?? 0;
    const at = this.#instantAt(cells, column);
    if (!this.#isUnitNoted && this.#instants.unit !== undefined) {
      this.#isUnitNoted = true;
      this.#intake.guess("at: the unit of the numbers", `--time-unit ${this.#instants.unit}`);
      this.#intake.note(
        `at: the first number is ${quotedCell(cells, column)}, so numbers are read as ${UNIT_WORDS[this.#instants.unit]} since 1970`,
      );
    }
    return this.#atColumn === undefined ? at - durationMs : at;
  }

  #instantAt({ bytes, starts, ends, count }: Cells, column: number): SimTime {
    return column < count
      ? this.#instants.read(bytes, starts[column] as number, ends[column] as number)
      : Number.NaN;
  }

  /** From `at` to `end`, in milliseconds; negative if the end is before the start. */
  #spanOf(cells: Cells): number {
    const [at, end] = [this.#atColumn as number, this.#endColumn as number];
    if (end >= cells.count || this.#isMissing(cells, end)) return this.#intake.unknownDuration();
    const from = this.#instantAt(cells, at);
    return this.#instantAt(cells, end) - from;
  }

  /** In milliseconds. */
  #durationOf(cells: Cells): number {
    let [sum, isKnown] = [0, false];
    for (let i = 0; i < this.#durationColumns.length; i += 1) {
      const column = this.#durationColumns[i] as number;
      if (column >= cells.count || this.#isMissing(cells, column)) continue;
      isKnown = true;
      sum += millisecondsIn(
        cells.bytes,
        cells.starts[column] as number,
        cells.ends[column] as number,
        this.#durationUnit,
      );
    }
    if (!isKnown) return this.#intake.unknownDuration();
    if (sum === 0 && !this.#isCutNoted) this.#noteCutDuration(cells);
    return sum;
  }

  /** A duration above zero that is cut to 0 ms: often its unit is not that of the column. */
  #noteCutDuration(cells: Cells): void {
    for (const column of this.#durationColumns) {
      if (column >= cells.count || this.#isMissing(cells, column)) continue;
      const text = textAt(cells, column);
      if (Number(text) === 0) continue;
      this.#isCutNoted = true;
      this.#intake.note(
        `duration: ${quotedCell(cells, column)} ${UNIT_WORDS[this.#durationUnit]} is below 1 ms and is read as 0 ms; if the unit is another one, set --duration-unit`,
      );
      return;
    }
  }

  #isMissing({ bytes, starts, ends }: Cells, column: number): boolean {
    const [start, end] = [starts[column] as number, ends[column] as number];
    if (start === end) return true;
    const missing = this.#missing;
    return (
      missing !== undefined &&
      missing.length === end - start &&
      missing.every((byte, index) => bytes[start + index] === byte)
    );
  }

  #quotedDurations(cells: Cells): string {
    return Array.from(this.#durationColumns, (column) => quotedCell(cells, column)).join(" + ");
  }
}

const UNIT_WORDS: Readonly<Record<NumberUnit, string>> = {
  s: "seconds",
  ms: "milliseconds",
  us: "microseconds",
  ns: "nanoseconds",
};

function checkRequired(mapping: ColumnMapping, names: readonly string[], endpoint: string | undefined): void {
  if (mapping.endpoint === undefined && endpoint === undefined)
    throw missingColumn("endpoint", names, mapOption("endpoint"));
  if (mapping.at === undefined && mapping.end === undefined)
    throw missingColumn("at", names, mapOption("at"));
}

function quotedCell(cells: Cells, column: number | undefined): string {
  return JSON.stringify(textAt(cells, column)).slice(0, 60);
}
