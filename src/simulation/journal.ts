import type { ApiKeyUse } from "../platform/account/api-key.ts";
import type { Change } from "../platform/core/table.ts";
import { UNJOURNALED_TABLES } from "../platform/core/tables.ts";
import type { SimTime } from "../platform/core/time.ts";
import { emptyWorld, type Numbers, type World } from "../platform/core/world.ts";
import type { WorldSettings } from "../platform/core/world-settings.ts";
import type { Event, RecordedEvent } from "../platform/events.ts";
import { applyOperationEvent } from "../platform/operation/evolve-operation.ts";
import type { Operation } from "../platform/operation/operation.ts";
import { type Checkpoint, takeCheckpoint } from "./checkpoint.ts";
import type { NewRequests, RequestLogEntry } from "./request-log.ts";
import type { ClockState } from "./world-clock.ts";

/** What one commit makes durable, all of it or nothing. */
export type Batch = {
  readonly events: readonly RecordedEvent[];
  /** Changed rows in the order of the events that changed them. */
  readonly changes: readonly Change[];
  readonly settings: WorldSettings;
  readonly numbers: Readonly<Numbers>;
  readonly clock: ClockState;
  /** The latest instant that the world has reached. */
  readonly now: SimTime;
  /** Beside history, like the rows of some tables. */
  readonly requests?: NewRequests | undefined;
};

/** What may be forgotten. The worlds that history folds to stay what they are. */
export type Truncation = {
  /** A checkpoint's sequence number: the events up to it, and what they alone tell of. */
  readonly eventsUpTo: number;
  /** Operations that ended before this instant. */
  readonly operationsBefore: SimTime;
};

/** Where a history was taken from: it shares that one's events up to this one. */
export type HistoryOrigin = {
  readonly world: string;
  readonly historyId: string;
  readonly seq: number;
  readonly at: SimTime;
};

/** Which events are asked for: those of one type, or all but activity, of which there may be very many. */
export type EventFilter = Event["type"] | "life";

/** The port to history. A store stands behind it; here, the one that forgets with the process. */
export interface Journal {
  /** The tables whose rows it wants to be handed; absent where it wants all. */
  readonly tables?: readonly string[];
  /** Where it keeps no more than it needs: so many events are to lie between two checkpoints, for it forgets from one to the next. */
  readonly eventsPerCheckpoint?: number | undefined;
  /** Durable when it returns; throws, and has changed nothing, where it cannot be. */
  write(batch: Batch): void;
  /** Events with a sequence number above `since`, in order; what is forgotten is left out. */
  events(since: number, limit: number): RecordedEvent[];
  /** Events in which this id stands, newest first, from below `before` on. */
  eventsAbout(id: string, before: number, limit: number, filter?: EventFilter): RecordedEvent[];
  /** The oldest checkpoint: history before it is forgotten. That of a whole history is the empty world, at 0. */
  readonly oldest: Pick<Checkpoint, "seq" | "at">;
  /** Sequence number of the newest checkpoint. */
  readonly newestCheckpoint: number;
  /** The newest checkpoint at or before this sequence number, or this instant; the oldest where none is. */
  checkpointBefore(point: { readonly seq: number } | { readonly at: SimTime }): Checkpoint;
  /** Durable when it resolves: a checkpoint shortens the way to a past that could be reached without it. */
  storeCheckpoint(checkpoint: Checkpoint): Promise<void>;
  /** Forgets a little with every write from now on. */
  truncate(truncation: Truncation): void;
  /** Forgets some of what is left to forget, in a moment; gives whether that was all. */
  prune(): boolean;
  /** A project's operations, newest first, from below `beforeNumber` on. */
  operations(projectId: string, limit: number, beforeNumber?: number): Operation[];
  operation(id: string): Operation | undefined;
  /** Number of the newest request that is kept; 0 where none is. */
  readonly newestRequest: number;
  /** Kept requests with a number above `since`, in order. */
  requests(since: number, limit: number): RequestLogEntry[];
  clearRequests(): void;
  /** Size on disk in bytes; 0 where there is none. */
  sizeBytes(): number;
}

/** From the nearest one, any past is folded within a moment. */
const MAX_EVENTS_PER_CHECKPOINT = 50_000;

/** Keeps events and what stands beside history; what was an operation is told from the events when somebody asks. */
export class MemoryJournal implements Journal {
  readonly tables: readonly string[] = UNJOURNALED_TABLES;
  #events: RecordedEvent[] = [];
  #checkpoints: Checkpoint[] = [takeCheckpoint(emptyWorld())];
  readonly #unjournaledRows = new Map<string, Change>();
  #clock: { readonly state: ClockState; readonly now: SimTime } | undefined;
  /** All operations, of which the events up to `#seen` tell. */
  #operations = new Map<string, Operation>();
  #foldedSeq = 0;
  /** The same as of the oldest checkpoint: no event tells of them any more. */
  #operationsAtOldest = new Map<string, Operation>();
  #operationsPrunedBefore = 0;
  /** The newest, and at most as many again before them. */
  #requests: RequestLogEntry[] = [];
  #requestLimit = 0;
  readonly eventsPerCheckpoint: number | undefined;
  readonly #eventLimit: number | undefined;

  /** So many of the newest events are kept, and what has come between two checkpoints beside them; all, where nothing is said. */
  constructor({ limit }: { readonly limit?: number | undefined } = {}) {
    this.#eventLimit = limit;
    this.eventsPerCheckpoint = limit === undefined ? undefined : Math.min(limit, MAX_EVENTS_PER_CHECKPOINT);
  }

  get oldest(): Checkpoint {
    return this.#checkpoints[0] as Checkpoint;
  }

  get newestCheckpoint(): number {
    return this.#checkpoints.at(-1)?.seq ?? 0;
  }

  /** Sequence number of the last event. */
  get head(): number {
    return this.oldest.seq + this.#events.length;
  }

  get clock(): { readonly state: ClockState; readonly now: SimTime } | undefined {
    return this.#clock;
  }

  write({ events, changes, clock, now, requests }: Batch): void {
    for (const event of events) this.#events.push(event);
    for (const change of changes) this.#unjournaledRows.set(`${change.table} ${change.key}`, change);
    this.#clock = { state: clock, now };
    if (requests !== undefined) this.#storeRequests(requests);
  }

  get newestRequest(): number {
    return this.#requests.at(-1)?.number ?? 0;
  }

  requests(since: number, limit: number): RequestLogEntry[] {
    const stored = this.#requests.slice(-this.#requestLimit);
    const first = stored[0]?.number ?? 0;
    // Their numbers have no gaps.
    const from = Math.max(0, since + 1 - first);
    return stored.slice(from, from + limit);
  }

  clearRequests(): void {
    this.#requests = [];
  }

  events(since: number, limit: number): RecordedEvent[] {
    const from = Math.max(0, since - this.oldest.seq);
    return this.#events.slice(from, from + limit);
  }

  eventsAbout(id: string, before: number, limit: number, filter?: EventFilter): RecordedEvent[] {
    const matches: RecordedEvent[] = [];
    for (
      let index = Math.min(this.#events.length, before - 1 - this.oldest.seq) - 1;
      index >= 0 && matches.length < limit;
      index -= 1
    ) {
      const event = this.#events[index] as RecordedEvent;
      if (
        filter === "life" ? event.type.startsWith("Activity") : filter !== undefined && event.type !== filter
      )
        continue;
      if (JSON.stringify(event).includes(`"${id}"`)) matches.push(event);
    }
    return matches;
  }

  checkpointBefore(point: { readonly seq: number } | { readonly at: SimTime }): Checkpoint {
    const isBefore = (checkpoint: Checkpoint) =>
      "seq" in point ? checkpoint.seq <= point.seq : checkpoint.at <= point.at;
    return this.#checkpoints.findLast(isBefore) ?? this.oldest;
  }

  async storeCheckpoint(checkpoint: Checkpoint): Promise<void> {
    this.#checkpoints.push(checkpoint);
    this.#checkpoints.sort((a, b) => a.seq - b.seq);
    if (this.#eventLimit !== undefined) this.#truncateToNewest(this.#eventLimit);
  }

  truncate({ eventsUpTo, operationsBefore }: Truncation): void {
    this.#fold();
    for (const event of this.events(0, eventsUpTo - this.oldest.seq))
      foldOperation(this.#operationsAtOldest, event);
    this.#events = this.events(eventsUpTo, Number.POSITIVE_INFINITY);
    this.#checkpoints = this.#checkpoints.filter(({ seq }) => seq >= eventsUpTo);
    this.#operationsPrunedBefore = Math.max(this.#operationsPrunedBefore, operationsBefore);
    for (const operations of [this.#operations, this.#operationsAtOldest]) this.#pruneOperations(operations);
  }

  prune(): boolean {
    return true;
  }

  operations(projectId: string, limit: number, beforeNumber = Number.POSITIVE_INFINITY): Operation[] {
    return [...this.#fold().values()]
      .filter((operation) => operation.projectId === projectId && operation.number < beforeNumber)
      .sort((a, b) => b.number - a.number)
      .slice(0, limit);
  }

  operation(id: string): Operation | undefined {
    return this.#fold().get(id);
  }

  sizeBytes(): number {
    return 0;
  }

  /** Puts what stands beside history where it belongs, in a world that was folded from these events. */
  loadUnjournaledRows(world: World): void {
    for (const { table, value } of this.#unjournaledRows.values()) {
      const rows: { load(row: unknown): void } = world[table as "secrets"] as never;
      if (value !== undefined) rows.load(value);
    }
  }

  /** Another journal of the same history up to an event, from where each goes its own way. The clock is the copy's own. */
  copy(upTo: number, clock = this.#clock): MemoryJournal {
    const copy = new MemoryJournal({ limit: this.#eventLimit });
    copy.#checkpoints = this.#checkpoints.filter(({ seq }) => seq <= upTo);
    copy.#events = this.#events.slice(0, Math.max(0, upTo - this.oldest.seq));
    for (const [key, change] of this.#unjournaledRows) {
      const isLater =
        change.table === "apiKeyUses" && (change.value as ApiKeyUse).lastUsedAt > (clock?.now ?? 0);
      if (!isLater) copy.#unjournaledRows.set(key, change);
    }
    copy.#clock = clock;
    copy.#operationsAtOldest = new Map(this.#operationsAtOldest);
    copy.#operations = new Map(this.#operationsAtOldest);
    copy.#foldedSeq = this.oldest.seq;
    copy.#operationsPrunedBefore = this.#operationsPrunedBefore;
    copy.#requests = this.#requests.filter(({ at }) => at <= (clock?.now ?? 0));
    copy.#requestLimit = this.#requestLimit;
    return copy;
  }

  /** What is over is known by the events that are left; what is not is in the checkpoint that they begin behind. */
  #truncateToNewest(limit: number): void {
    const { oldest } = this;
    const newOldest = this.checkpointBefore({ seq: this.head - limit });
    if (newOldest.seq <= oldest.seq) return;
    this.#events = this.events(newOldest.seq, Number.POSITIVE_INFINITY);
    this.#checkpoints = this.#checkpoints.filter(({ seq }) => seq >= newOldest.seq);
    this.#operationsAtOldest = new Map(
      (newOldest.tables.operations as readonly Operation[]).map((operation) => [operation.id, operation]),
    );
    this.#operations = new Map(this.#operationsAtOldest);
    this.#foldedSeq = newOldest.seq;
  }

  #storeRequests({ add, limit }: NewRequests): void {
    for (const request of add) this.#requests.push(request);
    this.#requestLimit = limit;
    if (this.#requests.length >= 2 * limit) this.#requests = this.#requests.slice(-limit);
  }

  #fold(): ReadonlyMap<string, Operation> {
    if (this.#foldedSeq === this.head) return this.#operations;
    for (const event of this.events(this.#foldedSeq, Number.POSITIVE_INFINITY))
      foldOperation(this.#operations, event);
    this.#foldedSeq = this.head;
    this.#pruneOperations(this.#operations);
    return this.#operations;
  }

  #pruneOperations(operations: Map<string, Operation>): void {
    for (const [id, { state, updatedAt }] of operations) {
      if (isTerminal(state) && updatedAt < this.#operationsPrunedBefore) operations.delete(id);
    }
  }
}

/** Folds what an event tells of operations, finished ones included, into a table of them. */
export function foldOperation(operations: Map<string, Operation>, event: RecordedEvent): void {
  switch (event.type) {
    case "WorldReset":
      operations.clear();
      return;
    case "OperationScheduled":
      operations.set(event.operation.id, event.operation);
      return;
    case "OperationStarted":
    case "OperationFinished":
    case "OperationRetried":
    case "OperationFailed":
    case "OperationCancelled":
      operations.set(event.operationId, applyOperationEvent(operations.get(event.operationId), event));
      return;
    default:
      event.type satisfies ChangesNoOperation;
  }
}

/** Events that leave all operations as they are. */
// biome-ignore format: as a packed list
type ChangesNoOperation =
  | "WorldCreated" | "WorldConfigured" | "AccountCreated" | "AccountPlanChanged" | "ApiKeyCreated"
  | "ApiKeyRevoked" | "ProjectCreated" | "ProjectUpdated" | "ProjectDeleted" | "ProjectRecovered"
  | "ProjectRemoved" | "ProjectTransferred" | "RecordCreated" | "RecordUpdated" | "RecordDeleted"
  | "BranchCreated" | "BranchBecameReady" | "BranchUpdated" | "BranchSetAsDefault"
  | "BranchExpirationSet" | "BranchMoved" | "BranchRestored" | "BranchDeleted" | "BranchRecovered"
  | "BranchRemoved" | "RoleCreated" | "RoleDeleted" | "RolePasswordReset" | "DatabaseCreated"
  | "DatabaseUpdated" | "DatabaseDeleted" | "SnapshotCreated" | "SnapshotRenamed"
  | "SnapshotDeleted" | "BackupScheduleSet" | "ComputeCreated" | "ComputeUpdated" | "ComputeDeleted"
  | "ComputeActivated" | "ComputeSuspending" | "ComputeSuspended" | "ComputeResized"
  | "ComputeStartFailed" | "ComputeSuspendFailed" | "ActivityScheduled" | "ActivityRecorded"
  | "ActivityDropped" | "FaultSet" | "FaultRemoved" | "FaultMatched" | "FaultHit";

export function isTerminal({ status }: Operation["state"]): boolean {
  return status === "finished" || status === "failed" || status === "cancelled";
}
