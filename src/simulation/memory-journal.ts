import { ALL_ROWS, type Change } from "../kernel/change-set.ts";
import type { SimTime } from "../kernel/time.ts";
import type { ApiKeyUse } from "../platform/model/api-key.ts";
import { type BranchData, copyBranchData } from "../platform/model/branch-data.ts";
import type { RecordedEvent } from "../platform/model/events.ts";
import type { Operation } from "../platform/model/operation.ts";
import { hasOwner } from "../platform/rules/branch-data/evolve-branch-data.ts";
import { UNJOURNALED_TABLES } from "../platform/world/tables.ts";
import { emptyWorld, type World } from "../platform/world/world.ts";
import { type Checkpoint, takeCheckpoint } from "./checkpoint.ts";
import { foldOperation, isTerminal } from "./fold-operation.ts";
import {
  type Batch,
  type CheckpointPosition,
  type EventFilter,
  isSelected,
  type Journal,
  type Truncation,
} from "./journal.ts";
import { mentions } from "./mentions.ts";
import type { NewRequests, RequestLogEntry, StoredRequest } from "./request-log.ts";
import type { ClockState } from "./world-clock.ts";

/** Bounds the time to rebuild a past world from the nearest checkpoint. */
const MAX_EVENTS_PER_CHECKPOINT = 50_000;

/** A journal in memory, lost with the process. Operations are derived from the events when they are read. */
export class MemoryJournal implements Journal {
  readonly tables: readonly string[] = UNJOURNALED_TABLES;
  #events: RecordedEvent[] = [];
  #checkpoints: Checkpoint[] = [takeCheckpoint(emptyWorld())];
  readonly #unjournaledRows = new Map<string, Change>();
  #clock: { readonly state: ClockState; readonly now: SimTime } | undefined;
  /** All operations as of the event `#foldedSeq`. */
  #operations = new Map<string, Operation>();
  #foldedSeq = 0;
  /** All operations as of the oldest checkpoint, whose events are truncated. */
  #operationsAtOldest = new Map<string, Operation>();
  #operationsPrunedBefore = 0;
  /** Up to twice `#requestLimit` entries, so that the array is rarely cut; reads return the newest half. */
  #requests: StoredRequest[] = [];
  #requestLimit = 0;
  readonly eventsPerCheckpoint: number | undefined;
  readonly #eventLimit: number | undefined;

  /**
   * `limit`: at least this number of the newest events is retained, rounded up to a checkpoint; default: all.
   */
  constructor({ limit }: { readonly limit?: number | undefined } = {}) {
    this.#eventLimit = limit;
    this.eventsPerCheckpoint = limit === undefined ? undefined : Math.min(limit, MAX_EVENTS_PER_CHECKPOINT);
  }

  get oldest(): Checkpoint {
    return this.#checkpoints[0] as Checkpoint;
  }

  get newestCheckpoint(): CheckpointPosition {
    return this.#checkpoints.at(-1) ?? this.oldest;
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
    for (const change of changes) {
      const row = `${change.table} ${change.key}`;
      if (change.key === ALL_ROWS) this.#deleteRows(change.table);
      else if (change.value === undefined) this.#unjournaledRows.delete(row);
      else this.#unjournaledRows.set(row, change);
    }
    this.#clock = { state: clock, now };
    if (requests !== undefined) this.#storeRequests(requests);
  }

  settleFailedWrite(): void {}

  get newestRequest(): number {
    return this.#requests.at(-1)?.number ?? 0;
  }

  requests(since: number, limit: number): RequestLogEntry[] {
    const stored = this.#requests.slice(-this.#requestLimit);
    const first = stored[0]?.number ?? 0;
    // Request numbers have no gaps.
    const from = Math.max(0, since + 1 - first);
    return stored.slice(from, from + limit).map(({ text }) => JSON.parse(text) as RequestLogEntry);
  }

  clearRequests(): void {
    this.#requests = [];
  }

  events(since: number, limit: number): RecordedEvent[] {
    const from = Math.max(0, since - this.oldest.seq);
    return this.#events.slice(from, from + limit);
  }

  eventsAbout(id: string, before: number, limit: number, filter?: EventFilter, after = 0): RecordedEvent[] {
    const matches: RecordedEvent[] = [];
    const oldest = this.oldest.seq;
    const first = Math.max(0, after - oldest);
    for (
      let index = Math.min(this.#events.length, before - 1 - oldest) - 1;
      index >= first && matches.length < limit;
      index -= 1
    ) {
      const event = this.#events[index] as RecordedEvent;
      if (isSelected(event.type, filter) && mentions(event, id)) matches.push(event);
    }
    return matches;
  }

  checkpointBefore(point: { readonly seq: number } | { readonly at: SimTime }): Checkpoint {
    const isBefore = (checkpoint: Checkpoint) =>
      "seq" in point ? checkpoint.seq <= point.seq : checkpoint.at <= point.at;
    return this.#checkpoints.findLast(isBefore) ?? this.oldest;
  }

  async readCheckpointBefore(point: { readonly seq: number }): Promise<Checkpoint> {
    return this.checkpointBefore(point);
  }

  checkpointPositionBefore(point: { readonly seq: number } | { readonly at: SimTime }): CheckpointPosition {
    return this.checkpointBefore(point);
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

  unjournaledRows(table: string): unknown[] {
    return [...this.#unjournaledRows.values()]
      .filter((change) => change.table === table)
      .map(({ value }) => value);
  }

  /** Loads the rows outside history into a world that was replayed from these events. */
  loadUnjournaledRows(world: World): void {
    for (const { table, value } of this.#unjournaledRows.values()) {
      const rows: { load(row: unknown): void } = world[table as "secrets"] as never;
      rows.load(value);
    }
  }

  /**
   * A fork of this journal after the event `upTo`, with a clock of its own. `past`: the world at that event, if
   * the fork goes back.
   */
  copy(upTo: number, clock = this.#clock, past?: World): MemoryJournal {
    const copy = new MemoryJournal({ limit: this.#eventLimit });
    copy.#checkpoints = this.#checkpoints.filter(({ seq }) => seq <= upTo);
    copy.#events = this.#events.slice(0, Math.max(0, upTo - this.oldest.seq));
    for (const [key, change] of this.#unjournaledRows) {
      const isLater =
        change.table === "apiKeyUses" && (change.value as ApiKeyUse).lastUsedAt > (clock?.now ?? 0);
      const isLost = change.table === "branchData" && past !== undefined && !hasOwner(past, change.key);
      if (isLater || isLost) continue;
      const diverges = change.table === "branchData" && clock !== undefined && clock !== this.#clock;
      const value = diverges
        ? copyBranchData(change.value as BranchData, clock.now, past === undefined)
        : change.value;
      copy.#unjournaledRows.set(key, { ...change, value });
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

  /** Unfinished operations are in the new oldest checkpoint; finished ones are in the remaining events. */
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

  #deleteRows(table: string): void {
    for (const [row, change] of this.#unjournaledRows)
      if (change.table === table) this.#unjournaledRows.delete(row);
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
