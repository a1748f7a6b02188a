import { existsSync, statSync } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { TABLE_NAMES, type TableName } from "../../platform/core/tables.ts";
import type { SimTime } from "../../platform/core/time.ts";
import { emptyWorld, NO_NUMBERS, type Numbers, type World } from "../../platform/core/world.ts";
import type { WorldSettings } from "../../platform/core/world-settings.ts";
import type { HourlyUsage } from "../../platform/usage/usage-totals.ts";
import type { ClockState } from "../../simulation/world-clock.ts";
import { asCorruptFile, CorruptFile, checksumOf } from "../journal/journal-checksum.ts";
import { readHistoryRow } from "../journal/journal-row.ts";
import { type JournalHead, SqliteJournal } from "../journal/sqlite-journal.ts";
import { SCHEMA_VERSION, schemaVersionOf } from "../tables/format-version.ts";
import { prepareReader, readAllRows, tableName } from "../tables/stored-tables.ts";
import { syncEntry } from "./atomic-file.ts";
import { copyDatabase, isPinned, whilePinned } from "./copy.ts";
import { HeadMark } from "./head-mark.ts";
import { checkForLoss, preserveDamagedWal } from "./lost-changes.ts";
import { checkpoint, checkpointAndClose, connect, connectReadOnly } from "./sqlite-connection.ts";
import { createFile, markJournalVersion, upgradeFile } from "./upgrade.ts";
import { makeWalDurable } from "./wal-file.ts";

/** An open world's file: the world loaded from its tables, and the journal that keeps the tables current. */
export type Store = {
  readonly journal: SqliteJournal;
  readonly world: World;
  /** Where the clock continues; absent for a world that has not been created yet. */
  readonly clock?: { readonly state: ClockState; readonly now: SimTime };
  readonly historyId: string;
  /** Copies the file while it stays in use. Later commits are not in the copy. */
  readonly copyTo: (path: string) => Promise<void>;
  /** Runs work while the file does not change and its log only grows. */
  readonly whilePinned: (work: () => Promise<void>) => Promise<void>;
  readonly walBytes: () => number;
  /** Moves everything from the write-ahead log into the file, so that a lost log would lose nothing. */
  readonly checkpoint: () => void;
  readonly close: () => void;
};

export type OpenOptions = {
  /** The folder of drizzle-kit's output. */
  readonly migrationsFolder: string;
  /** Where to keep the original file when a file of an older release is upgraded. */
  readonly backupPath?: string;
  /** Called after an upgrade. */
  readonly onUpgrade?: () => void;
  /** Another program checkpoints the write-ahead log, such as one that replicates it. */
  readonly leavesLog?: boolean;
  /** Opens the file even if acknowledged changes are missing. Called with what is missing, if anything. */
  readonly onAcceptedLoss?: ((missing: readonly string[]) => void) | undefined;
  /** Marks the acknowledged head beside the file, for a world in service. */
  readonly marksHead?: boolean;
  /** Throws if the file must not be written any more. */
  readonly checkUsable?: () => void;
  /** Default: `FULL_CHECK_MAX_BYTES`. */
  readonly fullCheckMaxBytes?: number;
};

/** The state of a world outside its tables. */
export type WorldRow = JournalHead & {
  readonly settings: WorldSettings;
  readonly numbers: Numbers;
  readonly clock: ClockState;
  readonly now: SimTime;
};

/**
 * Opens or creates the file at `path` and upgrades it to the current schema. Throws if the file is not a
 * world, is damaged, or was written by a newer release.
 */
export function openStore(
  path: string,
  { fullCheckMaxBytes = FULL_CHECK_MAX_BYTES, ...options }: OpenOptions,
): Store {
  const sqlite = connectToCurrent(path, options);
  const { leavesLog = false } = options;
  try {
    const isChecked = statSync(path).size <= fullCheckMaxBytes;
    checkStructure(sqlite, isChecked);
    markJournalVersion(sqlite);
    const world = emptyWorld();
    const row = readWorldRow(sqlite);
    if (row !== undefined) load(sqlite, world, row, !isChecked);
    else if (
      sqlite.prepare("SELECT 1 FROM events").get() !== undefined ||
      readHistoryRow(sqlite).forgottenSeq > 0
    ) {
      throw new CorruptFile("the world row is missing");
    }
    const { historyId } = readHistoryRow(sqlite);
    let mark: HeadMark | undefined;
    const journal = new SqliteJournal(sqlite, row ?? { seq: 0, at: 0, chain: 0 }, {
      checkUsable: options.checkUsable,
      onWritten: (head) => mark?.write({ ...head, historyId }),
    });
    if (options.marksHead === true) {
      // SQLite syncs the name of a new log with its first commit, but ignores a failure of that sync.
      syncEntry(path);
      mark = new HeadMark(path);
    }
    if (row !== undefined) mark?.write({ ...row, historyId });
    return {
      journal,
      world,
      historyId,
      ...(row === undefined ? {} : { clock: { state: row.clock, now: row.now } }),
      walBytes: () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      copyTo: (target) => copyDatabase(sqlite, path, target, leavesLog),
      whilePinned: (work) => whilePinned(sqlite, path, leavesLog, work),
      checkpoint() {
        if (!leavesLog && checkpoint(sqlite)) mark?.sync();
      },
      close() {
        mark?.close();
        if (leavesLog || isPinned(sqlite)) sqlite.close();
        else checkpointAndClose(sqlite);
      },
    };
  } catch (error) {
    sqlite.close();
    throw asCorruptFile(error);
  }
}

/** A connection to a world's file of the current version; creates or upgrades the file if necessary. */
export function connectToCurrent(
  path: string,
  { migrationsFolder, backupPath, onUpgrade, onAcceptedLoss, leavesLog }: OpenOptions,
): BetterSqlite3.Database {
  try {
    // Before anything opens the log: SQLite deletes what it cannot read.
    if (onAcceptedLoss === undefined) checkForLoss(path);
    else preserveDamagedWal(path, onAcceptedLoss);
    makeWalDurable(path);
    if (!existsSync(path)) createFile(path, migrationsFolder);
    // Read-only first, so that a file that is not a world stays unchanged.
    if (readVersion(path) < SCHEMA_VERSION) {
      upgradeFile(path, migrationsFolder, backupPath);
      onUpgrade?.();
    }
    return connect(path, leavesLog);
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

/** The single world row; `undefined` for a world that has not been created yet. */
export function readWorldRow(sqlite: BetterSqlite3.Database): WorldRow | undefined {
  const row = sqlite
    .prepare("SELECT settings, numbers, clock, seq, at, now, chain, checksum FROM world")
    .raw()
    .get() as [string, string, string, number, number, number, number, number] | undefined;
  if (row === undefined) return undefined;
  const [settings, numbers, clock, seq, at, now, chain, checksum] = row;
  if (checksumOf(row.slice(0, -1)) !== checksum) throw new CorruptFile("the world row is damaged");
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

/** Loads rows in the order of their creation, which is the order in which the world lists them. */
function load(
  sqlite: BetterSqlite3.Database,
  world: World,
  { settings, numbers, seq, at, chain }: WorldRow,
  readsUsageLater: boolean,
): void {
  const last = sqlite
    .prepare<[], { seq: number; chain: number }>("SELECT seq, chain FROM events ORDER BY seq DESC LIMIT 1")
    .get();
  const { forgottenSeq } = readHistoryRow(sqlite);
  if (last === undefined ? seq !== forgottenSeq : last.seq !== seq || last.chain !== chain) {
    throw new CorruptFile(
      `the tables are at event ${seq}, but the journal ends at event ${last?.seq ?? forgottenSeq}`,
    );
  }
  world.settings = settings;
  world.numbers = numbers;
  world.seq = seq;
  world.at = at;
  for (const name of TABLE_NAMES) {
    if (name === "hourlyUsage" && readsUsageLater) {
      loadHourlyUsageLater(sqlite, world);
      continue;
    }
    const rows =
      name === "operations"
        ? prepareReader(sqlite, name, UNFINISHED_OPERATIONS)()
        : readAllRows(sqlite, name);
    const table: { load(row: unknown): void } = world[name] as never;
    for (const row of rows) table.load(row);
  }
}

const UNFINISHED_OPERATIONS = "WHERE status IN ('scheduling', 'running') ORDER BY number";

/** The rows of hourly usage are most rows of a world, and few of them are needed. */
function loadHourlyUsageLater(sqlite: BetterSqlite3.Database, world: World): void {
  const name = tableName("hourlyUsage");
  const read = prepareReader<HourlyUsage>(
    sqlite,
    "hourlyUsage",
    // Keys continue with "/" and the hour, or with "#" and the length of the period.
    `WHERE "key" > @id || '#' AND "key" < @id || '0' AND "of" IN (@id, @id || '#day', @id || '#month') ORDER BY "key"`,
  );
  world.hourlyUsage.loadLater({
    ids: Array.from(world.usage.values(), ({ id }) => id),
    size: sqlite.prepare(`SELECT count(*) FROM ${name}`).pluck().get() as number,
    rowsOf: (id) => read({ id }),
  });
}

/**
 * Up to this size the whole file is checked each time it is opened; above it, only tables that are read
 * completely.
 */
const FULL_CHECK_MAX_BYTES = 32 * 1024 ** 2;

const TABLES_READ_IN_PARTS: readonly TableName[] = ["operations", "hourlyUsage"];

/** Checks pages and indexes: without this, a row lost to a damaged page would go unnoticed. */
function checkStructure(sqlite: BetterSqlite3.Database, isWhole: boolean): void {
  const tables = TABLE_NAMES.filter((name) => !TABLES_READ_IN_PARTS.includes(name));
  const checks = isWhole ? ["integrity_check"] : tables.map((name) => `quick_check('${tableName(name)}')`);
  for (const check of checks) {
    const [first] = sqlite.prepare(`PRAGMA ${check}`).pluck().all();
    if (first !== "ok") throw new CorruptFile(String(first));
  }
}
