import type { SimTime } from "../../platform/core/time.ts";
import type { World } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import type { ArrivalSource } from "../../simulation/arrival-source.ts";
import type { Labels } from "../file/labels.ts";

export type TargetResponse = { readonly status: number; readonly body: unknown };

/** Where a fault loses the connection, there is no status. */
export const CONNECTION_LOST: TargetResponse = {
  status: 0,
  body: { code: "CONNECTION_LOST", message: "the connection was lost" },
};

export type TargetRequest = {
  /** The imitated API, or ours. */
  readonly surface: "api" | "control";
  readonly method: string;
  /** Behind /api/v2 or /_sim. */
  readonly path: string;
  readonly body?: unknown;
  /** A key of the imitated API. */
  readonly key?: string | undefined;
};

/** What a stage cannot do, so that the scenario cannot be played on it. */
export class CannotRunError extends Error {
  override readonly name = "CannotRunError";
}

/**
 * What a run needs of a world: in this process, in memory or on a file, or a double that is asked over HTTP. Its clock stands unless
 * `play` moves it. Everything else goes through the two surfaces that users have.
 */
export interface ScenarioTarget {
  /** The world's things by label. */
  readonly labels: Labels;
  /** The world as it is; another object after a restore or a restart. Only for looking. */
  world(): World;
  now(): SimTime;
  /** A key of the account of this label. */
  keyOf(account: string): string;
  /** Where the call moves the clock, what arrives on the way comes from `feed`. Over HTTP nobody can do that: there it comes late. */
  request(request: TargetRequest, arrivals: ArrivalSource): Promise<TargetResponse>;
  /** Lets time go on to `to`, with what arrives meanwhile. Every event on the way goes to `feed.observe`, in order. */
  runUntil(arrivals: ArrivalSource, to: SimTime): Promise<void>;
  /** Events that calls have brought about since the last time, in order, and that `feed` was not told of. */
  takeEvents(): readonly RecordedEvent[];
  /** The process dies, and the world is opened again from its file. */
  restart(): Promise<void>;
  /** What the world has come to, in few characters: worlds with the same are the same. */
  digest(): Promise<string>;
  close(): Promise<void>;
}
