import BetterSqlite3 from "better-sqlite3";
import { asc, sql } from "drizzle-orm";
import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import type { SimTime } from "../platform/time.ts";
import { emptyWorld, type World } from "../platform/world.ts";
import type { ClockState } from "../simulation/clock.ts";
import * as schema from "./schema.ts";
import { SqliteJournal } from "./sqlite-journal.ts";
import { toObject } from "./tables.ts";

/** A world's file, open: the world as its tables hold it, and the journal that keeps them up to date. */
export type Store = {
  readonly journal: SqliteJournal;
  readonly world: World;
  /** What the clock has to go on from; absent where the world is yet to be made. */
  readonly clock?: { readonly state: ClockState; readonly now: SimTime };
  readonly close: () => void;
};

/**
 * Opens or makes the file at `path` and brings it to this version's schema. `:memory:` makes one that ends with the process.
 * Throws where the file is no database, or is open elsewhere.
 */
export function openStore(path: string, migrationsFolder: string): Store {
  const sqlite = keepStatements(new BetterSqlite3(path));
  try {
    // FULL: what is acknowledged is on the disk, whatever happens to the machine. WAL: readers and the writer let each other be.
    sqlite.exec("PRAGMA journal_mode = WAL");
    sqlite.exec("PRAGMA synchronous = FULL");
    const database = drizzle(sqlite, { casing: "snake_case" });
    migrate(database, { migrationsFolder });
    const world = emptyWorld();
    const clock = load(database, world);
    const journal = new SqliteJournal(sqlite, database, { seq: world.seq, at: world.at });
    return { journal, world, ...(clock === undefined ? {} : { clock }), close: () => close(sqlite) };
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** Every database of this process and its statements: a few dozen at each opening. */
const kept: unknown[] = [];

/**
 * Keeps what the driver hands out from being collected. Node 24.19 and later abort when the collector of garbage meets a statement
 * of a driver that was compiled against their headers (nodejs/node 65446); what is never collected is never met.
 */
function keepStatements(sqlite: BetterSqlite3.Database): BetterSqlite3.Database {
  const prepare = sqlite.prepare.bind(sqlite) as (source: string) => BetterSqlite3.Statement;
  kept.push(sqlite);
  sqlite.prepare = ((source: string) => {
    const statement = prepare(source);
    kept.push(statement);
    return statement;
  }) as typeof sqlite.prepare;
  return sqlite;
}

/** Reads the tables in the order in which the rows were made, for that is the order in which the world lists them. */
function load(database: BetterSQLite3Database, world: World): Store["clock"] {
  const row = database.select().from(schema.world).get();
  if (row === undefined) return undefined;
  world.settings = row.settings;
  world.numbers = row.numbers;
  world.seq = row.seq;
  world.at = row.at;
  fill(world.accounts, database.select().from(schema.accounts).orderBy(asc(schema.accounts.number)).all());
  fill(world.apiKeys, database.select().from(schema.apiKeys).orderBy(asc(schema.apiKeys.id)).all());
  fill(world.apiKeyUses, database.select().from(schema.apiKeyUses).orderBy(asc(schema.apiKeyUses.keyId)).all());
  fill(world.secrets, database.select().from(schema.secrets).orderBy(asc(schema.secrets.id)).all());
  fill(world.projects, database.select().from(schema.projects).orderBy(asc(schema.projects.number)).all());
  fill(world.branches, database.select().from(schema.branches).orderBy(asc(schema.branches.number)).all());
  fill(world.computes, database.select().from(schema.computes).orderBy(asc(schema.computes.number)).all());
  fill(world.connections, database.select().from(schema.connections).orderBy(sql`rowid`).all());
  const unfinished = sql`status IN ('scheduling', 'running')`;
  fill(world.operations, database.select().from(schema.operations).where(unfinished).orderBy(asc(schema.operations.number)).all());
  fill(world.scheduledActivities, database.select().from(schema.scheduledActivities).orderBy(asc(schema.scheduledActivities.number)).all());
  fill(world.usage, database.select().from(schema.usage).orderBy(asc(schema.usage.id)).all());
  return { state: row.clock, now: row.now };
}

function fill<T>(table: { load(row: T): void }, rows: readonly Record<string, unknown>[]): void {
  for (const row of rows) table.load(toObject<T>(row));
}

/** Folds the write-ahead log into the file, so that a closed world is one file; where that fails, closing must not. */
function close(sqlite: BetterSqlite3.Database): void {
  try {
    sqlite.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // On a full disk the log stays beside the file, and the next opening reads both.
  }
  sqlite.close();
}
