import { isDeepStrictEqual } from "node:util";
import type BetterSqlite3 from "better-sqlite3";
import { gt, sql } from "drizzle-orm";
import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { Operation } from "../../platform/model/operation.ts";
import { JOURNALED_TABLES, type TableName, UNJOURNALED_TABLES } from "../../platform/world/tables.ts";
import type { World } from "../../platform/world/world.ts";
import { takeCheckpoint, worldFromCheckpoint } from "../../simulation/checkpoint.ts";
import { foldOperation, isTerminal } from "../../simulation/fold-operation.ts";
import { checkInvariants } from "../../simulation/invariants.ts";
import { replay } from "../../simulation/replay.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { StoredEvents } from "../journal/stored-events.ts";
import { FIRST_VERSION_WITHOUT_PENDING_WORK, SCHEMA_VERSION } from "../tables/format-version.ts";
import { asCorruptFile, CorruptFile } from "../tables/journal-checksum.ts";
import { isSameRow } from "../tables/same-row.ts";
import { checkpoints } from "../tables/schema.ts";
import { once, query, textOf } from "../tables/statement.ts";
import { readAllRows, tableName } from "../tables/stored-tables.ts";
import { problemsOf, readWorldRow, type WorldRow } from "./read-world.ts";

/** Places where a file differs from its journal, or is damaged. */
type VerificationDifference = { readonly where: string; readonly message: string };

const laterCheckpoints = once(() =>
  textOf(
    query
      .select({ seq: checkpoints.seq, at: checkpoints.at, chain: checkpoints.chain })
      .from(checkpoints)
      .where(gt(checkpoints.seq, sql.placeholder("after")))
      .orderBy(checkpoints.seq),
    "after",
  ),
);

export type Verification = {
  readonly ok: boolean;
  /** The replay starts after this event: 0, or the event up to which history was truncated. */
  readonly from: number;
  /** The last event that was replayed. */
  readonly to: number;
  /** Number of rows, checkpoints and invariants compared. */
  readonly rows: number;
  readonly checkpoints: number;
  readonly invariants: number;
  /** At most the first 100. */
  readonly differences: readonly VerificationDifference[];
};

const MAX_DIFFERENCES = 100;

type CheckpointLink = { readonly seq: number; readonly at: SimTime; readonly chain: number };

/** Called with the number of events replayed and the total. Awaited, so that other work can run. */
export type VerificationProgress = (folded: number, of: number) => Promise<void>;

/**
 * Replays the journal of a world's file into an empty world, or from its oldest checkpoint. Compares the
 * result with the tables row by row, with every later checkpoint, and with the invariants. `version` is the schema
 * that the file was written with, if `sqlite` is an upgraded copy of it.
 */
export async function verifyFile(
  sqlite: BetterSqlite3.Database,
  progress: VerificationProgress,
  version = SCHEMA_VERSION,
): Promise<Verification> {
  const verifier = new Verifier(sqlite, version);
  await verifier.run(progress);
  return verifier.verification();
}

class Verifier {
  readonly #sqlite: BetterSqlite3.Database;
  readonly #version: number;
  readonly #differences: VerificationDifference[] = [];
  readonly #count = { from: 0, to: 0, rows: 0, checkpoints: 0, invariants: 0 };

  constructor(sqlite: BetterSqlite3.Database, version: number) {
    this.#sqlite = sqlite;
    this.#version = version;
  }

  async run(progress: VerificationProgress): Promise<void> {
    await this.#collectCorruption("file", () => {
      for (const problem of problemsOf(this.#sqlite, "integrity_check")) this.#addDifference("file", problem);
    });
    await this.#collectCorruption("journal", async () => {
      const row = readWorldRow(this.#sqlite);
      if (row === undefined) throw new CorruptFile("the file contains no world yet");
      const journal = new SqliteJournal(this.#sqlite, row);
      const { world, operations } = await this.#fold(journal, row, progress);
      this.#compare("world", "settings", world.settings, row.settings);
      this.#compare("world", "numbers", world.numbers, row.numbers);
      this.#compare("world", "at", world.at, row.at);
      for (const name of JOURNALED_TABLES) {
        await this.#collectCorruption(tableName(name), () => {
          if (name === "operations") this.#compareOperations(journal, world, operations);
          else this.#compareRows(name, world, readAllRows(this.#sqlite, name));
        });
      }
      for (const name of UNJOURNALED_TABLES)
        await this.#collectCorruption(tableName(name), () => readAllRows(this.#sqlite, name));
      // The work that is due after the last event runs at the next start.
      const mayHavePendingWork = this.#version < FIRST_VERSION_WITHOUT_PENDING_WORK;
      const { checked, violations } = checkInvariants(world, mayHavePendingWork ? world.at : row.now);
      this.#count.invariants = checked;
      for (const { invariant, message } of violations)
        this.#addDifference("invariants", `${invariant}: ${message}`);
    });
  }

  verification(): Verification {
    return { ok: this.#differences.length === 0, ...this.#count, differences: this.#differences };
  }

  async #fold(journal: SqliteJournal, row: WorldRow, progress: VerificationProgress) {
    const { oldest } = journal;
    const world = worldFromCheckpoint(journal.checkpointBefore({ seq: oldest.seq }));
    const operations = new Map<string, Operation>();
    for (const operation of world.operations.values()) operations.set(operation.id, operation);
    const checkpoints = this.#sqlite.prepare<[number], CheckpointLink>(laterCheckpoints()).all(oldest.seq);
    this.#compare("checkpoints", `the instant of checkpoint ${oldest.seq}`, world.at, oldest.at);
    this.#count.from = oldest.seq;
    this.#count.to = oldest.seq;
    while (world.seq < row.seq) {
      const [next] = checkpoints;
      const events = journal.verifiedEvents(world.seq, Math.min(next?.seq ?? row.seq, row.seq));
      if (events.length === 0)
        throw new CorruptFile(
          `the journal ends at event ${world.seq}, but the tables are at event ${row.seq}`,
        );
      this.#replay(events, world);
      for (const event of events) foldOperation(operations, event);
      this.#count.to = world.seq;
      if (world.seq === next?.seq) {
        checkpoints.shift();
        await this.#collectCorruption("checkpoints", () => this.#compareCheckpoint(journal, world, next));
      }
      await progress(world.seq - oldest.seq, row.seq - oldest.seq);
    }
    if (journal.events(world.seq, 1).length > 0)
      throw new CorruptFile(`the tables are at event ${row.seq}, but the journal continues after it`);
    const { last } = new StoredEvents(this.#sqlite);
    if (last !== undefined && last.chain !== row.chain)
      throw new CorruptFile(`event ${row.seq} is not the event that the tables were written with`);
    for (const { seq } of checkpoints)
      this.#addDifference("checkpoints", `checkpoint ${seq} is after the last event`);
    return { world, operations };
  }

  /** Applying an event throws when it does not fit the events before it. */
  #replay(events: readonly RecordedEvent[], world: World): void {
    try {
      replay(events, world);
    } catch (error) {
      throw new CorruptFile(
        `event ${world.seq} contradicts the events before it: ${error instanceof Error ? error.message : error}`,
        { cause: error },
      );
    }
  }

  #compareCheckpoint(journal: SqliteJournal, world: World, { seq, at, chain }: CheckpointLink): void {
    this.#count.checkpoints += 1;
    this.#compare("checkpoints", `the instant of checkpoint ${seq}`, world.at, at);
    this.#compare("checkpoints", `the chain checksum of checkpoint ${seq}`, journal.chainAt(seq), chain);
    const { tables: _, ...head } = takeCheckpoint(world);
    const { tables, ...storedHead } = journal.checkpointBefore({ seq });
    this.#compare("checkpoints", `checkpoint ${seq}`, head, storedHead);
    for (const name of JOURNALED_TABLES) this.#compareRows(name, world, tables[name] ?? [], seq);
  }

  /**
   * Compares the rows of a table, or with `checkpoint` those of a checkpoint, by key: a loaded world does not always
   * list them in the same order as a replayed one.
   */
  #compareRows(name: TableName, world: World, rows: Iterable<unknown>, checkpoint?: number): void {
    const [where, place] =
      checkpoint === undefined
        ? [tableName(name), "the table"]
        : ["checkpoints", `${tableName(name)} of checkpoint ${checkpoint}`];
    const expected = new Map(world[name].entries() as Iterable<[string, unknown]>);
    for (const row of rows) {
      const key = world[name].keyOf(row as never);
      const what = checkpoint === undefined ? key : `${key} in ${place}`;
      if (!expected.has(key)) this.#addDifference(where, `${key} is in ${place} but not in the journal`);
      else this.#compare(where, what, expected.get(key), row);
      expected.delete(key);
    }
    for (const key of expected.keys())
      this.#addDifference(where, `${key} is in the journal but not in ${place}`);
  }

  /** Finished operations stay in their table until they are pruned, which may be later than their events. */
  #compareOperations(journal: SqliteJournal, world: World, expected: Map<string, Operation>): void {
    const where = tableName("operations");
    const { operationsPrunedBefore, oldest } = journal;
    const isOlder = ({ state, updatedAt, number }: Operation) =>
      oldest.seq > 0 && isTerminal(state) && updatedAt <= oldest.at && number <= world.numbers.operation;
    for (const row of readAllRows(this.#sqlite, "operations") as readonly Operation[]) {
      const journaled = expected.get(row.id);
      if (journaled !== undefined) this.#compare(where, row.id, journaled, row);
      else if (!isOlder(row)) this.#addDifference(where, `${row.id} is in the table but not in the journal`);
      expected.delete(row.id);
    }
    for (const { id, state, updatedAt } of expected.values()) {
      if (isTerminal(state) && updatedAt < operationsPrunedBefore) continue;
      this.#addDifference(where, `${id} is in the journal but not in the table`);
    }
  }

  /** `journaled` may have undefined properties, which JSON omits. Nearly all rows are the same, and need no JSON. */
  #compare(where: string, what: string, journaled: unknown, stored: unknown): void {
    this.#count.rows += 1;
    if (isSameRow(journaled, stored) || isDeepStrictEqual(JSON.parse(JSON.stringify(journaled)), stored))
      return;
    this.#addDifference(
      where,
      `${what} is ${JSON.stringify(stored)}, but the journal gives ${JSON.stringify(journaled)}`,
    );
  }

  #addDifference(where: string, message: string): void {
    if (this.#differences.length < MAX_DIFFERENCES) this.#differences.push({ where, message });
  }

  /** Records damage as a difference, and continues with the rest. */
  async #collectCorruption(where: string, work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      const corrupt = asCorruptFile(error);
      if (!(corrupt instanceof CorruptFile)) throw error;
      this.#addDifference(where, corrupt.message);
    }
  }
}
