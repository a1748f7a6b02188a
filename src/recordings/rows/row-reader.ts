import { END_OF_TIME, type SimTime } from "../../platform/core/time.ts";
import { PRESETS, type PresetName, presetOf } from "../formats/presets.ts";
import { type Cells, textAt } from "./cells.ts";
import { columnsOf, completeMapping, type Mapping, shownNames } from "./column-mapping.ts";
import { durationUnitOf } from "./column-names.ts";
import { millisecondsIn, type NumberUnit } from "./decimal.ts";
import { InstantReader } from "./instant-reader.ts";
import type { Intake } from "./intake.ts";
import { TraceInputError } from "./recording-error.ts";

export type RowOptions = {
  readonly mapping?: Mapping | undefined;
  /** A published data set; recognised by its columns where it is left out. */
  readonly preset?: PresetName | undefined;
  /** The endpoint of rows that name none. */
  readonly endpoint?: string | undefined;
  /** Of numbers in `at`; guessed from the first one's size where it is left out. */
  readonly timeUnit?: NumberUnit | undefined;
  /** Of durations; guessed from the column's name where it is left out: milliseconds, unless it ends in `_s`, `_us`, `_ns` or the like. */
  readonly durationUnit?: NumberUnit | undefined;
  /** Of instants that name no zone; UTC where it is left out. */
  readonly timeZone?: string | undefined;
};

/** Reads rows of named columns. The first row's names decide what is read from where; what is guessed is noted. */
export class RowReader {
  /** The columns that are read, of all that there are. */
  readonly columns: readonly string[];
  readonly #intake: Intake;
  readonly #instants: InstantReader;
  readonly #durationUnit: NumberUnit;
  readonly #missing: Uint8Array | undefined;
  readonly #endpoint: Uint8Array | undefined;
  readonly #at: number | undefined;
  readonly #end: number | undefined;
  /** A row says when it came and when it ended, and not how long it took. */
  readonly #isSpan: boolean;
  readonly #durations: Int32Array;
  readonly #endpointAt: number | undefined;
  readonly #sources: Int32Array;
  readonly #encoder = new TextEncoder();
  readonly #kindAt: number | undefined;
  #unitIsNoted: boolean;

  /** `names` of all columns. `places`: where in a row a column is; throws where the columns cannot be a trace's. */
  constructor(intake: Intake, names: readonly string[], options: RowOptions, places = (name: string) => names.indexOf(name)) {
    const presetName = options.preset ?? (options.mapping === undefined ? presetOf(names) : undefined);
    const preset = presetName === undefined ? undefined : PRESETS[presetName];
    if (preset !== undefined) intake.note(preset.note);
    if (options.preset === undefined && presetName !== undefined) intake.note(`the columns are those of ${presetName}`);
    const { mapping, guesses } = completeMapping(names, { ...preset?.mapping, ...options.mapping });
    for (const guess of guesses) intake.note(guess);
    checkNeeded(mapping, names, options.endpoint);
    this.#intake = intake;
    this.#instants = new InstantReader({ unit: options.timeUnit ?? preset?.timeUnit, origin: preset?.origin, timeZone: options.timeZone });
    this.#unitIsNoted = (options.timeUnit ?? preset?.timeUnit) !== undefined;
    const [durations, sources] = [columnsOf(mapping.duration, names), columnsOf(mapping.source, names)];
    this.#durationUnit = options.durationUnit ?? preset?.durationUnit ?? durationUnitOf(durations[0]);
    this.#isSpan = mapping.at !== undefined && mapping.end !== undefined && durations.length === 0;
    if (durations.length === 0 && !this.#isSpan) intake.note("duration: no column looks like it; requests take no time");
    if (options.mapping?.end !== undefined && mapping.at !== undefined && durations.length > 0)
      intake.note("end: is not read, for a start and a duration say when it is");
    this.#missing = preset?.missing === undefined ? undefined : new TextEncoder().encode(preset.missing);
    this.#endpoint = options.endpoint === undefined ? undefined : new TextEncoder().encode(options.endpoint);
    const placeOf = (name: string | undefined) => (name === undefined ? undefined : places(name));
    this.#at = mapping.at === undefined ? undefined : placeOf(mapping.at);
    this.#end = mapping.at === undefined || this.#isSpan ? placeOf(mapping.end) : undefined;
    this.#durations = Int32Array.from(durations, places);
    this.#endpointAt = placeOf(mapping.endpoint);
    this.#sources = Int32Array.from(sources, places);
    this.#kindAt = placeOf(mapping.kind);
    const instants = this.#isSpan ? [mapping.at, mapping.end] : [mapping.at ?? mapping.end];
    this.columns = [mapping.endpoint, ...instants, ...durations, ...sources, mapping.kind].filter((name) => name !== undefined);
  }

  read(line: number, cells: Cells): void {
    if (this.#kindAt !== undefined && textAt(cells, this.#kindAt) === "disconnect") {
      this.#intake.skip();
      return;
    }
    const compute = this.#computeOf(cells);
    const durationMs = this.#isSpan ? this.#spanOf(cells) : this.#durationOf(cells);
    const at = this.#atOf(cells, durationMs);
    const problem = this.#problemIn(cells, compute, durationMs, at);
    if (problem === undefined) this.#intake.take(line, compute, at, durationMs, this.#sourceOf(cells));
    else this.#intake.refuse(line, problem);
  }

  #problemIn(cells: Cells, compute: number, durationMs: number, at: number): string | undefined {
    if (compute < 0) return "endpoint: is empty; map the column that has it, or name one endpoint for all";
    if (this.#isSpan && !Number.isNaN(at) && !(durationMs >= 0)) {
      const shown = shownCell(cells, this.#end);
      return Number.isNaN(durationMs) ? `end: ${shown} ${INSTANT_RULE}` : `end: ${shown} is before ${shownCell(cells, this.#at)}`;
    }
    if (!this.#isSpan && !(durationMs <= END_OF_TIME)) return `duration: ${this.#shownDurations(cells)} must be a number, at least 0`;
    if (!Number.isNaN(at)) return undefined;
    const shown = shownCell(cells, this.#at ?? this.#end);
    return `${this.#at === undefined ? "end" : "at"}: ${shown} ${INSTANT_RULE}`;
  }

  #computeOf(cells: Cells): number {
    const { bytes, starts, ends, count } = cells;
    const place = this.#endpointAt;
    if (place !== undefined && place < count && !this.#isMissing(cells, place)) {
      return this.#intake.compute(bytes, starts[place] as number, ends[place] as number);
    }
    return this.#endpoint === undefined ? -1 : this.#intake.compute(this.#endpoint, 0, this.#endpoint.length);
  }

  #sourceOf(cells: Cells): number {
    const { bytes, starts, ends, count } = cells;
    if (this.#sources.length > 1) {
      const name = this.#encoder.encode(Array.from(this.#sources, (place) => textAt(cells, place)).join("/"));
      return this.#intake.source(name, 0, name.length);
    }
    const place = this.#sources[0];
    if (place === undefined || place >= count || this.#isMissing(cells, place)) return this.#intake.source(bytes, 0, 0);
    return this.#intake.source(bytes, starts[place] as number, ends[place] as number);
  }

  #atOf(cells: Cells, durationMs: number): SimTime {
    const place = this.#at ?? this.#end ?? 0;
    const at = this.#instantAt(cells, place);
    if (!this.#unitIsNoted && this.#instants.unit !== undefined) {
      this.#unitIsNoted = true;
      this.#intake.note(
        `at: the first number is ${shownCell(cells, place)}, so numbers are taken for ${UNIT_WORDS[this.#instants.unit]} since 1970`,
      );
    }
    return this.#at === undefined ? at - durationMs : at;
  }

  #instantAt({ bytes, starts, ends, count }: Cells, place: number): SimTime {
    return place < count ? this.#instants.read(bytes, starts[place] as number, ends[place] as number) : Number.NaN;
  }

  /** From `at` to `end`; negative where that is before it, and none where it is missing. */
  #spanOf(cells: Cells): number {
    const [at, end] = [this.#at as number, this.#end as number];
    if (end >= cells.count || this.#isMissing(cells, end)) return 0;
    const from = this.#instantAt(cells, at);
    return this.#instantAt(cells, end) - from;
  }

  /** In milliseconds; what is missing takes no time. */
  #durationOf(cells: Cells): number {
    let sum = 0;
    for (let i = 0; i < this.#durations.length; i += 1) {
      const place = this.#durations[i] as number;
      if (place >= cells.count || this.#isMissing(cells, place)) continue;
      sum += millisecondsIn(cells.bytes, cells.starts[place] as number, cells.ends[place] as number, this.#durationUnit);
    }
    return sum;
  }

  #isMissing({ bytes, starts, ends }: Cells, place: number): boolean {
    const [start, end] = [starts[place] as number, ends[place] as number];
    if (start === end) return true;
    const missing = this.#missing;
    return missing !== undefined && missing.length === end - start && missing.every((byte, index) => bytes[start + index] === byte);
  }

  #shownDurations(cells: Cells): string {
    return Array.from(this.#durations, (place) => shownCell(cells, place)).join(" + ");
  }
}

const INSTANT_RULE = "must be an ISO 8601 instant, or a number since 1970";
const UNIT_WORDS: Readonly<Record<NumberUnit, string>> = { s: "seconds", ms: "milliseconds", us: "microseconds", ns: "nanoseconds" };

function checkNeeded(mapping: Mapping, names: readonly string[], endpoint: string | undefined): void {
  if (mapping.endpoint === undefined && endpoint === undefined) throw missingColumn("endpoint", names);
  if (mapping.at === undefined && mapping.end === undefined) throw missingColumn("at", names);
}

function missingColumn(field: string, names: readonly string[]): TraceInputError {
  return new TraceInputError(`${field}: no column looks like it; map one of ${shownNames(names)}`, 1);
}

function shownCell(cells: Cells, place: number | undefined): string {
  return JSON.stringify(textAt(cells, place)).slice(0, 60);
}
