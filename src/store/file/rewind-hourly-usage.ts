import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import type { HourlyUsageTable } from "../../platform/world/hourly-usage.ts";
import { RowWriter } from "../tables/row-writer.ts";
import { compareRows, tableName } from "../tables/stored-tables.ts";

/** Rows that are read or written between two pauses: a few milliseconds. */
const ROWS_PER_PORTION = 400;
/** A table of which less is left than this part is rewritten: an insertion takes as long as a deletion. */
const FEW = 0.5;

/** Most rows of a world are of hourly usage, and most of them are about hours before the point. */
export async function rewindHourlyUsage(
  sqlite: BetterSqlite3.Database,
  hourlyUsage: HourlyUsageTable,
): Promise<void> {
  const table = tableName("hourlyUsage");
  const writer = new RowWriter(sqlite);
  const stored = sqlite.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
  const expected = new Map<string, object>();
  for (const row of hourlyUsage.values()) {
    expected.set(hourlyUsage.keyOf(row), row);
    if (expected.size % ROWS_PER_PORTION === 0) await nextTurn();
  }
  if (hourlyUsage.size < FEW * stored) sqlite.exec(`DELETE FROM ${table}`);
  else {
    const deleted: number[] = [];
    let compared = 0;
    for (const { rowid, key, isEqual } of compareRows(sqlite, "hourlyUsage", (key) => expected.get(key))) {
      if (isEqual) expected.delete(key);
      else deleted.push(rowid);
      compared += 1;
      if (compared % ROWS_PER_PORTION === 0) await nextTurn();
    }
    const remove = sqlite.prepare(`DELETE FROM ${table} WHERE rowid = ?`);
    for (const [index, rowid] of deleted.entries()) {
      remove.run(rowid);
      if (index % ROWS_PER_PORTION === 0) await nextTurn();
    }
  }
  let count = 0;
  for (const [key, value] of expected) {
    writer.write({ table: "hourlyUsage", key, value });
    count += 1;
    if (count % ROWS_PER_PORTION === 0) await nextTurn();
  }
}
