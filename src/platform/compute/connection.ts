import type { DurationMs, SimTime } from "../core/time.ts";

/** A client's connection to a compute. */
export type Connection = {
  readonly endpointId: string;
  /** The caller's name for it, or `#` and a number where the caller gave none. */
  readonly id: string;
  readonly pooled: boolean;
  readonly database?: string;
  /** Holds off the autosuspend until the connection closes. */
  readonly inTransaction: boolean;
  /** It arrived while the compute was not active and outlives the suspend that it waits for. */
  readonly waiting: boolean;
  /** When it closes by itself; absent where somebody has to close it. For a waiting one, see `holdMs`. */
  readonly until?: SimTime;
  /** When the last query that was sent through it ends. */
  readonly busyUntil?: SimTime;
  /** The same of a waiting one, counted from the end of the start: how long it lasts, and how long it is busy. */
  readonly lastsMs?: DurationMs;
  readonly busyMs?: DurationMs;
};
