import type { Change } from "../kernel/change-set.ts";
import type { SimTime } from "../kernel/time.ts";
import { CLIENT_WORK_EVENTS, type Event, type RecordedEvent } from "../platform/model/events.ts";
import type { Operation } from "../platform/model/operation.ts";
import type { WorldSettings } from "../platform/model/world-settings.ts";
import type { Numbers } from "../platform/world/world.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { NewRequests, RequestLogEntry } from "./request-log.ts";
import type { ClockState } from "./world-clock.ts";

/** Everything that one commit makes durable: all of it or nothing, except what `onLost` is called for. */
export type Batch = {
  readonly events: readonly RecordedEvent[];
  /** Changed rows, in the order of the events that changed them. */
  readonly changes: readonly Change[];
  readonly settings: WorldSettings;
  readonly numbers: Readonly<Numbers>;
  readonly clock: ClockState;
  /** The instant that the world has reached: all work has run that was due before. */
  readonly now: SimTime;
  /** Not part of history, like the rows of some tables. */
  readonly requests?: NewRequests | undefined;
  /** Called if the requests and the uses of keys could not be written. The rest of the batch is durable. */
  readonly onLost?: ((error: unknown) => void) | undefined;
};

/** Which history to truncate. The worlds that the remaining history replays to do not change. */
export type Truncation = {
  /** The sequence number of a checkpoint; events up to and including it are truncated. */
  readonly eventsUpTo: number;
  /** Operations that ended before this instant, exclusive, are truncated. */
  readonly operationsBefore: SimTime;
};

/** The history that a fork was taken from. Both share the events up to and including `seq`. */
export type HistoryOrigin = {
  readonly world: string;
  readonly historyId: string;
  readonly seq: number;
  readonly at: SimTime;
};

/** Selects the events of one type, or with `lifecycle` all but the work of clients, of which there may be very much. */
export type EventFilter = Event["type"] | "lifecycle";

export function isSelected(type: string, filter: EventFilter | undefined): boolean {
  if (filter === undefined) return true;
  return filter === "lifecycle" ? !CLIENT_WORK_EVENTS.has(type) : type === filter;
}

/**
 * A write failed, and could not be undone, or was made, and could not be made durable. Whether it happened is known
 * only when `settleFailedWrite` returns or history is opened again by another process.
 */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
}

/** A write that is in progress. Until it has ended, nothing of it is in history. */
export interface SteppedWrite {
  /** Takes a step of a few milliseconds; returns whether everything is in history. Throws like `Journal.write`. */
  step(): boolean;
  /** Whether it is in history or has failed, by its own steps or because something else had to wait for it. */
  readonly hasEnded: boolean;
  /** Whether it is durable, by its own sync or because something else had to wait for it. */
  readonly isDurable: boolean;
  /**
   * Makes it durable without blocking others; `undefined` if it is durable. The next write makes it durable first,
   * and blocks for that. Rejects with `OutcomeUnknown`.
   */
  durable(): Promise<void> | undefined;
}

export type CheckpointPosition = Pick<Checkpoint, "seq" | "at">;

/** The port to stored history. */
export interface Journal {
  /** The tables whose changed rows it stores; absent: all. */
  readonly tables?: readonly string[];
  /**
   * For a journal with a limit: the number of events between two checkpoints, since it truncates up to a
   * checkpoint.
   */
  readonly eventsPerCheckpoint?: number | undefined;
  /** Durable when it returns. If it throws, nothing was written, except after `OutcomeUnknown`. */
  write(batch: Batch): void;
  /**
   * Begins the same write in steps, between which others can run. Absent if a write takes no time. Whatever else is
   * asked of the journal meanwhile completes the write first.
   */
  beginWrite?(batch: Batch): SteppedWrite;
  /** Resolves when a write can begin without waiting for the disk; `undefined` if it can, absent if it always can. */
  readonly writable?: Promise<void> | undefined;
  /** Undoes a write whose outcome is unknown, or makes it durable. Throws if that fails again. */
  settleFailedWrite(): void;
  /** Events with a sequence number above `since` (exclusive), in order, without truncated ones. */
  events(since: number, limit: number): RecordedEvent[];
  /** Events that mention this id, newest first, with a sequence number between `after` and `before` (both exclusive). */
  eventsAbout(
    id: string,
    before: number,
    limit: number,
    filter?: EventFilter,
    after?: number,
  ): RecordedEvent[];
  /**
   * The oldest checkpoint: history up to it is truncated. For a complete history it is the empty world, at 0.
   */
  readonly oldest: CheckpointPosition;
  /** The position of the newest checkpoint. */
  readonly newestCheckpoint: CheckpointPosition;
  /** The position of `checkpointBefore`, without its world. */
  checkpointPositionBefore(point: { readonly seq: number } | { readonly at: SimTime }): CheckpointPosition;
  /** The newest checkpoint at or before this sequence number or instant (inclusive); otherwise the oldest. */
  checkpointBefore(point: { readonly seq: number } | { readonly at: SimTime }): Checkpoint;
  /** The same, without blocking others while it is read. */
  readCheckpointBefore(point: { readonly seq: number }): Promise<Checkpoint>;
  /** Durable when it resolves. Checkpoints only make past worlds faster to rebuild. */
  storeCheckpoint(checkpoint: Checkpoint): Promise<void>;
  /** Truncates history. Truncated rows are deleted a few at a time, with every later write. */
  truncate(truncation: Truncation): void;
  /** Deletes some truncated rows; returns whether none are left. */
  prune(): boolean;
  /** A project's operations, newest first, with a number below `beforeNumber` (exclusive). */
  operations(projectId: string, limit: number, beforeNumber?: number): readonly Operation[];
  operation(id: string): Operation | undefined;
  /** Number of the newest stored request; 0 when there is none. */
  readonly newestRequest: number;
  /** Stored requests with a number above `since` (exclusive), in order. */
  requests(since: number, limit: number): RequestLogEntry[];
  clearRequests(): void;
  /** Size on disk in bytes; 0 for a journal in memory. */
  sizeBytes(): number;
}
