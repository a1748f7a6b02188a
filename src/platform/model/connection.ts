import type { DurationMs, SimTime } from "../../kernel/time.ts";

/** Connections of real Postgres clients have names with this prefix, which no other caller may choose. */
export const CLIENT_CONNECTION_PREFIX = "pg-";

/** A client's connection to a compute. */
export type Connection = {
  readonly endpointId: string;
  /** The name chosen by the caller; without one, `#` and a number. */
  readonly id: string;
  readonly pooled: boolean;
  readonly database?: string;
  /** Prevents the autosuspend until the connection closes. */
  readonly inTransaction: boolean;
  /** Whether it was opened while the compute was not active, and stays open through the suspend in progress. */
  readonly waiting: boolean;
  /** When it closes by itself; absent if the client closes it. A waiting one has `lastsMs` instead. */
  readonly until?: SimTime;
  /** The instant at which its last query ends. */
  readonly busyUntil?: SimTime;
  /**
   * For a waiting connection, counted from the end of the start: how long it stays open, and how long it is
   * busy.
   */
  readonly lastsMs?: DurationMs;
  readonly busyMs?: DurationMs;
};
