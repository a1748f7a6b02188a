import type { DurationMs, SimTime } from "../kernel/time.ts";
import type { Result } from "../platform/catalog/refusal-codes.ts";
import type { BranchData } from "../platform/model/branch-data.ts";
import type { RecordedEvent } from "../platform/model/events.ts";
import type { Operation } from "../platform/model/operation.ts";
import type { Command } from "../platform/rules/commands.ts";
import type { World } from "../platform/world/world.ts";
import type { ArrivalSource } from "../simulation/arrival-source.ts";
import type { EventFilter } from "../simulation/journal.ts";
import type { HistoryPoint, PointSelector } from "../simulation/replay.ts";
import type { DescribedRequest, RequestLogEntry } from "../simulation/request-log.ts";
import type { ReadScope } from "../simulation/undurable-rows.ts";
import type { ClockMode } from "../simulation/world-clock.ts";
import type { AccountReport } from "./account-report.ts";
import type { WorldMoves } from "./moves/world-move.ts";
import type { ShadowRecord } from "./shadow-record.ts";

/** What a method needs: it must be called on its view or transaction, not on its own. */
type Receiver = Pick<WorldView, "world" | "now">;

/** A read-only view of a world at the instant `now`, and of its history. */
export type WorldView = {
  readonly world: World;
  readonly now: SimTime;
  /**
   * Events up to `now` that mention this id, newest first, with a sequence number above `after` (exclusive, default: 0). Of
   * a compute or an operation, those since its creation.
   */
  eventsAbout(
    this: Receiver,
    id: string,
    limit: number,
    filter?: EventFilter,
    after?: number,
  ): readonly RecordedEvent[];
  events(this: Receiver, since: number, limit: number): readonly RecordedEvent[];
  operation(this: Receiver, id: string): Operation | undefined;
};

/** An object in history. `limit`: number of events about it of any type, and also of those of its lifecycle. */
export type AboutObject = { readonly id: string; readonly limit: number };

/** `found`: the events about an object, newest first. */
export type ViewAbout = WorldView & { readonly found: readonly RecordedEvent[] };

/** A synchronous transaction that reads and executes commands, all at the same instant. */
export type Transaction = WorldView & {
  execute(command: Command): Result<readonly RecordedEvent[]>;
  /** Stores a secret that must be readable later but must not be in history. */
  storeSecret(this: Receiver, id: string, value: string): void;
  deleteSecret(this: Receiver, id: string): void;
  /** Stores where the data of a branch or snapshot is. Durable when the transaction resolves. */
  storeBranchData(this: Receiver, row: BranchData): void;
  /** `undefined` if there is none, or if it was encrypted with the key of another data directory. */
  readSecret(this: Receiver, id: string): string | undefined;
  /** Records that a key was used now; at most one write per key and second, unless the address changes. */
  recordKeyUse(this: Receiver, keyId: number, address: string): void;
  /**
   * Adds a request to the request log; does nothing when the log is off. An error in `describe` is reported
   * and does not fail the transaction.
   */
  logRequest(this: Receiver, describe: () => DescribedRequest): void;
  /**
   * Reads rows of the world at this instant in steps, which begin after the transaction and leave turns to other work.
   * Few fields of `world` can be read: tables other than `connections`, and `hourlyUsage` by `get`.
   */
  readInSteps<T>(this: Receiver, stepsIn: (world: World) => Generator<undefined, T>): Promise<T>;
  /** A project's operations, newest first, including finished ones. */
  operations(this: Receiver, projectId: string, limit: number, beforeNumber?: number): readonly Operation[];
};

export type ClockReading = {
  readonly now: SimTime;
  readonly mode: ClockMode;
  readonly factor: number;
  readonly nextDue: SimTime | undefined;
};

/** Where to advance the clock to: by a duration, to an instant, or to the next due work. */
export type AdvanceTarget = { readonly by: DurationMs } | { readonly to: SimTime } | { readonly next: true };

export type AdvanceResult = {
  readonly now: SimTime;
  /** The first events of the advance; `nextSince` continues the list. */
  readonly events: readonly RecordedEvent[];
  /** `since` for the rest of the events; `undefined` when `events` is complete. */
  readonly nextSince: number | undefined;
};

/** How a world in service is doing, since the process began. */
export type WorldDiagnostics = {
  readonly commitFailures: number;
  /** How often the world was opened again, after a failure or a restore. */
  readonly reopens: number;
  /** 0 in memory. */
  readonly walBytes: number;
  /** Steps of the host's clock, for all worlds of the process. */
  readonly clockSteps: number;
};

/** Changes by a failed request, as a clause of its answer. */
export const NOTHING_CHANGED = "nothing was changed";
export const CHANGE_UNKNOWN = "it is unknown whether the change was made";

/** The journal could not be read or written. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
  /** `NOTHING_CHANGED`, `CHANGE_UNKNOWN`, or which part of the request was done. */
  readonly outcome: string;
  constructor(
    message: string,
    { outcome = NOTHING_CHANGED, ...options }: ErrorOptions & { outcome?: string } = {},
  ) {
    super(message, options);
    this.outcome = outcome;
  }

  /** Whether it could not be written because the disk is full. */
  get isDiskFull(): boolean {
    for (let error: unknown = this.cause; error instanceof Error; error = error.cause) {
      const { code } = error as { readonly code?: unknown };
      if (code === "SQLITE_FULL" || code === "ENOSPC") return true;
    }
    return false;
  }
}

/** A read-only view of a world at a point of its history. */
export type PastView = WorldView & {
  readonly head: HistoryPoint;
  /** Finds the events about an object in steps, between which other work can run. */
  searchAbout(object: AboutObject): Promise<readonly RecordedEvent[]>;
};

/** The identity and extent of a world's history. */
export type HistoryInfo = {
  /** Unique per fork. */
  readonly id: string;
  /** Events up to and including this one are truncated; 0: history is complete. */
  readonly forgottenSeq: number;
  /** Sequence number of the last event. */
  readonly seq: number;
  /** Why the last checkpoint or truncation of history could not be stored; `undefined` if they were. */
  readonly upkeepFailure?: string | undefined;
};

/** A command about an instant that may have passed, which was learned outside of a transaction. */
export type Report = { readonly at: SimTime; readonly command: Command };

/** Commands that a surface reports to the world. */
export interface ReportSource {
  /** Returns the next report that concerns an instant up to `until`, and moves on to the following one. */
  next(until: SimTime): Report | undefined;
  /**
   * Stores how far the data of the branches is. Called before the clock is advanced, and before the world is
   * copied. `undefined` if there is nothing to store.
   */
  markData?(isCopied: boolean): Promise<void> | undefined;
}

/**
 * Callers that wait for the commit of these events also wait for the promise, if there is one. `failure`: why there are none,
 * if a failed commit has lost activity of clients.
 */
export type EventListener = (
  events: readonly RecordedEvent[],
  failure?: StoreUnavailable | undefined,
) => void | Promise<void>;

/** A world in service, as the APIs see it. */
export interface WorldHandle {
  readonly name: string;
  /** Runs `work` in one transaction. Its result is returned once everything that it has seen is durable. */
  transact<T>(work: (transaction: Transaction) => T): T | Promise<T>;
  /**
   * Runs `work` in one transaction for a client of a compute. Its result is returned once everything that it has seen is
   * durable, except activity of clients. A commit that fails and loses activity notifies the subscribers, like a restore.
   */
  transactForClient<T>(work: (transaction: Transaction) => T): T | Promise<T>;
  /**
   * Runs `work`, which usually executes no command, in one transaction. During an advance it runs at the instant of a
   * commit of the advance, and again after the end if it does execute a command. Other transactions wait for the end.
   * `scopeOf` is called after `work` and returns the rows that the result depends on: changes of other rows need not be
   * durable. Without it, or if it returns `undefined`, the result depends on the whole world.
   */
  read<T>(work: (transaction: Transaction) => T, scopeOf?: () => ReadScope | undefined): T | Promise<T>;
  /**
   * Like `read`, with the events about an object. They are found in steps before, between which other work can run. So
   * only the newest ones are read in the transaction.
   */
  readAbout<T>(object: AboutObject, work: (view: ViewAbout) => T): Promise<T>;
  /**
   * Inspects the world in steps, between which other work can run. Begins after all work that is due now; during an
   * advance it begins after a commit, and the advance waits for its end. The world does not change in the meantime, and
   * can be read.
   */
  inspect<T>(stepsIn: (world: World, now: SimTime) => Generator<undefined, T>): Promise<T>;
  /**
   * The sequence number of the last event, if all work that is due by now has been done, and everything is durable but
   * activity of clients. While it is the same, a transaction would find the same world. `undefined`: only a
   * transaction can tell.
   */
  settledSeq(): number | undefined;
  /** The current instant of the world's clock. Runs no due work. */
  now(): SimTime;
  clock(): Promise<ClockReading>;
  setClock(mode: ClockMode, factor: number): Promise<ClockReading>;
  /** `undefined` if the target is in the past or beyond the end of time. */
  advance(target: AdvanceTarget): Promise<AdvanceResult | undefined>;
  /**
   * Advances to `to` with the arrivals of a source, committing in portions; if `to` is in the past, runs only
   * what is due now. After a failed commit the source has seen events that did not happen, so it must be
   * discarded.
   */
  advanceWithArrivals(arrivals: ArrivalSource, to: SimTime): Promise<void>;
  /** Committed events with a sequence number above `since` (exclusive), in order. */
  events(since: number, limit: number): Promise<readonly RecordedEvent[]>;
  /** Whether the world is about to close; callers should stop waiting for it. */
  readonly isShuttingDown: boolean;
  /**
   * Calls the listener with committed events, or with none after a restore, a close, or a failed commit that has lost
   * activity of clients. Returns a function that
   * unsubscribes.
   */
  subscribe(listener: EventListener): () => void;
  /** Calls the listener when requests have been logged, and like `subscribe` after a restore or close. */
  subscribeToRequests(listener: () => void): () => void;
  /** The number of the newest logged request; 0 without one. */
  newestRequest(): number;
  /** Reports of this source are executed before all work that is due later. There is at most one source. */
  attachReports(source: ReportSource): void;
  /** The world as it was at a point of its history. */
  viewAt(point: PointSelector): Promise<Result<PastView>>;
  history(): HistoryInfo;
  /** Truncates history older than `maxAge` of simulated time. The current world does not change. */
  compact(maxAge: DurationMs): Promise<HistoryInfo>;
  sizeBytes(): number;
  diagnostics(): WorldDiagnostics;
  /**
   * The world in memory, for figures: runs no due work, does not wait for long work, and may contain changes that
   * are not durable yet.
   */
  peek(): { readonly world: World; readonly now: SimTime; readonly factor: number };
  /** Entries of the request log with a number above `since` (exclusive), in order. */
  requests(since: number, limit: number): Promise<readonly RequestLogEntry[]>;
  clearRequests(): Promise<void>;
}

/** Summary of a stored world or snapshot. */
export type StoredWorldInfo = {
  readonly historyId: string;
  readonly seq: number;
  readonly now: SimTime;
  readonly sizeBytes: number;
  /** Set when it cannot be read. */
  readonly error?: string;
};

export type WorldInfo = StoredWorldInfo & {
  readonly name: string;
  /** False for a world that is closed until its next use. */
  readonly isOpen: boolean;
};

/** Reserved prefixes: snapshots that a restore or an upgrade leaves, and scheduled backups. */
export const AUTOMATIC_PREFIX = "auto-";
export const BACKUP_PREFIX = "backup-";

export const RESTORE_BACKUP_PREFIX = `${AUTOMATIC_PREFIX}before-restore-`;

/** The name of the snapshot that preserves the previous world when a snapshot is restored. */
export function restoreBackupName(wallNow: number): string {
  return `${RESTORE_BACKUP_PREFIX}${compactTimestamp(wallNow)}`;
}

/** `20260131t120000z`: valid in file names, and sorts by time. */
export function compactTimestamp(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+/, "").replaceAll(/[-:]/g, "").toLowerCase();
}

/** World names occur in URLs and file paths. */
export const WORLD_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
export const WORLD_NAME_RULE = "must be 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends";

/** This name, or the first free one with a number appended. */
export function availableName(name: string, isTaken: (name: string) => boolean): string {
  let candidate = name;
  for (let number = 2; isTaken(candidate); number += 1) candidate = `${name}-${number}`;
  return candidate;
}

export type SnapshotInfo = StoredWorldInfo & {
  readonly name: string;
  /** Wall-clock time in milliseconds since 1970. */
  readonly createdAt: number;
};

export type ForkRequest = {
  readonly name: string;
  readonly from: string;
  /** Absent: the current head. */
  readonly at?: PointSelector | undefined;
  readonly clock?: { readonly mode: ClockMode; readonly factor: number } | undefined;
  /** The seed for all later draws of the fork; absent: the seed of the origin. */
  readonly seed?: number | undefined;
};

export type WorldCounts = {
  readonly open: number;
  /** How often a world was closed because it was idle. */
  readonly idleClosings: number;
  /** Number of worlds that were deleted because they had expired. */
  readonly expired: number;
  /** Number of worlds that were verified in the background, and in how many of them there were differences. */
  readonly scrubbed: number;
  readonly scrubbedWithDifferences: number;
};

/** All worlds of a server, and their snapshots. */
export interface WorldsHandle {
  /** The world of this name, opened on first use. */
  world(name: string): Result<WorldHandle>;
  list(): readonly WorldInfo[];
  /** The worlds that are open, by name. */
  openWorlds(): readonly WorldHandle[];
  /** Counts since the process began. */
  readonly counts: WorldCounts;
  /**
   * Data to which worlds and snapshots of worlds refer; `undefined` if one of them cannot be read or is being copied.
   * Worlds that are closed are not opened.
   */
  branchData(): Promise<readonly BranchData[] | undefined>;
  /** The Postgres version of each project of all worlds that can be read. Worlds that are closed are not opened. */
  projectVersions(): Promise<readonly number[]>;
  /** Prevents that the world is closed or expires until the returned function is called. */
  use(name: string): () => void;
  fork(request: ForkRequest): Promise<Result<WorldInfo>>;
  remove(name: string): Promise<Result<true>>;
  snapshots(world: string): readonly SnapshotInfo[];
  takeSnapshot(world: string, name: string): Promise<Result<SnapshotInfo>>;
  /** Returns the name of the snapshot that preserves the previous state, and the restored world. */
  restore(
    world: string,
    name: string,
  ): Promise<Result<{ readonly previousName: string; readonly info: WorldInfo }>>;
  removeSnapshot(world: string, name: string): Promise<Result<true>>;
  /** The record that `standin shadow` stored about a world that it has written; `undefined` for other worlds. */
  shadowRecord(world: string): ShadowRecord | undefined;
  /** The what-if report of the account whose past the world has; `undefined` for other worlds. */
  accountReport(world: string): AccountReport;
  /** Absent if worlds are not in files. */
  readonly moves?: WorldMoves | undefined;
}

/** The current instant of a world's clock; `undefined` while the world is replaced, or if it was closed. */
export function instantOf(world: Pick<WorldHandle, "now">): SimTime | undefined {
  try {
    return world.now();
  } catch {
    return undefined;
  }
}
