import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { ActivityKind } from "../../platform/model/activity.ts";

/** The connection of an arrival whose source tracks none. */
export const NO_CONNECTION = -1;

/**
 * A stream of arrivals in order of time, as a cursor on the next arrival, so that nothing is allocated per
 * arrival. Read the fields, call `next`, and only then report lost connections with `onConnectionClosed`.
 */
export interface Arrivals {
  /**
   * Never before the previous arrival. `Infinity` when the stream has ended, or is idle until
   * `onConnectionClosed`.
   */
  readonly at: SimTime;
  /** 0 for connects and disconnects. */
  readonly durationMs: DurationMs;
  /** Number of queries; 0 for connects and disconnects. */
  readonly queries: number;
  readonly kind: ActivityKind;
  /** Number of the connection within its source, from 0, or `NO_CONNECTION`. */
  readonly connection: number;
  /** Moves to the next arrival. */
  next(): void;
  /**
   * A connection was dropped or rejected at this instant, which is not before the last arrival taken. Clients
   * that hold connections reconnect, so the next arrival may move forward.
   */
  onConnectionClosed(at: SimTime, connection: number): void;
}
