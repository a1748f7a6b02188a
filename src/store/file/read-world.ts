import { statSync } from "node:fs";
import type BetterSqlite3 from "better-sqlite3";
import { getTableColumns } from "drizzle-orm";
import type { SimTime } from "../../kernel/time.ts";
import type { HourlyUsage } from "../../platform/model/usage-totals.ts";
import type { WorldSettings } from "../../platform/model/world-settings.ts";
import { TABLE_NAMES, type TableName } from "../../platform/world/tables.ts";
import { emptyWorld, NO_NUMBERS, type Numbers, type World } from "../../platform/world/world.ts";
import type { ClockState } from "../../simulation/world-clock.ts";
import type { JournalHead } from "../journal/batch-writer.ts";
import { StoredEvents } from "../journal/stored-events.ts";
import { CorruptFile, checksumOf } from "../tables/journal-checksum.ts";
import { readHistoryRow } from "../tables/journal-row.ts";
import { canRest, loadRestingRows } from "../tables/resting-rows.ts";
import { world as worldTable } from "../tables/schema.ts";
import { once, query, textOf } from "../tables/statement.ts";
import { prepareReader, readAllRowsInSteps, runSteps, tableName } from "../tables/stored-tables.ts";

/** The state of a world outside its tables. */
export type WorldRow = JournalHead & {
  readonly settings: WorldSettings;
  readonly numbers: Numbers;
  readonly clock: ClockState;
  readonly now: SimTime;
};

const worldRow = once(() => {
  const { id: _, ...columns } = getTableColumns(worldTable);
  return textOf(query.select(columns).from(worldTable));
});

/** The single world row; `undefined` for a world that has not been created yet. */
export function readWorldRow(sqlite: BetterSqlite3.Database): WorldRow | undefined {
  const row = sqlite.prepare(worldRow()).raw().get() as
    | [string, string, string, number, number, number, number, number]
    | undefined;
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

/** The world of a file; `row` is absent if it has not been created yet. */
export type ReadWorld = { readonly world: World; readonly row: WorldRow | undefined };

/** Reads the world of a file, after checking the structure of the file. Throws `CorruptFile`. */
export function readWorld(
  sqlite: BetterSqlite3.Database,
  path: string,
  fullCheckMaxBytes?: number,
): ReadWorld {
  return runSteps(readWorldInSteps(sqlite, path, fullCheckMaxBytes));
}

/** Reads a world in steps of a few milliseconds. Other work can run between steps, but the file must not change. */
export function* readWorldInSteps(
  sqlite: BetterSqlite3.Database,
  path: string,
  fullCheckMaxBytes = FULL_CHECK_MAX_BYTES,
): Generator<undefined, ReadWorld> {
  const isChecked = statSync(path).size <= fullCheckMaxBytes;
  yield* checkStructure(sqlite, isChecked);
  const world = emptyWorld();
  const row = readWorldRow(sqlite);
  if (row !== undefined) yield* load(sqlite, world, row, !isChecked);
  else if (new StoredEvents(sqlite).last !== undefined || readHistoryRow(sqlite).forgottenSeq > 0) {
    throw new CorruptFile("the world row is missing");
  }
  return { world, row };
}

/** Throws `CorruptFile` if the tables were not written with the last event of the journal. */
export function checkHead(sqlite: BetterSqlite3.Database, { seq, chain }: JournalHead): void {
  const { last } = new StoredEvents(sqlite);
  const { forgottenSeq } = readHistoryRow(sqlite);
  if (last === undefined ? seq !== forgottenSeq : last.seq !== seq || last.chain !== chain) {
    throw new CorruptFile(
      `the tables are at event ${seq}, but the journal ends at event ${last?.seq ?? forgottenSeq}`,
    );
  }
}

/** Loads rows in the order of their creation, which is the order in which the world lists them. */
function* load(
  sqlite: BetterSqlite3.Database,
  world: World,
  row: WorldRow,
  readsLater: boolean,
): Generator<undefined, void> {
  checkHead(sqlite, row);
  const { settings, numbers, seq, at } = row;
  world.settings = settings;
  world.numbers = numbers;
  world.seq = seq;
  world.at = at;
  for (const name of TABLE_NAMES) {
    if (readsLater && canRest(name)) {
      yield* loadRestingRows(sqlite, world, name);
      continue;
    }
    if (readsLater && name === "hourlyUsage") {
      loadHourlyUsageLater(sqlite, world);
      continue;
    }
    const rows =
      name === "operations"
        ? prepareReader(sqlite, name, UNFINISHED_OPERATIONS)()
        : yield* readAllRowsInSteps(sqlite, name);
    const table: { load(row: unknown): void } = world[name] as never;
    for (const [index, row] of rows.entries()) {
      table.load(row);
      if ((index + 1) % ROWS_PER_STEP === 0) yield;
    }
  }
}

const ROWS_PER_STEP = 1_000;
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
    ids: world.usage.keys(),
    size: sqlite.prepare(`SELECT count(*) FROM ${name}`).pluck().get() as number,
    rowsOf: (id) => read({ id }),
  });
}

/**
 * Up to this size the whole file is checked each time it is opened; above it, only tables that are read
 * completely.
 */
export const FULL_CHECK_MAX_BYTES = 32 * 1024 ** 2;

const TABLES_READ_IN_PARTS: readonly TableName[] = ["operations", "hourlyUsage"];

/** Checks pages and indexes: without this, a row lost to a damaged page would go unnoticed. */
function* checkStructure(sqlite: BetterSqlite3.Database, isWhole: boolean): Generator<undefined, void> {
  const tables = TABLE_NAMES.filter((name) => !TABLES_READ_IN_PARTS.includes(name) && !canRest(name));
  const checks = isWhole ? ["integrity_check"] : tables.map((name) => `quick_check('${tableName(name)}')`);
  for (const check of checks) {
    const [problem] = problemsOf(sqlite, check);
    if (problem !== undefined) throw new CorruptFile(problem);
    yield;
  }
}

/** The findings of a check of SQLite, each in one line. */
export function problemsOf(sqlite: BetterSqlite3.Database, check: string): string[] {
  const found = sqlite.prepare<[], string>(`PRAGMA ${check}`).pluck().all();
  return found
    .flatMap((text) => text.split("\n"))
    .filter((line) => line !== "ok" && line !== "" && !/^\*\*\* in database .* \*\*\*$/.test(line));
}
