import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { World } from "../../platform/world/world.ts";
import type { ArrivalSource } from "../../simulation/arrival-source.ts";
import type { Labels } from "../file/labels.ts";

export type TargetResponse = {
  readonly status: number;
  readonly body: unknown;
  /** Why the platform API refused a request, also where its body has an empty code. */
  readonly refusedWith?: string | undefined;
};

/** The response when a fault drops the connection. */
export const CONNECTION_LOST: TargetResponse = {
  status: 0,
  body: { code: "CONNECTION_LOST", message: "the connection was lost" },
};

export type TargetRequest = {
  /** The imitated API or the control API. */
  readonly surface: "api" | "control";
  readonly method: string;
  /** After /api/v2 or /_sim. */
  readonly path: string;
  readonly body?: unknown;
  /** A key of the imitated API. */
  readonly key?: string | undefined;
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined;
};

/** The target lacks something that the scenario needs. */
export class CannotRunError extends Error {
  override readonly name = "CannotRunError";
}

/**
 * The world of a run: in this process (in memory or on a file), or a server reached over HTTP. Its clock
 * stands still except in `runUntil`. Everything else uses the two HTTP surfaces.
 */
export interface ScenarioTarget {
  /** The resources of the world by label. */
  readonly labels: Labels;
  /** The current world, read-only. A restore or a restart replaces the object. */
  world(): World;
  now(): SimTime;
  /** A key of the account of this label. */
  keyOf(account: string): string;
  /**
   * If the call moves the clock, `arrivals` supplies the traffic on the way. Over HTTP that traffic arrives
   * late.
   */
  request(request: TargetRequest, arrivals: ArrivalSource): Promise<TargetResponse>;
  /**
   * Advances to `to` with the given arrivals. Every event on the way goes to `arrivals.observe`, in order.
   */
  runUntil(arrivals: ArrivalSource, to: SimTime): Promise<void>;
  /**
   * Events that calls have caused since the last `takeEvents`, in order; `arrivals.observe` did not get them.
   */
  takeEvents(): readonly RecordedEvent[];
  /** Kills the process and reopens the world from its file. */
  restart(): Promise<void>;
  /** A digest of the state; worlds with equal digests are equal. */
  digest(): Promise<string>;
  /** Writes everything that has happened, also requests that changed nothing. Absent for a server. */
  readonly flush?: () => Promise<void>;
  close(): Promise<void>;
}
