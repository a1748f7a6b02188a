import type BetterSqlite3 from "better-sqlite3";
import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { Operation } from "../../platform/model/operation.ts";
import { emptyWorld } from "../../platform/world/world.ts";
import { type Checkpoint, takeCheckpoint } from "../../simulation/checkpoint.ts";
import type {
  Batch,
  CheckpointPosition,
  EventFilter,
  Journal,
  SteppedWrite,
  Truncation,
} from "../../simulation/journal.ts";
import type { RequestLogEntry } from "../../simulation/request-log.ts";
import { CorruptFile } from "../tables/journal-checksum.ts";
import { readHistoryRow, writeHistoryRow } from "../tables/journal-row.ts";
import { BatchWriter, type JournalHead } from "./batch-writer.ts";
import { DurableTransactions } from "./durable-transactions.ts";
import { eventOf } from "./event-rows.ts";
import { type CheckpointRow, prepareJournalStatements } from "./journal-statements.ts";
import type { LogSync } from "./log-sync.ts";
import {
  isPruned,
  PRUNED_PER_CALL,
  PRUNED_PER_EVENT,
  PRUNED_PER_WRITE,
  type PruneBacklog,
  pruneSome,
} from "./prune-history.ts";
import { RequestRows } from "./request-rows.ts";
import { packCheckpoint, unpackCheckpoint, unpackCheckpointInSteps } from "./stored-checkpoint.ts";
import { StoredEvents } from "./stored-events.ts";
import { StoredOperations } from "./stored-operations.ts";

export type JournalOptions = {
  /** Throws if the file must not be written any more. */
  readonly checkUsable?: (() => void) | undefined;
  /** Called after each durable batch. */
  readonly onWritten?: (head: JournalHead & { readonly now: SimTime }) => void;
  /** Default: `EVENTS_PER_BLOCK`. */
  readonly eventsPerBlock?: number | undefined;
  /** Syncs the commits of the connection. Default: SQLite does. */
  readonly log?: LogSync | undefined;
};

/**
 * History in a world's SQLite file: events and their projection in one transaction, durable when `write`
 * returns.
 */
export class SqliteJournal implements Journal {
  readonly #sqlite: BetterSqlite3.Database;
  readonly #batches: BatchWriter;
  readonly #requests: RequestRows;
  readonly #statements;
  readonly #transactions: DurableTransactions;
  readonly #log: LogSync | undefined;
  readonly #onWritten: NonNullable<JournalOptions["onWritten"]>;
  readonly #events: StoredEvents;
  readonly #operations: StoredOperations;
  #head: JournalHead;
  /** Events up to and including this one are truncated. */
  #oldest: JournalHead;
  #pruneBacklog: PruneBacklog;

  constructor(
    sqlite: BetterSqlite3.Database,
    head: JournalHead,
    { checkUsable = () => undefined, onWritten = () => undefined, eventsPerBlock, log }: JournalOptions = {},
  ) {
    this.#sqlite = sqlite;
    this.#head = head;
    this.#log = log;
    this.#transactions = new DurableTransactions(sqlite, checkUsable, this.#log);
    this.#onWritten = onWritten;
    this.#requests = new RequestRows(sqlite);
    this.#statements = prepareJournalStatements(sqlite);
    this.#events = new StoredEvents(sqlite, eventsPerBlock);
    this.#operations = new StoredOperations(sqlite);
    this.#batches = new BatchWriter(sqlite, this.#statements, this.#events, this.#requests);
    const { forgottenSeq: seq, operationsForgottenBefore } = readHistoryRow(sqlite);
    const oldest = seq === 0 ? { seq: 0, at: 0, chain: 0 } : this.#statements.checkpointAt.get(seq);
    if (oldest === undefined) throw new CorruptFile(`checkpoint ${seq}, where history begins, is missing`);
    this.#oldest = oldest;
    this.#pruneBacklog = {
      firstEvent: this.#events.first ?? seq + 1,
      fromOperation: seq === 0 ? undefined : 0,
      operationsBefore: operationsForgottenBefore,
    };
  }

  /** Operations that ended before this instant may be deleted. */
  get operationsPrunedBefore(): SimTime {
    return this.#pruneBacklog.operationsBefore;
  }

  get newestCheckpoint(): CheckpointPosition {
    return this.#statements.newestCheckpoint.get() ?? this.oldest;
  }

  get oldest(): CheckpointPosition {
    return this.#oldest;
  }

  write(batch: Batch): void {
    const write = this.beginWrite(batch);
    while (!write.step());
    this.#transactions.sync();
  }

  get writable(): Promise<void> | undefined {
    return this.#transactions.writable;
  }

  beginWrite(batch: Batch): SteppedWrite {
    let [head, backlog] = [this.#head, this.#pruneBacklog];
    const { events, changes, now } = batch;
    this.#operations.changed(changes);
    const steps = function* (this: SqliteJournal) {
      head = yield* this.#batches.write(batch, head, this.#oldest);
      backlog = this.#pruneSome(PRUNED_PER_WRITE + PRUNED_PER_EVENT * events.length);
    };
    return this.#transactions.begin(
      steps.bind(this),
      () => {
        this.#head = head;
        this.#pruneBacklog = backlog;
      },
      () => this.#onWritten({ seq: head.seq, at: head.at, chain: head.chain, now }),
    );
  }

  /** Takes the remaining steps of a write that is in progress. */
  completeWrite(): void {
    this.#transactions.complete();
  }

  /** Completes the write that is in progress, and makes all writes durable. Then nothing else uses the log. */
  settle(): void {
    this.#transactions.settle();
  }

  settleFailedWrite(): void {
    this.#operations.forgetAll();
    this.#transactions.settleFailedCommit();
  }

  /** Ends the syncs. Returns whether all writes are durable: otherwise the log must not be checkpointed. */
  endSyncs(): boolean {
    return this.#log?.close() ?? true;
  }

  events(since: number, limit: number): RecordedEvent[] {
    this.completeWrite();
    const seq = Math.max(since, this.#oldest.seq);
    return this.#events.since({ seq, chain: this.#knownChain(seq) }, limit).map(eventOf);
  }

  /**
   * The first events after `since` (exclusive), up to `upTo` (inclusive): about a block of them. Throws `CorruptFile` at
   * the first broken link of the chain, even if later ones match again.
   */
  verifiedEvents(since: number, upTo: number): RecordedEvent[] {
    this.completeWrite();
    const from = { seq: since, chain: this.#knownChain(since) };
    return this.#events.verified(from, upTo - since).map(eventOf);
  }

  eventsAbout(id: string, before: number, limit: number, filter?: EventFilter, after = 0): RecordedEvent[] {
    this.completeWrite();
    return this.#events.about(id, this.#oldest, before, limit, filter, after).map(eventOf);
  }

  checkpointBefore(point: { readonly seq: number } | { readonly at: SimTime }): Checkpoint {
    const row = this.#checkpointRowBefore(point);
    return row === undefined ? takeCheckpoint(emptyWorld()) : unpackCheckpoint(row.seq, row.world);
  }

  async readCheckpointBefore(point: { readonly seq: number }): Promise<Checkpoint> {
    const row = this.#checkpointRowBefore(point);
    return row === undefined ? takeCheckpoint(emptyWorld()) : unpackCheckpointInSteps(row.seq, row.world);
  }

  checkpointPositionBefore(point: { readonly seq: number } | { readonly at: SimTime }): CheckpointPosition {
    const { checkpointPositionBySeq, checkpointPositionByTime } = this.#statements;
    const nearest =
      "seq" in point ? checkpointPositionBySeq.get(point.seq) : checkpointPositionByTime.get(point.at);
    return nearest ?? this.oldest;
  }

  async storeCheckpoint(checkpoint: Checkpoint): Promise<void> {
    const { seq, at } = checkpoint;
    const chain = this.chainAt(seq);
    if (chain === undefined) throw new Error(`cannot store a checkpoint: there is no event ${seq}`);
    const world = await packCheckpoint(checkpoint);
    await this.#transactions.runLater(() => this.#statements.insertCheckpoint.run(seq, at, chain, world));
  }

  truncate({ eventsUpTo, operationsBefore }: Truncation): void {
    const checkpoint =
      eventsUpTo === this.#oldest.seq ? this.#oldest : this.#statements.checkpointAt.get(eventsUpTo);
    if (checkpoint === undefined)
      throw new Error(`cannot truncate history: there is no checkpoint at event ${eventsUpTo}`);
    const before = Math.max(operationsBefore, this.#pruneBacklog.operationsBefore);
    const write = () => {
      writeHistoryRow(this.#sqlite, {
        ...readHistoryRow(this.#sqlite),
        forgottenSeq: checkpoint.seq,
        operationsForgottenBefore: before,
      });
      this.#statements.deleteCheckpoints.run(checkpoint.seq);
    };
    this.#transactions.run(write, () => {
      this.#oldest = checkpoint;
      this.#pruneBacklog = { ...this.#pruneBacklog, fromOperation: 0, operationsBefore: before };
    });
  }

  prune(): boolean {
    this.#transactions.run(
      () => this.#pruneSome(PRUNED_PER_CALL),
      (backlog) => {
        this.#pruneBacklog = backlog;
      },
    );
    return isPruned(this.#pruneBacklog, this.#oldest.seq);
  }

  operations(projectId: string, limit: number, beforeNumber = Number.MAX_SAFE_INTEGER): readonly Operation[] {
    this.completeWrite();
    return this.#operations.ofProject(projectId, limit, beforeNumber);
  }

  operation(id: string): Operation | undefined {
    this.completeWrite();
    return this.#operations.byId(id);
  }

  get newestRequest(): number {
    return this.#requests.newest;
  }

  requests(since: number, limit: number): RequestLogEntry[] {
    this.completeWrite();
    return this.#requests.since(since, limit);
  }

  clearRequests(): void {
    this.#transactions.run(() => this.#requests.clear());
  }

  sizeBytes(): number {
    return this.#statements.size.get()?.bytes ?? 0;
  }

  /** The chain checksum after this event; `undefined` if the event is missing. */
  chainAt(seq: number): number | undefined {
    this.completeWrite();
    return this.#knownChain(seq) ?? this.#events.chainAt(seq);
  }

  #knownChain(seq: number): number | undefined {
    if (seq === this.#head.seq) return this.#head.chain;
    return seq === this.#oldest.seq ? this.#oldest.chain : undefined;
  }

  #checkpointRowBefore(
    point: { readonly seq: number } | { readonly at: SimTime },
  ): CheckpointRow | undefined {
    const { checkpointBySeq, checkpointByTime, checkpointAt } = this.#statements;
    const nearest = "seq" in point ? checkpointBySeq.get(point.seq) : checkpointByTime.get(point.at);
    return nearest ?? checkpointAt.get(this.#oldest.seq);
  }

  /** The caller opens the transaction. */
  #pruneSome(limit: number): PruneBacklog {
    if (this.#pruneBacklog.fromOperation !== undefined) this.#operations.forgetAll();
    return pruneSome(this.#events, this.#statements, this.#pruneBacklog, this.#oldest.seq, limit);
  }
}
