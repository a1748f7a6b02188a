import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import { JOURNALED_TABLES, type TableName } from "../../platform/world/tables.ts";
import type { World } from "../../platform/world/world.ts";
import { RowWriter } from "../tables/row-writer.ts";
import { tableName } from "../tables/stored-tables.ts";
import type { WorldRow } from "./read-world.ts";
import { rewindHourlyUsage } from "./rewind-hourly-usage.ts";
import { rewindOperations } from "./rewind-operations.ts";

/** Rows that are written between two pauses: a few milliseconds. */
const ROWS_PER_PORTION = 400;

/**
 * Gives the tables of a copy, whose history ends at `row`, the rows of the world at an earlier point. The caller opens the
 * transaction, and deletes the later events afterwards.
 */
export async function rewindTables(
  sqlite: BetterSqlite3.Database,
  row: WorldRow,
  world: World,
): Promise<void> {
  const writer = new RowWriter(sqlite);
  const write = async (table: TableName, rows: Iterable<readonly [key: string, row: object]>) => {
    let count = 0;
    for (const [key, value] of rows) {
      writer.write({ table, key, value });
      count += 1;
      if (count % ROWS_PER_PORTION === 0) await nextTurn();
    }
  };
  for (const name of JOURNALED_TABLES) {
    if (name === "hourlyUsage") {
      await rewindHourlyUsage(sqlite, world.hourlyUsage);
    } else if (name === "operations") {
      // Finished operations are in no world, and stay in their table.
      const finished = await rewindOperations(sqlite, row, world);
      await write(name, world.operations.entries());
      await write(
        name,
        finished.map((operation) => [operation.id, operation] as const),
      );
    } else {
      sqlite.exec(`DELETE FROM ${tableName(name)}`);
      await write(name, world[name].entries());
    }
    await nextTurn();
  }
}
