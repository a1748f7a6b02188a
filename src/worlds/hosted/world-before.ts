import type { PastRows } from "../../kernel/past-rows.ts";
import { PastTable } from "../../kernel/past-table.ts";
import { Table } from "../../kernel/table.ts";
import type { TableName } from "../../platform/world/tables.ts";
import type { World } from "../../platform/world/world.ts";

/** A read needs what a view of rows does not have, such as stored history, or it turned out to change the world. */
export class NeedsWholeWorld extends Error {}

/** The world as it was before the changes of `past`, for reads of rows. */
export function worldBefore(past: PastRows, world: World): World {
  const before: World = { ...world, numbers: { ...world.numbers } };
  for (const [name, table] of Object.entries(world)) {
    if (!(table instanceof Table)) continue;
    const value = new PastTable(table, past, ORDERED.has(name) ? numberOf : undefined);
    Object.defineProperty(before, name, { value });
  }
  Object.defineProperties(before, {
    hourlyUsage: { value: hourlyUsageBefore(past, world) },
    computeTotals: { get: needWholeWorld },
    connections: { get: needWholeWorld },
    changes: { get: needWholeWorld },
  });
  return before;
}

/** Answers see the usage of an hour at a time. */
function hourlyUsageBefore(past: PastRows, { hourlyUsage }: World): World["hourlyUsage"] {
  const get: typeof hourlyUsage.get = (id, granularity, hour) =>
    hourlyUsage.getBefore(past, id, granularity, hour);
  return new Proxy(hourlyUsage, { get: (_, name) => (name === "get" ? get : needWholeWorld()) });
}

/** Rows of these tables are in the order of their numbers, also those that are gone in the meantime. */
const ORDERED: ReadonlySet<string> = new Set([
  "branches",
  "branchSnapshots",
  "computes",
  "operations",
  "projects",
  "records",
  "scheduledActivities",
] satisfies TableName[]);

const numberOf = (row: unknown) => (row as { readonly number: number }).number;

export function needWholeWorld(): never {
  throw new NeedsWholeWorld();
}
