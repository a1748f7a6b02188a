import type { SimTime } from "../../kernel/time.ts";
import { ACTIVITY_KINDS, type ActivityKind } from "../../platform/model/activity.ts";
import type { Arrivals } from "../generated/arrivals.ts";
import { NO_CONNECTION } from "../generated/arrivals.ts";
import type { ArrivalRow } from "./rows/arrival-row.ts";

/** Arrivals of one endpoint as columns of equal length, by ascending `at`. */
export type RecordedArrivalColumns = {
  readonly at: Float64Array;
  readonly durationMs: Float64Array;
  readonly queries: Uint32Array;
  /** Index into `ACTIVITY_KINDS`. */
  readonly kind: Uint8Array;
  /** Index into the recording's `sources`. */
  readonly source: Uint16Array;
  /** Numbered from 0 in the order of first rows; `NO_CONNECTION` for rows without a connection. */
  readonly connection: Int32Array;
};

export class RecordedArrivalsBuilder {
  #columns = allocateColumns(64);
  #length = 0;
  #isSorted = true;
  readonly #connections = new Map<string, number>();

  add({ at, durationMs, kind, queries, connection }: ArrivalRow, source: number): void {
    if (this.#length === this.#columns.at.length)
      this.#columns = copyColumns(this.#columns, allocateColumns(2 * this.#length));
    const columns = this.#columns;
    const index = this.#length;
    if (index > 0 && at < (columns.at[index - 1] as number)) this.#isSorted = false;
    columns.at[index] = at;
    columns.durationMs[index] = durationMs;
    columns.queries[index] = queries;
    columns.kind[index] = ACTIVITY_KINDS.indexOf(kind);
    columns.source[index] = source;
    columns.connection[index] = connection === "" ? NO_CONNECTION : this.#connectionNumber(connection);
    this.#length += 1;
  }

  /** The added rows by time; rows of one instant keep their order. */
  finish(): RecordedArrivalColumns {
    const { at, durationMs, queries, kind, source, connection } = this.#columns;
    const order = this.#isSorted ? undefined : sortedOrder(at.subarray(0, this.#length));
    const sorted = <Column extends Float64Array | Uint32Array | Uint16Array | Uint8Array | Int32Array>(
      column: Column,
    ): Column => {
      const copy = column.slice(0, this.#length) as Column;
      order?.forEach((from, to) => {
        copy[to] = column[from] as number;
      });
      return copy;
    };
    return {
      at: sorted(at),
      durationMs: sorted(durationMs),
      queries: sorted(queries),
      kind: sorted(kind),
      source: sorted(source),
      connection: sorted(connection),
    };
  }

  #connectionNumber(connection: string): number {
    const number = this.#connections.get(connection) ?? this.#connections.size;
    this.#connections.set(connection, number);
    return number;
  }
}

/** Replays recorded arrivals, shifted by `shiftMs`; `until` is exclusive. */
export class RecordedArrivals implements Arrivals {
  at: SimTime = Number.POSITIVE_INFINITY;
  durationMs = 0;
  queries = 0;
  kind: ActivityKind = "query";
  connection = NO_CONNECTION;
  /** Index into the recording's `sources`. */
  source = 0;
  readonly #columns: RecordedArrivalColumns;
  readonly #shiftMs: number;
  readonly #until: SimTime;
  #index = -1;

  constructor(columns: RecordedArrivalColumns, shiftMs = 0, until: SimTime = Number.POSITIVE_INFINITY) {
    this.#columns = columns;
    this.#shiftMs = shiftMs;
    this.#until = until;
    this.next();
  }

  next(): void {
    this.#index += 1;
    const index = this.#index;
    const { at, durationMs, queries, kind, source, connection } = this.#columns;
    if (index >= at.length || (at[index] as number) + this.#shiftMs >= this.#until) {
      this.at = Number.POSITIVE_INFINITY;
      return;
    }
    this.at = (at[index] as number) + this.#shiftMs;
    this.durationMs = durationMs[index] as number;
    this.queries = queries[index] as number;
    this.kind = ACTIVITY_KINDS[kind[index] as number] as ActivityKind;
    this.source = source[index] as number;
    this.connection = connection[index] as number;
  }

  /** A recording does not react to the world. */
  onConnectionClosed(): void {}
}

function allocateColumns(length: number): RecordedArrivalColumns {
  return {
    at: new Float64Array(length),
    durationMs: new Float64Array(length),
    queries: new Uint32Array(length),
    kind: new Uint8Array(length),
    source: new Uint16Array(length),
    connection: new Int32Array(length),
  };
}

function copyColumns(from: RecordedArrivalColumns, to: RecordedArrivalColumns): RecordedArrivalColumns {
  for (const name of Object.keys(from) as (keyof RecordedArrivalColumns)[]) to[name].set(from[name]);
  return to;
}

function sortedOrder(at: Float64Array): Uint32Array {
  return Uint32Array.from(at, (_, index) => index).sort(
    (one, other) => (at[one] as number) - (at[other] as number) || one - other,
  );
}
