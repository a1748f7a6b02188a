import type { Command } from "../platform/commands.ts";
import type { DurationMs, SimTime } from "../platform/core/time.ts";
import type { World } from "../platform/core/world.ts";
import type { RecordedEvent } from "../platform/events.ts";
import type { Operation } from "../platform/operation/operation.ts";
import type { Result } from "../platform/refusals.ts";
import type { ArrivalSource } from "../simulation/arrival-source.ts";
import type { EventFilter } from "../simulation/journal.ts";
import type { HistoryPoint, PointSelector } from "../simulation/replay.ts";
import type { RequestLogEntry } from "../simulation/request-log.ts";
import type { ClockMode } from "../simulation/world-clock.ts";

/** A look at a world as it is at the instant `now`, and at what has led there. */
export type WorldView = {
  readonly world: World;
  readonly now: SimTime;
  /** Events until then in which this id stands, newest first. */
  eventsAbout(id: string, limit: number, filter?: EventFilter): readonly RecordedEvent[];
  events(since: number, limit: number): readonly RecordedEvent[];
  operation(id: string): Operation | undefined;
};

/** One uninterrupted look, in which commands may be given. All of it happens at that instant. */
export type Transaction = WorldView & {
  execute(command: Command): Result<readonly RecordedEvent[]>;
  /** Keeps what must be told again but stands in no history. */
  storeSecret(id: string, value: string): void;
  deleteSecret(id: string): void;
  /** Remembers that a key was used now; coalesced to at most one write a second and key. */
  recordKeyUse(keyId: number, address: string): void;
  /** Puts a request into the journal of requests; absent where none is kept. */
  readonly logRequest: ((request: Omit<RequestLogEntry, "number" | "at" | "seq">) => void) | undefined;
  /** A project's operations, newest first, finished ones included. */
  operations(projectId: string, limit: number, beforeNumber?: number): Operation[];
};

export type ClockReading = {
  readonly now: SimTime;
  readonly mode: ClockMode;
  readonly factor: number;
  readonly nextDue: SimTime | undefined;
};

/** Where to advance to: for a while, to an instant, or to the next due work. */
export type AdvanceTarget = { readonly by: DurationMs } | { readonly to: SimTime } | { readonly next: true };

export type AdvanceResult = {
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

/** A look at a world as it was at a point of its history. */
export type PastView = WorldView & { readonly head: HistoryPoint };

/** What is left of a world's history. */
export type HistoryInfo = {
  /** Another one for every copy that goes its own way. */
  readonly id: string;
  /** The event that history begins behind: 0 for the beginning of the world. */
  readonly forgottenSeq: number;
  /** The last one. */
  readonly seq: number;
};

/** A world in service: what the api and the control api know of it. */
export interface WorldHandle {
  readonly name: string;
  /** Runs `look` in one turn; what it gives is handed on when everything that it has seen is durable. */
  transact<T>(work: (transaction: Transaction) => T): T | Promise<T>;
  /** The world's present instant, without a turn. */
  now(): SimTime;
  clock(): Promise<ClockReading>;
  setClock(mode: ClockMode, factor: number): Promise<ClockReading>;
  /** `undefined` where the target lies in the past. */
  advance(target: AdvanceTarget): Promise<AdvanceResult | undefined>;
  /**
   * Moves on to `to`, or just to the present where that is over, with what a feed brings on the way; committed every so many events.
   * Where a commit fails the feed has seen what has not happened, and is of no use any more.
   */
  advanceWithArrivals(arrivals: ArrivalSource, to: SimTime): Promise<void>;
  /** Committed events above `since`. */
  events(since: number, limit: number): Promise<readonly RecordedEvent[]>;
  /** Whether it will be closed soon: nobody should wait here any more. */
  readonly isShuttingDown: boolean;
  /** Tells of events after they are durable, and of none when something else has become of the world; gives what ends it. */
  subscribe(listener: (events: readonly RecordedEvent[]) => void): () => void;
  /** The world as it was at a point of its history. */
  viewAt(point: PointSelector): Promise<Result<PastView>>;
  history(): HistoryInfo;
  /** Forgets what happened more than so long ago; what it came to stays. */
  compact(maxAge: DurationMs): Promise<HistoryInfo>;
  sizeBytes(): number;
  /** The journal of requests above the number `since`, in order. */
  requests(since: number, limit: number): Promise<readonly RequestLogEntry[]>;
  clearRequests(): Promise<void>;
}

/** What can be told of a world, or of a snapshot of one, at a look. */
export type StoredWorldInfo = {
  readonly historyId: string;
  readonly seq: number;
  readonly now: SimTime;
  readonly sizeBytes: number;
  /** Why it cannot be read, if it cannot. */
  readonly error?: string;
};

export type WorldInfo = StoredWorldInfo & {
  readonly name: string;
  /** Not for a world that nobody has asked for anything yet. */
  readonly isOpen: boolean;
};

/** Names of snapshots that nobody but the server gives: what a restore or an upgrade has left, and scheduled backups. */
export const AUTOMATIC_PREFIX = "auto-";
export const BACKUP_PREFIX = "backup-";

/** What a restore keeps the former world as. */
export function restoreBackupName(wallNow: number): string {
  return `${AUTOMATIC_PREFIX}before-restore-${compactTimestamp(wallNow)}`;
}

/** `20260131t120000z`: fit for a file's name, and in order when sorted. */
export function compactTimestamp(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+/, "").replaceAll(/[-:]/g, "").toLowerCase();
}

/** Names are parts of paths, in URLs and in directories. */
export const WORLD_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
export const WORLD_NAME_RULE = "must be 1 to 63 of a-z, 0-9 and -, and neither begin nor end with -";

/** A name that is not taken, like this one. */
export function availableName(name: string, isTaken: (name: string) => boolean): string {
  let candidate = name;
  for (let number = 2; isTaken(candidate); number += 1) candidate = `${name}-${number}`;
  return candidate;
}

export type SnapshotInfo = StoredWorldInfo & {
  readonly name: string;
  /** By the wall. */
  readonly createdAt: number;
};

export type ForkRequest = {
  readonly name: string;
  readonly from: string;
  /** Absent: the head. */
  readonly at?: PointSelector | undefined;
  readonly clock?: { readonly mode: ClockMode; readonly factor: number } | undefined;
  /** From now on it draws by this seed; what was drawn stays. */
  readonly seed?: number | undefined;
};

/** All worlds of a server, and their snapshots. */
export interface WorldsHandle {
  /** The world of this name; opened by the first who asks for it. */
  world(name: string): Result<WorldHandle>;
  list(): readonly WorldInfo[];
  fork(request: ForkRequest): Promise<Result<WorldInfo>>;
  remove(name: string): Promise<Result<true>>;
  snapshots(world: string): readonly SnapshotInfo[];
  takeSnapshot(world: string, name: string): Promise<Result<SnapshotInfo>>;
  /** Gives the name of the snapshot that the former state is kept under, and what the world has become. */
  restore(
    world: string,
    name: string,
  ): Promise<Result<{ readonly previousName: string; readonly info: WorldInfo }>>;
  removeSnapshot(world: string, name: string): Promise<Result<true>>;
}
