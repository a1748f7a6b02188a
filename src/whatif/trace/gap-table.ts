import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import { RecordingError } from "../../traffic/recorded/rows/recording-error.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import { contradictionIn, type GapRow } from "./gap-row.ts";
import type { Traffic } from "./traffic.ts";

/** Each row takes about 80 bytes. */
const MAX_GAP_ROWS = 10_000_000;

const FIELDS = [
  "day",
  "gapS",
  "overMidnight",
  "requests",
  "gapMs",
  "busyMs",
  "firstAt",
  "lastAt",
  "lastEnd",
] as const satisfies readonly (keyof GapRow)[];
/** Columns of a row: the number of the compute, then the fields. */
const WIDTH = FIELDS.length + 1;
/** The compute, its day, the length, and whether it is over midnight. */
const KEY_WIDTH = 4;
const columnOf = (field: (typeof FIELDS)[number]) => FIELDS.indexOf(field) + 1;
const SUMS = (["requests", "gapMs", "busyMs"] as const).map(columnOf);
const LATEST = (["lastAt", "lastEnd"] as const).map(columnOf);
const FIRST_AT = columnOf("firstAt");

/** A table as plain values, which a worker can transfer. */
export type PlainGapTable = { readonly names: readonly string[]; readonly values: Float64Array };

/** Gap rows of any number of files. Rows of one compute, day and length are added up, in whatever order they come. */
export class GapTable {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  #values: Float64Array = new Float64Array(1_024 * WIDTH);
  #rows = 0;
  #isSorted = true;

  static from({ names, values }: PlainGapTable): GapTable {
    const table = new GapTable();
    for (const name of names) table.#numberOf(name);
    table.#values = values;
    table.#rows = values.length / WIDTH;
    table.#isSorted = false;
    return table;
  }

  plain(): PlainGapTable {
    return { names: this.#names, values: this.#values.slice(0, this.#rows * WIDTH) };
  }

  get rows(): number {
    return this.#rows;
  }

  /** Names of the computes that have rows. */
  get computes(): readonly string[] {
    return this.#names;
  }

  /** Throws a `RecordingError` for a row that contradicts itself. */
  add(row: GapRow, line?: number): void {
    const problem = contradictionIn(row);
    if (problem !== undefined) throw new RecordingError(problem, line);
    if (this.#rows >= MAX_GAP_ROWS)
      throw new RecordingError(
        `more than ${MAX_GAP_ROWS.toLocaleString("en")} gap rows; select computes or a shorter period in the query`,
      );
    if (this.#values.length < (this.#rows + 1) * WIDTH) {
      const grown = new Float64Array(2 * this.#values.length);
      grown.set(this.#values);
      this.#values = grown;
    }
    const at = this.#rows * WIDTH;
    this.#values[at] = this.#numberOf(row.compute);
    FIELDS.forEach((field, index) => {
      this.#values[at + 1 + index] = row[field];
    });
    this.#rows += 1;
    this.#isSorted = false;
  }

  /** The rows in order of compute name, day and length. */
  *sortedRows(): Generator<GapRow> {
    this.#sort();
    const byName = [...this.#names.keys()].sort((a, b) => compareText(this.#name(a), this.#name(b)));
    const ranges = this.#ranges();
    for (const number of byName) {
      yield* this.#rowsOf(...(ranges[number] as readonly [number, number]));
    }
  }

  /**
   * The traffic of the rows. Computes are in order of their first request. The period ends after the last request.
   * Throws a `RecordingError` if rows of a compute are missing.
   */
  traffic(): Traffic {
    if (this.#rows === 0) throw new RecordingError("no gap rows");
    this.#sort();
    const computes = this.#ranges().map(([from, to], number) => {
      const name = this.#name(number);
      return { name, ...spanOf(name, this.#rowsOf(from, to)), from, to };
    });
    computes.sort((a, b) => a.firstAt - b.firstAt || compareText(a.name, b.name));
    const period: Period = {
      startAt: (computes[0] as { firstAt: number }).firstAt,
      endAt: computes.reduce((latest, { lastAt }) => Math.max(latest, lastAt), 0) + 1,
    };
    return {
      period,
      computes: computes.map(({ name }) => name),
      sources: [],
      arrivals: () => {
        throw new RangeError("gap rows do not contain the requests");
      },
      gapRows: (compute) => {
        const { from, to } = computes[compute] as { from: number; to: number };
        return this.#rowsOf(from, to);
      },
    };
  }

  #numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#names.length;
    this.#numbers.set(name, number);
    this.#names.push(name);
    return number;
  }

  #name(number: number): string {
    return this.#names[number] as string;
  }

  *#rowsOf(from: number, to: number): Generator<GapRow> {
    for (let row = from; row < to; row += 1) yield this.#row(row);
  }

  #row(row: number): GapRow {
    // Named one by one: objects from lists of fields take five times as long.
    const [at, values] = [row * WIDTH, this.#values];
    return {
      compute: this.#name(values[at] as number),
      day: values[at + 1] as number,
      gapS: values[at + 2] as number,
      overMidnight: values[at + 3] as number,
      requests: values[at + 4] as number,
      gapMs: values[at + 5] as number,
      busyMs: values[at + 6] as number,
      firstAt: values[at + 7] as number,
      lastAt: values[at + 8] as number,
      lastEnd: values[at + 9] as number,
    };
  }

  /** Range of the sorted rows of each compute, by its number. */
  #ranges(): readonly (readonly [from: number, to: number])[] {
    const ranges: [number, number][] = this.#names.map(() => [0, 0]);
    for (let row = 0; row < this.#rows; row += 1) {
      const range = ranges[this.#values[row * WIDTH] as number] as [number, number];
      if (range[1] === 0) range[0] = row;
      range[1] = row + 1;
    }
    return ranges;
  }

  /** Sorts the rows by compute and key, and adds up the rows of one key. */
  #sort(): void {
    if (this.#isSorted) return;
    const values = this.#values;
    const order = Uint32Array.from({ length: this.#rows }, (_, row) => row).sort((a, b) => {
      for (let column = 0; column < KEY_WIDTH; column += 1) {
        const difference = (values[a * WIDTH + column] as number) - (values[b * WIDTH + column] as number);
        if (difference !== 0) return difference;
      }
      return a - b;
    });
    const sorted = new Float64Array(order.length * WIDTH);
    let rows = 0;
    for (const row of order) {
      const from = values.subarray(row * WIDTH, (row + 1) * WIDTH);
      const previous = sorted.subarray((rows - 1) * WIDTH, rows * WIDTH);
      if (rows > 0 && isSameKey(previous, from)) addUp(previous, from);
      else {
        sorted.set(from, rows * WIDTH);
        rows += 1;
      }
    }
    this.#values = sorted;
    this.#rows = rows;
    this.#isSorted = true;
    for (let row = 0; row < rows; row += 1) {
      const problem = contradictionIn(this.#row(row));
      if (problem !== undefined) throw new RecordingError(`compute ${this.#row(row).compute}: ${problem}`);
    }
  }
}

function isSameKey(one: Float64Array, other: Float64Array): boolean {
  for (let column = 0; column < KEY_WIDTH; column += 1) if (one[column] !== other[column]) return false;
  return true;
}

function addUp(into: Float64Array, row: Float64Array): void {
  for (const column of SUMS) into[column] = (into[column] as number) + (row[column] as number);
  for (const column of LATEST) into[column] = Math.max(into[column] as number, row[column] as number);
  into[FIRST_AT] = Math.min(into[FIRST_AT] as number, row[FIRST_AT] as number);
}

/** Time from the first request of a compute to the end of the last one: gaps and busy time. */
function spanOf(
  name: string,
  rows: Iterable<GapRow>,
): { readonly firstAt: SimTime; readonly lastAt: SimTime } {
  let [firstAt, lastAt, lastEnd, coveredMs] = [Number.POSITIVE_INFINITY, 0, 0, 0];
  for (const row of rows) {
    firstAt = Math.min(firstAt, row.firstAt);
    lastAt = Math.max(lastAt, row.lastAt);
    lastEnd = Math.max(lastEnd, row.lastEnd);
    coveredMs += row.gapMs + row.busyMs;
  }
  if (coveredMs === lastEnd - firstAt) return { firstAt, lastAt };
  const seconds = (ms: DurationMs) => `${Math.round(ms / SECOND).toLocaleString("en")} s`;
  throw new RecordingError(
    `compute ${JSON.stringify(name)}: its rows cover ${seconds(coveredMs)} of ${seconds(lastEnd - firstAt)}; rows are missing or twice in the input, or several queries had a part of its requests each`,
  );
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
