import { Table } from "../../kernel/table.ts";
import { TABLE_NAMES } from "./tables.ts";
import type { World } from "./world.ts";

/** Rows of a table that are read between two pauses. */
const ROWS_PER_PORTION = 500;

/**
 * Reads some of the rows of a world that are still in its file, except hourly usage. Returns whether all are in memory.
 * Work with all rows calls it first, with pauses: to read all of them at once would block other work.
 */
export function readStoredRows(world: World): boolean {
  for (const name of TABLE_NAMES) {
    const table = world[name];
    if (table instanceof Table && !table.readStored(ROWS_PER_PORTION)) return false;
  }
  return true;
}
