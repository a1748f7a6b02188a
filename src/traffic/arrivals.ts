import type { ActivityKind } from "../platform/compute/activity.ts";
import type { DurationMs, SimTime } from "../platform/core/time.ts";

/** Of an arrival that goes through no connection that its source knows of. */
export const NO_CONNECTION = -1;

/**
 * A stream of arrivals, in order of time, as a cursor that stands on the next one: nothing is allocated for an arrival. Take the fields,
 * call `next`, and only then tell with `closed` what became of what was taken.
 */
export interface Arrivals {
  /** When it comes; never before the one that was taken last. `Infinity` when the stream is over, for now (see `closed`) or for good. */
  readonly at: SimTime;
  /** How long it runs; 0 of what opens or closes a connection. */
  readonly durationMs: DurationMs;
  /** How many queries it stands for; 0 of what opens or closes a connection. */
  readonly queries: number;
  readonly kind: ActivityKind;
  /** Number of the connection within its source, from 0; `NO_CONNECTION` of what needs none of its own. */
  readonly connection: number;
  /** Takes this arrival and goes on to the next. */
  next(): void;
  /**
   * A connection was dropped, or refused, at this instant: no earlier than what was taken last. Clients that hold connections come
   * back, so this may bring the next arrival forward. Others do not care.
   */
  onConnectionClosed(at: SimTime, connection: number): void;
}

/** Columns for many arrivals, equally long. */
export type ArrivalColumns = { readonly at: Float64Array; readonly durationMs: Float64Array };

/** Takes arrivals into columns, until they are full or the stream is over; gives how many there were. */
export function readInto({ at, durationMs }: ArrivalColumns, arrivals: Arrivals): number {
  let count = 0;
  for (; count < at.length && arrivals.at !== Number.POSITIVE_INFINITY; count += 1) {
    at[count] = arrivals.at;
    durationMs[count] = arrivals.durationMs;
    arrivals.next();
  }
  return count;
}
