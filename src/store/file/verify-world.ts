import { isDeepStrictEqual } from "node:util";
import type BetterSqlite3 from "better-sqlite3";
import type { SimTime } from "../../platform/core/time.ts";
import { HISTORY_TABLES, type World } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import type { Operation } from "../../platform/operation/operation.ts";
import { takeCheckpoint, worldFrom } from "../../simulation/checkpoint.ts";
import { checkInvariants } from "../../simulation/invariants.ts";
import { foldOperation, isOver } from "../../simulation/journal.ts";
import { replay } from "../../simulation/replay.ts";
import { SqliteJournal } from "../journal/sqlite-journal.ts";
import { asDamaged, Damaged } from "../tables/checksum.ts";
import { prepareReader, type TableName, tableName } from "../tables/stored-tables.ts";
import { readWorldRow, type WorldRow } from "./open-world.ts";

/** Where a file does not hold what its journal tells, or what was written. */
type Difference = { readonly where: string; readonly message: string };

export type Verification = {
  readonly ok: boolean;
  /** The event that the folding began behind: 0, or where history was forgotten up to. */
  readonly from: number;
  /** The last event that was folded. */
  readonly to: number;
  /** How many rows, checkpoints and invariants were compared. */
  readonly rows: number;
  readonly checkpoints: number;
  readonly invariants: number;
  /** The first hundred. */
  readonly differences: readonly Difference[];
};

const MAX_DIFFERENCES = 100;
const EVENTS_PER_PORTION = 500;

type CheckpointLink = { readonly seq: number; readonly at: SimTime; readonly chain: number };

/** Is told how many events are folded, and of how many; lets others get a word in. */
export type Progress = (folded: number, of: number) => Promise<void>;

/**
 * Folds the journal of a world's file into an empty world, or into its oldest checkpoint, and compares it with the tables, row by row,
 * with the checkpoints on the way, and with the invariants.
 */
export async function verifyFile(sqlite: BetterSqlite3.Database, progress: Progress): Promise<Verification> {
  const verifier = new Verifier(sqlite);
  await verifier.run(progress);
  return verifier.verification();
}

class Verifier {
  readonly #sqlite: BetterSqlite3.Database;
  readonly #differences: Difference[] = [];
  readonly #count = { from: 0, to: 0, rows: 0, checkpoints: 0, invariants: 0 };

  constructor(sqlite: BetterSqlite3.Database) {
    this.#sqlite = sqlite;
  }

  async run(progress: Progress): Promise<void> {
    await this.#looking("file", () => {
      for (const problem of this.#sqlite.prepare("PRAGMA integrity_check").pluck().all()) {
        if (problem !== "ok") this.#differ("file", String(problem));
      }
    });
    await this.#looking("journal", async () => {
      const row = readWorldRow(this.#sqlite);
      if (row === undefined) throw new Damaged("there is no world in this file yet");
      const journal = new SqliteJournal(this.#sqlite, row);
      const { world, operations } = await this.#fold(journal, row, progress);
      this.#compare("world", "settings", world.settings, row.settings);
      this.#compare("world", "numbers", world.numbers, row.numbers);
      this.#compare("world", "at", world.at, row.at);
      for (const name of HISTORY_TABLES) {
        await this.#looking(tableName(name), () => {
          if (name === "operations") this.#compareOperations(journal, world, operations);
          else this.#compareRows(name, world);
        });
      }
      for (const name of ["apiKeyUses", "secrets"] as const)
        await this.#looking(tableName(name), () => prepareReader(this.#sqlite, name)());
      const { checked, violations } = checkInvariants(world, row.now);
      this.#count.invariants = checked;
      for (const { invariant, message } of violations) this.#differ("invariants", `${invariant}: ${message}`);
    });
  }

  verification(): Verification {
    return { ok: this.#differences.length === 0, ...this.#count, differences: this.#differences };
  }

  async #fold(journal: SqliteJournal, row: WorldRow, progress: Progress) {
    const { oldest } = journal;
    const world = worldFrom(journal.checkpointBefore({ seq: oldest.seq }));
    const operations = new Map<string, Operation>();
    for (const operation of world.operations.values()) operations.set(operation.id, operation);
    const checkpoints = this.#sqlite
      .prepare<[number], CheckpointLink>("SELECT seq, at, chain FROM checkpoints WHERE seq > ? ORDER BY seq")
      .all(oldest.seq);
    this.#compare("checkpoints", `the instant of ${oldest.seq}`, world.at, oldest.at);
    this.#count.from = oldest.seq;
    this.#count.to = oldest.seq;
    while (world.seq < row.seq) {
      const [next] = checkpoints;
      const portion = Math.min((next?.seq ?? row.seq) - world.seq, row.seq - world.seq, EVENTS_PER_PORTION);
      journal.checkLinks(world.seq, portion);
      const events = journal.events(world.seq, portion);
      if (events.length === 0) throw new Damaged(`the journal ends with event ${world.seq}, the tables stand at event ${row.seq}`);
      this.#replay(events, world);
      for (const event of events) foldOperation(operations, event);
      this.#count.to = world.seq;
      if (world.seq === next?.seq) {
        checkpoints.shift();
        await this.#looking("checkpoints", () => this.#compareCheckpoint(journal, world, next));
      }
      await progress(world.seq - oldest.seq, row.seq - oldest.seq);
    }
    if (journal.events(world.seq, 1).length > 0) throw new Damaged(`the journal goes on after event ${row.seq}, where the tables stand`);
    if (this.#lastChain() !== undefined && this.#lastChain() !== row.chain)
      throw new Damaged(`event ${row.seq} is not the one that the tables stand at`);
    for (const { seq } of checkpoints) this.#differ("checkpoints", `${seq} is of an event that has not happened`);
    return { world, operations };
  }

  /** Events that do not follow from each other cannot be folded. */
  #replay(events: readonly RecordedEvent[], world: World): void {
    try {
      replay(events, world);
    } catch (error) {
      throw new Damaged(`what event ${world.seq} tells cannot be: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }

  #lastChain(): number | undefined {
    return this.#sqlite.prepare<[], number>("SELECT chain FROM events ORDER BY seq DESC LIMIT 1").pluck().get();
  }

  /** Rows are compared by their keys: the order of a world that was loaded is not always that of one that was folded. */
  #compareCheckpoint(journal: SqliteJournal, world: World, { seq, at, chain }: CheckpointLink): void {
    this.#count.checkpoints += 1;
    this.#compare("checkpoints", `the instant of ${seq}`, world.at, at);
    this.#compare("checkpoints", `the link of ${seq}`, journal.chainAt(seq), chain);
    const { tables: told, ...head } = takeCheckpoint(world);
    const { tables: held, ...heldHead } = journal.checkpointBefore({ seq });
    this.#compare("checkpoints", String(seq), head, heldHead);
    for (const name of HISTORY_TABLES) {
      const byKey = (rows: Iterable<unknown> = []) =>
        Object.fromEntries(
          [...rows].map((row) => [world[name].keyOf(row as never), row]).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
        );
      this.#compare("checkpoints", `${tableName(name)} of ${seq}`, byKey(told[name]), byKey(held[name]));
    }
  }

  #compareRows(name: TableName, world: World): void {
    const expected = new Map(world[name].entries() as Iterable<[string, unknown]>);
    const keyOf = (row: unknown) => world[name].keyOf(row as never);
    for (const row of prepareReader(this.#sqlite, name)()) {
      const key = keyOf(row);
      if (!expected.has(key)) this.#differ(tableName(name), `${key} is in the table, but the journal does not tell of it`);
      else this.#compare(tableName(name), key, expected.get(key), row);
      expected.delete(key);
    }
    for (const key of expected.keys()) this.#differ(tableName(name), `${key} is not in the table, but the journal tells of it`);
  }

  /** Operations that are over stay in their table until they are forgotten, which may be later than the events that tell of them. */
  #compareOperations(journal: SqliteJournal, world: World, expected: Map<string, Operation>): void {
    const where = tableName("operations");
    const { forgottenBefore, oldest } = journal;
    const isOlder = ({ state, updatedAt, number }: Operation) =>
      oldest.seq > 0 && isOver(state) && updatedAt <= oldest.at && number <= world.numbers.operation;
    for (const row of prepareReader<Operation>(this.#sqlite, "operations")()) {
      const told = expected.get(row.id);
      if (told !== undefined) this.#compare(where, row.id, told, row);
      else if (!isOlder(row)) this.#differ(where, `${row.id} is in the table, but the journal does not tell of it`);
      expected.delete(row.id);
    }
    for (const { id, state, updatedAt } of expected.values()) {
      if (isOver(state) && updatedAt < forgottenBefore) continue;
      this.#differ(where, `${id} is not in the table, but the journal tells of it`);
    }
  }

  /** `told` may have properties without a value, which JSON does not know. */
  #compare(where: string, what: string, told: unknown, held: unknown): void {
    this.#count.rows += 1;
    if (isDeepStrictEqual(JSON.parse(JSON.stringify(told)), held)) return;
    this.#differ(where, `${what} is ${JSON.stringify(held)}; by the journal it is ${JSON.stringify(told)}`);
  }

  #differ(where: string, message: string): void {
    if (this.#differences.length < MAX_DIFFERENCES) this.#differences.push({ where, message });
  }

  /** What is damaged is told, and the rest is looked at. */
  async #looking(where: string, work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      const damaged = asDamaged(error);
      if (!(damaged instanceof Damaged)) throw error;
      this.#differ(where, damaged.message);
    }
  }
}
