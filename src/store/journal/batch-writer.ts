import type BetterSqlite3 from "better-sqlite3";
import type { SimTime } from "../../kernel/time.ts";
import type { TableName } from "../../platform/world/tables.ts";
import type { Batch } from "../../simulation/journal.ts";
import { worldRowValues } from "../tables/journal-row.ts";
import { RowWriter } from "../tables/row-writer.ts";
import { storedEventOf } from "./event-rows.ts";
import type { Link } from "./event-statements.ts";
import { isFileFailure } from "./file-failure.ts";
import type { JournalStatements } from "./journal-statements.ts";
import type { RequestRows } from "./request-rows.ts";
import type { StoredEvents } from "./stored-events.ts";

/** The table outside history whose rows may be lost. Secrets belong to the change that created them. */
const LOSABLE_TABLE: TableName = "apiKeyUses";
/** Each step takes one to three milliseconds. */
const ROWS_PER_STEP = 100;

/** The position that a journal continues from. */
export type JournalHead = { readonly seq: number; readonly at: SimTime; readonly chain: number };

/** Writes batches in the transaction that the caller opens. */
export class BatchWriter {
  readonly #sqlite: BetterSqlite3.Database;
  readonly #statements: JournalStatements;
  readonly #events: StoredEvents;
  readonly #requests: RequestRows;
  readonly #rows: RowWriter;

  constructor(
    sqlite: BetterSqlite3.Database,
    statements: JournalStatements,
    events: StoredEvents,
    requests: RequestRows,
  ) {
    this.#sqlite = sqlite;
    this.#statements = statements;
    this.#events = events;
    this.#requests = requests;
    this.#rows = new RowWriter(sqlite);
  }

  /** Yields after each step. Returns the position after the batch; `head` is the one before it. */
  *write(batch: Batch, head: JournalHead, oldest: Link): Generator<void, JournalHead> {
    const { events, changes, settings, numbers, clock, now } = batch;
    const { seq, at } = events.at(-1) ?? head;
    let { chain } = head;
    // Otherwise acknowledged events were lost, or would be overwritten.
    if (events[0] !== undefined && events[0].seq !== head.seq + 1)
      throw new Error(`cannot write event ${events[0].seq} after event ${head.seq}`);
    // Runs at least once: even without new events, old rows become blocks.
    for (let from = 0; from === 0 || from < events.length; ) {
      if (from > 0) yield;
      const portion = events.slice(from, from + this.#events.portionOf(events.length - from));
      chain = this.#events.append(portion.map(storedEventOf), chain, oldest);
      from += portion.length;
      if (portion.length === 0) break;
    }
    let count = 0;
    for (const change of changes) {
      count += 1;
      if (count % ROWS_PER_STEP === 0) yield;
      if (change.table !== LOSABLE_TABLE) this.#rows.write(change);
    }
    this.#statements.writeWorld.run(...worldRowValues({ settings, numbers, clock, seq, at, now, chain }));
    this.#writeBesideHistory(batch);
    if (count >= ROWS_PER_STEP) yield;
    return { seq, at, chain };
  }

  /** Writes in a savepoint. A failure undoes only this work, except when it concerns the whole file. */
  #writeBesideHistory({ changes, requests, onLost }: Batch): void {
    const { savepoint, release, rollbackToSavepoint } = this.#statements;
    savepoint.run();
    try {
      for (const change of changes) if (change.table === LOSABLE_TABLE) this.#rows.write(change);
      if (requests !== undefined) this.#requests.add(requests);
    } catch (error) {
      // A full disk or an I/O error may have ended the transaction.
      if (!this.#sqlite.inTransaction || isFileFailure(error)) throw error;
      rollbackToSavepoint.run();
      onLost?.(error);
    }
    release.run();
  }
}
