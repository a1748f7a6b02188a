import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import type { HourlyUsage } from "../../platform/model/usage-totals.ts";
import { JOURNALED_TABLES, type TableName } from "../../platform/world/tables.ts";
import type { World } from "../../platform/world/world.ts";
import { prepareRowText, textOfUpsert } from "../tables/row-writer.ts";
import { compareRows, STORED_TABLES, tableName } from "../tables/stored-tables.ts";
import type { CopyWriter } from "./copy-writer.ts";
import type { RewoundHistory } from "./rewind-history.ts";

/** Rows that are read, or made ready to be written, between two pauses: a millisecond. */
const ROWS_PER_PORTION = 400;
/** A table of which less is left than this part is rewritten: an insertion takes as long as a deletion. */
const FEW = 0.5;

type Rows = Iterable<readonly [key: string, row: object]>;

/** Which rows of hourly usage to delete, by rowid, and which to write then. */
export type HourlyDifference = { readonly deleted: "all" | readonly number[]; readonly written: Rows };

/** Most rows of a world are of hourly usage, and most of them are about hours before the point. */
export async function compareHourlyUsage(
  sqlite: BetterSqlite3.Database,
  { hourlyUsage }: World,
): Promise<HourlyDifference> {
  const count = `SELECT count(*) FROM ${tableName("hourlyUsage")}`;
  const stored = sqlite.prepare<[], number>(count).pluck().get() ?? 0;
  await nextTurn();
  if (hourlyUsage.size < FEW * stored) return { deleted: "all", written: entriesOf(hourlyUsage) };
  const expected = new Map<string, HourlyUsage>();
  for (const [key, row] of entriesOf(hourlyUsage)) {
    expected.set(key, row);
    if (expected.size % ROWS_PER_PORTION === 0) await nextTurn();
  }
  const deleted: number[] = [];
  let compared = 0;
  for (const { rowid, key, isEqual } of compareRows(sqlite, "hourlyUsage", (key) => expected.get(key))) {
    if (isEqual) expected.delete(key);
    else deleted.push(rowid);
    compared += 1;
    if (compared % ROWS_PER_PORTION === 0) await nextTurn();
  }
  return { deleted, written: expected };
}

/** One at a time: there may be very many. */
function* entriesOf(table: World["hourlyUsage"]): Generator<[key: string, row: HourlyUsage]> {
  for (const row of table.values()) yield [table.keyOf(row), row];
}

/** Gives the tables of a copy the rows of the world at the point to which its history was rewound. */
export async function rewindTables(
  writer: CopyWriter,
  world: World,
  hours: HourlyDifference,
  { deleteOperations, finishedBeforeReset }: Omit<RewoundHistory, "row">,
): Promise<void> {
  for (const name of JOURNALED_TABLES) {
    const table = tableName(name);
    if (name === "hourlyUsage") {
      if (hours.deleted === "all") await writer.execute(`DELETE FROM ${table}`);
      else await deleteRows(writer, table, hours.deleted);
      await writeRows(writer, name, hours.written);
    } else {
      // Finished operations are in no world, and stay in their table.
      await writer.execute(name === "operations" ? deleteOperations : `DELETE FROM ${table}`);
      await writeRows(writer, name, world[name].entries());
    }
  }
  const finished = finishedBeforeReset.map((operation) => [operation.id, operation] as const);
  await writeRows(writer, "operations", finished);
}

/** In one statement for each portion. */
async function deleteRows(writer: CopyWriter, table: string, rowids: readonly number[]): Promise<void> {
  for (const portion of inPortions(rowids))
    await writer.execute(`DELETE FROM ${table} WHERE rowid IN (${portion.join(", ")})`);
}

async function writeRows(writer: CopyWriter, name: TableName, rows: Rows): Promise<void> {
  const stored = STORED_TABLES[name];
  const [upsert, textOf] = [textOfUpsert(stored), prepareRowText(stored)];
  for (const portion of inPortions(rows)) {
    await writer.runChecked(upsert, portion.map(([key, row]) => textOf(key, row)).join("\n"));
    await nextTurn();
  }
}

function* inPortions<T>(items: Iterable<T>): Generator<T[]> {
  let portion: T[] = [];
  for (const item of items) {
    portion.push(item);
    if (portion.length < ROWS_PER_PORTION) continue;
    yield portion;
    portion = [];
  }
  if (portion.length > 0) yield portion;
}
