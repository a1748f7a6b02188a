import { utcInstant } from "../../../kernel/calendar.ts";
import { type Random, uniform } from "../../../kernel/random-port.ts";
import { DAY, MINUTE, type SimTime } from "../../../kernel/time.ts";
import { type Cells, textAt } from "../rows/cells.ts";
import { DURATION_ADVICE } from "../rows/column-names.ts";
import type { Intake } from "../rows/intake.ts";
import { RecordingError } from "../rows/recording-error.ts";
import { columnNamesIn, type InputReader } from "./csv-input.ts";
import { CsvScanner } from "./csv-scanner.ts";

export type MinuteCountOptions = {
  readonly random: Random;
  /** The first instant of the file's day (default: day 1 of the data set). */
  readonly dayAt?: SimTime | undefined;
};

/** The note of every trace whose instants were not recorded. */
export const RANDOM_INSTANTS_NOTE =
  "calls are placed randomly within their minute: results for delays near 60 s and below are not reliable";

const MINUTES = 1_440;
const FIRST_COUNT_COLUMN = 4;
const FIXED_COLUMNS = ["HashOwner", "HashApp", "HashFunction", "Trigger"];
const APP_COLUMN = 1;
const FUNCTION_COLUMN = 2;
const TRIGGER_COLUMN = 3;
/**
 * More calls per minute leave hardly any gap of a second, and delays are whole seconds, so they would change
 * nothing.
 */
export const MAX_PER_MINUTE = 1_000;

/**
 * Azure Functions 2019: a row per function, a column per minute of one day
 * (github.com/Azure/AzurePublicDataset, AzureFunctionsDataset2019.md: HashOwner, HashApp, HashFunction,
 * Trigger, 1 … 1440). An app is the unit that is kept warm. The calls of a function are placed randomly
 * within their minute, from a random stream per function.
 */
export function minuteCountsInput(intake: Intake, options: MinuteCountOptions): InputReader {
  if (!intake.knowsDuration) throw new RecordingError(`minute counts state no durations; ${DURATION_ADVICE}`);
  intake.note(RANDOM_INSTANTS_NOTE);
  const reader = new MinuteCountReader(intake, options.random, options.dayAt ?? dataSetDay(1));
  return new CsvScanner(
    { row: (line, cells) => reader.take(line, cells), bad: (line, reason) => intake.reject(line, reason) },
    ",",
  );
}

/** The first instant of day 1 to 14: the data set covers 15 to 28 July 2019 (Shahrad et al., ATC 2020). */
export function dataSetDay(number: number): SimTime {
  return utcInstant(2019, 7, 15) + (number - 1) * DAY;
}

/** Whether the column names are those of such a file. */
export function areMinuteCounts(names: readonly string[]): boolean {
  return FIXED_COLUMNS.every((name, column) => names[column] === name) && names[FIRST_COUNT_COLUMN] === "1";
}

class MinuteCountReader {
  readonly #intake: Intake;
  readonly #random: Random;
  readonly #dayAt: SimTime;
  #hasHeader = false;

  constructor(intake: Intake, random: Random, dayAt: SimTime) {
    this.#intake = intake;
    this.#random = random;
    this.#dayAt = dayAt;
  }

  take(line: number, cells: Cells): void {
    if (!this.#hasHeader) {
      const names = columnNamesIn(cells);
      if (!areMinuteCounts(names))
        throw new RecordingError(`the columns must be ${FIXED_COLUMNS.join(", ")}, 1 … ${MINUTES}`, line);
      this.#hasHeader = true;
      this.#intake.extendPeriod(this.#dayAt, this.#dayAt + DAY);
      return;
    }
    if (cells.count < FIRST_COUNT_COLUMN + MINUTES) {
      this.#intake.reject(
        line,
        `has ${cells.count} cells instead of ${FIRST_COUNT_COLUMN + MINUTES}: the row is truncated`,
      );
      return;
    }
    const counts = Array.from({ length: MINUTES }, (_, minute) =>
      Number(textAt(cells, FIRST_COUNT_COLUMN + minute) || "0"),
    );
    const badMinute = counts.findIndex((count) => !Number.isInteger(count) || count < 0);
    if (textAt(cells, APP_COLUMN) === "") this.#intake.reject(line, "HashApp: is empty");
    else if (badMinute >= 0)
      this.#intake.reject(line, `${badMinute + 1}: must be a whole number of calls, at least 0`);
    else this.#spread(line, cells, counts);
  }

  #spread(line: number, cells: Cells, counts: readonly number[]): void {
    const { bytes, starts, ends } = cells;
    const compute = this.#intake.compute(bytes, starts[APP_COLUMN] as number, ends[APP_COLUMN] as number);
    const source = this.#intake.source(
      bytes,
      starts[TRIGGER_COLUMN] as number,
      ends[TRIGGER_COLUMN] as number,
    );
    const stream = `minute-counts/${textAt(cells, APP_COLUMN)}/${textAt(cells, FUNCTION_COLUMN)}`;
    counts.forEach((count, minute) => {
      if (count === 0) return;
      const startAt = this.#dayAt + minute * MINUTE;
      const draw = this.#random.stream(stream, startAt / MINUTE);
      if (count > MAX_PER_MINUTE)
        this.#intake.note(
          `of more than ${MAX_PER_MINUTE} calls of a function per minute, only ${MAX_PER_MINUTE} are used`,
        );
      for (let call = 0; call < Math.min(count, MAX_PER_MINUTE); call += 1) {
        this.#intake.take(
          line,
          compute,
          startAt + Math.floor(uniform(draw) * MINUTE),
          this.#intake.unknownDuration(),
          source,
        );
      }
    });
  }
}
