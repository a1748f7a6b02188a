import type { Command } from "../platform/commands.ts";
import type { RecordedEvent } from "../platform/events.ts";
import type { Operation } from "../platform/operation.ts";
import type { Result } from "../platform/refusals.ts";
import type { DurationMs, SimTime } from "../platform/time.ts";
import type { World } from "../platform/world.ts";
import type { ClockMode } from "../simulation/clock.ts";

/** One uninterrupted look at a world, in which commands may be given. All of it happens at the instant `now`. */
export type Turn = {
  readonly world: World;
  readonly now: SimTime;
  execute(command: Command): Result<readonly RecordedEvent[]>;
  /** Keeps what must be told again but stands in no history. */
  keepSecret(id: string, value: string): void;
  /** Remembers that a key was used now; coalesced to at most one write a second and key. */
  noteKeyUse(keyId: number, address: string): void;
  /** A project's operations, newest first, finished ones included. */
  operations(projectId: string, limit: number, beforeNumber?: number): Operation[];
  operation(id: string): Operation | undefined;
};

export type ClockReading = {
  readonly now: SimTime;
  readonly mode: ClockMode;
  readonly factor: number;
  readonly nextDue: SimTime | undefined;
};

/** Where to advance to: for a while, to an instant, or to the next due work. */
export type AdvanceTarget = { readonly by: DurationMs } | { readonly to: SimTime } | { readonly next: true };

export type Advance = {
  readonly now: SimTime;
  /** What happened on the way, the first so many. */
  readonly events: readonly RecordedEvent[];
  /** Where the list goes on, if it does. */
  readonly nextSince: number | undefined;
};

/** The journal could not keep what was decided: nothing of it has happened. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

/** A world in service: what the api and the control api know of it. */
export interface WorldHandle {
  readonly name: string;
  /** Runs `look` in one turn; what it gives is handed on when everything that it has seen is durable. */
  turn<T>(look: (turn: Turn) => T): T | Promise<T>;
  /** The world's present instant, without a turn. */
  now(): SimTime;
  clock(): Promise<ClockReading>;
  setClock(mode: ClockMode, factor: number): Promise<ClockReading>;
  /** `undefined` where the target lies in the past. */
  advance(target: AdvanceTarget): Promise<Advance | undefined>;
  /** Committed events above `since`. */
  events(since: number, limit: number): Promise<readonly RecordedEvent[]>;
  /** Tells of events after they are durable; gives what ends it. */
  subscribe(listener: (events: readonly RecordedEvent[]) => void): () => void;
  sizeBytes(): number;
}
