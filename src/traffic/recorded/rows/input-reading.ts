import type { SimTime } from "../../../kernel/time.ts";
import type { ColumnMapping } from "./column-mapping.ts";
import type { NumberUnit } from "./decimal.ts";

/** Which columns of an input are read, and which are not. */
export type ReadColumns = {
  readonly mapping: ColumnMapping;
  /** Undefined if no column holds a duration. */
  readonly durationUnit: NumberUnit | undefined;
  readonly unread: readonly string[];
};

/** A request as it was read. */
export type FirstRow = {
  readonly compute: string;
  readonly at: SimTime;
  readonly durationMs: number;
  readonly source: string;
};

/** How one input was read, so that a user can see whether it means what was intended. */
export type InputReading = {
  readonly input: string;
  /** Undefined for formats with fixed fields. */
  readonly columns: ReadColumns | undefined;
  /** The first requests, at most `FIRST_ROWS`. */
  readonly first: readonly FirstRow[];
};

const FIRST_ROWS = 3;
const MAX_UNREAD_SHOWN = 20;

/** Collects how each input is read. */
export class InputReadings {
  readonly list: { input: string; columns: ReadColumns | undefined; first: FirstRow[] }[] = [];
  /** Whether first rows of the current input are missing. */
  isIncomplete = false;

  begin(input: string): void {
    this.list.push({ input, columns: undefined, first: [] });
    this.isIncomplete = true;
  }

  row(row: FirstRow): void {
    const first = this.list.at(-1)?.first;
    first?.push(row);
    this.isIncomplete = first !== undefined && first.length < FIRST_ROWS;
  }

  /** The columns of the current input, as text. */
  columns(columns: ReadColumns): string {
    const reading = this.list.at(-1);
    if (reading !== undefined) reading.columns = columns;
    return columnsText(columns);
  }
}

/** Text in the form of `--map`, so that it can be copied and changed. */
export function columnsText({ mapping, durationUnit, unread }: ReadColumns): string {
  const fields = Object.entries(mapping).map(([field, column]) => `${field}=${column}`);
  const unit = durationUnit === undefined ? "" : `, durations in ${durationUnit}`;
  const shown = unread.slice(0, MAX_UNREAD_SHOWN).join(", ");
  const more = unread.length > MAX_UNREAD_SHOWN ? ` and ${unread.length - MAX_UNREAD_SHOWN} more` : "";
  return `columns read as ${fields.join(",")}${unit}${unread.length === 0 ? "" : `; not read: ${shown}${more}`}`;
}
