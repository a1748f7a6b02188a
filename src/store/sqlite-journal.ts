import type BetterSqlite3 from "better-sqlite3";
import { and, asc, desc, eq, gt, lt, sql } from "drizzle-orm";
import type { BetterSQLite3Database } from "drizzle-orm/better-sqlite3";
import type { RecordedEvent } from "../platform/events.ts";
import type { Operation } from "../platform/operation.ts";
import type { Batch, Journal } from "../simulation/journal.ts";
import * as schema from "./schema.ts";
import { RowWriter, toObject } from "./tables.ts";

/** History in a world's SQLite file: events and their projection in one transaction, durable when `write` returns. */
export class SqliteJournal implements Journal {
  readonly #sqlite: BetterSqlite3.Database;
  readonly #rows: RowWriter;
  readonly #size: BetterSqlite3.Statement;
  readonly #begin: BetterSqlite3.Statement;
  readonly #commit: BetterSqlite3.Statement;
  readonly #rollback: BetterSqlite3.Statement;
  readonly #appendEvent: BetterSqlite3.Statement<[number, number, string, string]>;
  readonly #writeWorld: BetterSqlite3.Statement<[string, string, string, number, number, number]>;
  readonly #selectEvents;
  readonly #selectOperations;
  readonly #selectOperation;
  readonly #lastSeq: { seq: number; at: number };

  constructor(sqlite: BetterSqlite3.Database, drizzle: BetterSQLite3Database, last: { seq: number; at: number }) {
    this.#sqlite = sqlite;
    this.#lastSeq = { ...last };
    this.#rows = new RowWriter(sqlite);
    this.#size = sqlite.prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size");
    this.#begin = sqlite.prepare("BEGIN IMMEDIATE");
    this.#commit = sqlite.prepare("COMMIT");
    this.#rollback = sqlite.prepare("ROLLBACK");
    this.#appendEvent = sqlite.prepare("INSERT INTO events (seq, at, type, payload) VALUES (?, ?, ?, ?)");
    this.#writeWorld = sqlite.prepare(
      `INSERT INTO world (id, settings, numbers, clock, seq, at, now) VALUES (1, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET settings = excluded.settings, numbers = excluded.numbers, clock = excluded.clock,
         seq = excluded.seq, at = excluded.at, now = excluded.now`,
    );
    const { events, operations } = schema;
    this.#selectEvents = drizzle
      .select()
      .from(events)
      .where(gt(events.seq, sql.placeholder("since")))
      .orderBy(asc(events.seq))
      .limit(sql.placeholder("limit"))
      .prepare();
    this.#selectOperations = drizzle
      .select()
      .from(operations)
      .where(and(eq(operations.projectId, sql.placeholder("projectId")), lt(operations.number, sql.placeholder("before"))))
      .orderBy(desc(operations.number))
      .limit(sql.placeholder("limit"))
      .prepare();
    this.#selectOperation = drizzle
      .select()
      .from(operations)
      .where(eq(operations.id, sql.placeholder("id")))
      .prepare();
  }

  write({ events, changes, settings, numbers, clock, now }: Batch): void {
    const last = events.at(-1) ?? this.#lastSeq;
    this.#begin.run();
    try {
      for (const event of events) {
        const { seq, at, type, ...payload } = event;
        this.#appendEvent.run(seq, at, type, JSON.stringify(payload));
      }
      for (const change of changes) this.#rows.write(change);
      this.#writeWorld.run(JSON.stringify(settings), JSON.stringify(numbers), JSON.stringify(clock), last.seq, last.at, now);
      this.#commit.run();
    } catch (error) {
      // A full disk has made SQLite roll back already; any other failure leaves the transaction open.
      if (this.#sqlite.inTransaction) this.#rollback.run();
      throw error;
    }
    this.#lastSeq.seq = last.seq;
    this.#lastSeq.at = last.at;
  }

  events(since: number, limit: number): RecordedEvent[] {
    return this.#selectEvents
      .all({ since, limit })
      .map(({ seq, at, type, payload }) => ({ seq, at, type, ...JSON.parse(payload) }) as RecordedEvent);
  }

  operations(projectId: string, limit: number, beforeNumber = Number.MAX_SAFE_INTEGER): Operation[] {
    return this.#selectOperations.all({ projectId, limit, before: beforeNumber }).map((row) => toObject<Operation>(row));
  }

  operation(id: string): Operation | undefined {
    const row = this.#selectOperation.get({ id });
    return row === undefined ? undefined : toObject<Operation>(row);
  }

  sizeBytes(): number {
    return (this.#size.get() as { bytes: number }).bytes;
  }
}
