import type { ApiKeyUse } from "../platform/account/api-key.ts";
import type { Change } from "../platform/core/table.ts";
import type { SimTime } from "../platform/core/time.ts";
import { emptyWorld, type Numbers, type World, type WorldSettings } from "../platform/core/world.ts";
import type { Event, RecordedEvent } from "../platform/events.ts";
import { operationAfter } from "../platform/operation/evolve-operation.ts";
import type { Operation } from "../platform/operation/operation.ts";
import { type Checkpoint, takeCheckpoint } from "./checkpoint.ts";
import type { NewRequests, RecordedRequest } from "./requests.ts";
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
export type Forgetting = {
  /** A checkpoint's sequence number: the events up to it, and what they alone tell of. */
  readonly eventsUpTo: number;
  /** Operations that ended before this instant. */
  readonly operationsBefore: SimTime;
};

/** Where a history was taken from: it shares that one's events up to this one. */
export type Origin = { readonly world: string; readonly historyId: string; readonly seq: number; readonly at: SimTime };

/** Which events are asked for: those of one type, or all but activity, of which there may be very many. */
export type EventsOnly = Event["type"] | "life";

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
  eventsAbout(id: string, before: number, limit: number, only?: EventsOnly): RecordedEvent[];
  /** The oldest checkpoint: history before it is forgotten. That of a whole history is the empty world, at 0. */
  readonly oldest: Pick<Checkpoint, "seq" | "at">;
  /** Sequence number of the newest checkpoint. */
  readonly newestCheckpoint: number;
  /** The newest checkpoint at or before this sequence number, or this instant; the oldest where none is. */
  checkpointBefore(point: { readonly seq: number } | { readonly at: SimTime }): Checkpoint;
  /** Durable when it resolves: a checkpoint shortens the way to a past that could be reached without it. */
  keepCheckpoint(checkpoint: Checkpoint): Promise<void>;
  /** Forgets a little with every write from now on. */
  forget(what: Forgetting): void;
  /** Forgets some of what is left to forget, in a moment; gives whether that was all. */
  sweep(): boolean;
  /** A project's operations, newest first, from below `beforeNumber` on. */
  operations(projectId: string, limit: number, beforeNumber?: number): Operation[];
  operation(id: string): Operation | undefined;
  /** Number of the newest request that is kept; 0 where none is. */
  readonly newestRequest: number;
  /** Kept requests with a number above `since`, in order. */
  requests(since: number, limit: number): RecordedRequest[];
  forgetRequests(): void;
  /** Size on disk in bytes; 0 where there is none. */
  sizeBytes(): number;
}

/** From the nearest one, any past is folded within a moment. */
const MOST_EVENTS_PER_CHECKPOINT = 50_000;

/** Keeps events and what stands beside history; what was an operation is told from the events when somebody asks. */
export class MemoryJournal implements Journal {
  readonly tables: readonly string[] = ["apiKeyUses", "secrets"];
  #events: RecordedEvent[] = [];
  #checkpoints: Checkpoint[] = [takeCheckpoint(emptyWorld())];
  readonly #besideHistory = new Map<string, Change>();
  #clock: { readonly state: ClockState; readonly now: SimTime } | undefined;
  /** All operations, of which the events up to `#seen` tell. */
  #operations = new Map<string, Operation>();
  #seen = 0;
  /** The same as of the oldest checkpoint: no event tells of them any more. */
  #operationsAtOldest = new Map<string, Operation>();
  #operationsForgottenBefore = 0;
  /** The newest, and at most as many again before them. */
  #requests: RecordedRequest[] = [];
  #requestsKept = 0;
  readonly eventsPerCheckpoint: number | undefined;
  readonly #keep: number | undefined;

  /** So many of the newest events are kept, and what has come between two checkpoints beside them; all, where nothing is said. */
  constructor({ keep }: { readonly keep?: number | undefined } = {}) {
    this.#keep = keep;
    this.eventsPerCheckpoint = keep === undefined ? undefined : Math.min(keep, MOST_EVENTS_PER_CHECKPOINT);
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
    for (const change of changes) this.#besideHistory.set(`${change.table} ${change.key}`, change);
    this.#clock = { state: clock, now };
    if (requests !== undefined) this.#keepRequests(requests);
  }

  get newestRequest(): number {
    return this.#requests.at(-1)?.number ?? 0;
  }

  requests(since: number, limit: number): RecordedRequest[] {
    const kept = this.#requests.slice(-this.#requestsKept);
    const first = kept[0]?.number ?? 0;
    // Their numbers have no gaps.
    const from = Math.max(0, since + 1 - first);
    return kept.slice(from, from + limit);
  }

  forgetRequests(): void {
    this.#requests = [];
  }

  events(since: number, limit: number): RecordedEvent[] {
    const from = Math.max(0, since - this.oldest.seq);
    return this.#events.slice(from, from + limit);
  }

  eventsAbout(id: string, before: number, limit: number, only?: EventsOnly): RecordedEvent[] {
    const found: RecordedEvent[] = [];
    for (let index = Math.min(this.#events.length, before - 1 - this.oldest.seq) - 1; index >= 0 && found.length < limit; index -= 1) {
      const event = this.#events[index] as RecordedEvent;
      if (only === "life" ? event.type.startsWith("Activity") : only !== undefined && event.type !== only) continue;
      if (JSON.stringify(event).includes(`"${id}"`)) found.push(event);
    }
    return found;
  }

  checkpointBefore(point: { readonly seq: number } | { readonly at: SimTime }): Checkpoint {
    const isBefore = (checkpoint: Checkpoint) => ("seq" in point ? checkpoint.seq <= point.seq : checkpoint.at <= point.at);
    return this.#checkpoints.findLast(isBefore) ?? this.oldest;
  }

  async keepCheckpoint(checkpoint: Checkpoint): Promise<void> {
    this.#checkpoints.push(checkpoint);
    this.#checkpoints.sort((a, b) => a.seq - b.seq);
    if (this.#keep !== undefined) this.#forgetAllBut(this.#keep);
  }

  forget({ eventsUpTo, operationsBefore }: Forgetting): void {
    this.#fold();
    for (const event of this.events(0, eventsUpTo - this.oldest.seq)) foldOperation(this.#operationsAtOldest, event);
    this.#events = this.events(eventsUpTo, Number.POSITIVE_INFINITY);
    this.#checkpoints = this.#checkpoints.filter(({ seq }) => seq >= eventsUpTo);
    this.#operationsForgottenBefore = Math.max(this.#operationsForgottenBefore, operationsBefore);
    for (const operations of [this.#operations, this.#operationsAtOldest]) this.#forgetOperations(operations);
  }

  sweep(): boolean {
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
  loadBesideHistory(world: World): void {
    for (const { table, value } of this.#besideHistory.values()) {
      const rows: { load(row: unknown): void } = world[table as "secrets"] as never;
      if (value !== undefined) rows.load(value);
    }
  }

  /** Another journal of the same history up to an event, from where each goes its own way. The clock is the copy's own. */
  copy(upTo: number, clock = this.#clock): MemoryJournal {
    const copy = new MemoryJournal({ keep: this.#keep });
    copy.#checkpoints = this.#checkpoints.filter(({ seq }) => seq <= upTo);
    copy.#events = this.#events.slice(0, Math.max(0, upTo - this.oldest.seq));
    for (const [key, change] of this.#besideHistory) {
      const isLater = change.table === "apiKeyUses" && (change.value as ApiKeyUse).lastUsedAt > (clock?.now ?? 0);
      if (!isLater) copy.#besideHistory.set(key, change);
    }
    copy.#clock = clock;
    copy.#operationsAtOldest = new Map(this.#operationsAtOldest);
    copy.#operations = new Map(this.#operationsAtOldest);
    copy.#seen = this.oldest.seq;
    copy.#operationsForgottenBefore = this.#operationsForgottenBefore;
    copy.#requests = this.#requests.filter(({ at }) => at <= (clock?.now ?? 0));
    copy.#requestsKept = this.#requestsKept;
    return copy;
  }

  /** What is over is known by the events that are left; what is not is in the checkpoint that they begin behind. */
  #forgetAllBut(keep: number): void {
    const { oldest } = this;
    const newOldest = this.checkpointBefore({ seq: this.head - keep });
    if (newOldest.seq <= oldest.seq) return;
    this.#events = this.events(newOldest.seq, Number.POSITIVE_INFINITY);
    this.#checkpoints = this.#checkpoints.filter(({ seq }) => seq >= newOldest.seq);
    this.#operationsAtOldest = new Map((newOldest.tables.operations as readonly Operation[]).map((operation) => [operation.id, operation]));
    this.#operations = new Map(this.#operationsAtOldest);
    this.#seen = newOldest.seq;
  }

  #keepRequests({ add, keep }: NewRequests): void {
    for (const request of add) this.#requests.push(request);
    this.#requestsKept = keep;
    if (this.#requests.length >= 2 * keep) this.#requests = this.#requests.slice(-keep);
  }

  #fold(): ReadonlyMap<string, Operation> {
    if (this.#seen === this.head) return this.#operations;
    for (const event of this.events(this.#seen, Number.POSITIVE_INFINITY)) foldOperation(this.#operations, event);
    this.#seen = this.head;
    this.#forgetOperations(this.#operations);
    return this.#operations;
  }

  #forgetOperations(operations: Map<string, Operation>): void {
    for (const [id, { state, updatedAt }] of operations) {
      if (isOver(state) && updatedAt < this.#operationsForgottenBefore) operations.delete(id);
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
      operations.set(event.operationId, operationAfter(operations.get(event.operationId), event));
      return;
  }
}

export function isOver({ status }: Operation["state"]): boolean {
  return status === "finished" || status === "failed" || status === "cancelled";
}
