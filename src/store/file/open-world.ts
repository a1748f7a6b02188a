import { existsSync, statSync } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { TABLE_NAMES, type TableName } from "../../platform/core/tables.ts";
import type { SimTime } from "../../platform/core/time.ts";
import { emptyWorld, NO_NUMBERS, type Numbers, type World } from "../../platform/core/world.ts";
import type { WorldSettings } from "../../platform/core/world-settings.ts";
import type { ClockState } from "../../simulation/world-clock.ts";
import { readHistoryRow } from "../journal/journal-row.ts";
import { type JournalHead, SqliteJournal } from "../journal/sqlite-journal.ts";
import { asCorruptFile, CorruptFile, checksumOf } from "../tables/checksum.ts";
import { SCHEMA_VERSION, schemaVersionOf } from "../tables/format-version.ts";
import { prepareReader, tableName } from "../tables/stored-tables.ts";
import { checkpointAndClose, connect, connectReadOnly } from "./connection.ts";
import { copyDatabase } from "./copy.ts";
import { createFile, upgradeFile } from "./upgrade.ts";

/** A world's file, open: the world as its tables hold it, and the journal that keeps them up to date. */
export type Store = {
  readonly journal: SqliteJournal;
  readonly world: World;
  /** What the clock has to go on from; absent where the world is yet to be made. */
  readonly clock?: { readonly state: ClockState; readonly now: SimTime };
  readonly historyId: string;
  /** Copies the file as it is now, at rest or in service; what is committed meanwhile is not in the copy. */
  readonly copyTo: (path: string) => Promise<void>;
  readonly close: () => void;
};

export type OpenOptions = {
  /** Where drizzle-kit's output lies. */
  readonly migrationsFolder: string;
  /** The name under which the file of an older release is kept, when it is upgraded. */
  readonly backupPath?: string;
  /** Is told when that has happened. */
  readonly onUpgrade?: () => void;
};

/** What is there of a world beside its rows. */
export type WorldRow = JournalHead & {
  readonly settings: WorldSettings;
  readonly numbers: Numbers;
  readonly clock: ClockState;
  readonly now: SimTime;
};

/**
 * Opens or makes the file at `path` and brings it to this version's schema. Throws where the file is no world's, is damaged, or was
 * written by a newer release.
 */
export function openStore(path: string, options: OpenOptions): Store {
  const sqlite = connectToCurrent(path, options);
  try {
    checkStructure(sqlite, statSync(path).size);
    const world = emptyWorld();
    const row = readWorldRow(sqlite);
    if (row !== undefined) load(sqlite, world, row);
    else if (
      sqlite.prepare("SELECT 1 FROM events").get() !== undefined ||
      readHistoryRow(sqlite).forgottenSeq > 0
    ) {
      throw new CorruptFile("the row of the world is not there");
    }
    const journal = new SqliteJournal(sqlite, row ?? { seq: 0, at: 0, chain: 0 });
    return {
      journal,
      world,
      historyId: readHistoryRow(sqlite).historyId,
      ...(row === undefined ? {} : { clock: { state: row.clock, now: row.now } }),
      copyTo: (target) => copyDatabase(sqlite, path, target),
      close: () => checkpointAndClose(sqlite),
    };
  } catch (error) {
    sqlite.close();
    throw asCorruptFile(error);
  }
}

/** A connection to a world's file of the present version, made or upgraded where it is none yet. */
export function connectToCurrent(
  path: string,
  { migrationsFolder, backupPath, onUpgrade }: OpenOptions,
): BetterSqlite3.Database {
  try {
    if (!existsSync(path)) createFile(path, migrationsFolder);
    // Looked at first: what is not ours stays as it is.
    if (readVersion(path) < SCHEMA_VERSION) {
      upgradeFile(path, migrationsFolder, backupPath);
      onUpgrade?.();
    }
    return connect(path);
  } catch (error) {
    throw asCorruptFile(error);
  }
}

function readVersion(path: string): number {
  const sqlite = connectReadOnly(path);
  try {
    return schemaVersionOf(sqlite);
  } finally {
    sqlite.close();
  }
}

/** The one row of the world; absent where it is yet to be made. */
export function readWorldRow(sqlite: BetterSqlite3.Database): WorldRow | undefined {
  const row = sqlite
    .prepare("SELECT settings, numbers, clock, seq, at, now, chain, checksum FROM world")
    .raw()
    .get() as [string, string, string, number, number, number, number, number] | undefined;
  if (row === undefined) return undefined;
  const [settings, numbers, clock, seq, at, now, chain, checksum] = row;
  if (checksumOf(row.slice(0, -1)) !== checksum) throw new CorruptFile("the row of the world is damaged");
  return {
    settings: JSON.parse(settings),
    numbers: { ...NO_NUMBERS, ...JSON.parse(numbers) },
    clock: JSON.parse(clock),
    seq,
    at,
    now,
    chain,
  };
}

/** Reads the tables in the order in which the rows were made, for that is the order in which the world lists them. */
function load(
  sqlite: BetterSqlite3.Database,
  world: World,
  { settings, numbers, seq, at, chain }: WorldRow,
): void {
  const last = sqlite
    .prepare<[], { seq: number; chain: number }>("SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1")
    .get();
  const { forgottenSeq } = readHistoryRow(sqlite);
  if (last === undefined ? seq !== forgottenSeq : last.seq !== seq || last.chain !== chain) {
    throw new CorruptFile(
      `the tables stand at event ${seq}, the journal ends with event ${last?.seq ?? forgottenSeq}`,
    );
  }
  world.settings = settings;
  world.numbers = numbers;
  world.seq = seq;
  world.at = at;
  for (const name of TABLE_NAMES) {
    const read =
      name === "operations"
        ? prepareReader(sqlite, name, UNFINISHED_OPERATIONS)
        : prepareReader(sqlite, name);
    const table: { load(row: unknown): void } = world[name] as never;
    for (const row of read()) table.load(row);
  }
}

const UNFINISHED_OPERATIONS = "WHERE status IN ('scheduling', 'running') ORDER BY number";

/** A file up to this size is looked through at every opening; of a larger one, what is read whole. */
const FULL_CHECK_MAX_BYTES = 32 * 1024 ** 2;

/** Whether pages and indexes are what they should be: a row that a damaged page hides would not be missed. */
function checkStructure(sqlite: BetterSqlite3.Database, bytes: number): void {
  const fullyReadTables = TABLE_NAMES.filter((name) => name !== "operations") as TableName[];
  const checks =
    bytes <= FULL_CHECK_MAX_BYTES
      ? ["integrity_check"]
      : fullyReadTables.map((name) => `quick_check('${tableName(name)}')`);
  for (const check of checks) {
    const [first] = sqlite.prepare(`PRAGMA ${check}`).pluck().all();
    if (first !== "ok") throw new CorruptFile(String(first));
  }
}
