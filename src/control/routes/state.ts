import type { World } from "../../platform/core/world.ts";
import { renderObject as inAnyOrder } from "../http/render-object.ts";

/** The durable state of a world, rows in order of creation. Two worlds are equal if and only if these are. */
export function renderState(world: World) {
  const rows = (table: { values(): IterableIterator<unknown> }) =>
    [...table.values()].map((row) => renderSorted(row));
  const byId = (table: { values(): IterableIterator<{ readonly id: string }> }) =>
    [...table.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).map((row) => renderSorted(row));
  return {
    seq: world.seq,
    at: renderSorted(world.at, "at"),
    // Not named `settings`, which is reserved for free-form objects.
    world: renderSorted(world.settings),
    numbers: renderSorted(world.numbers),
    accounts: rows(world.accounts),
    // Without the hash: it is not part of the world's behaviour, and an exported world has others.
    api_keys: [...world.apiKeys.values()].map(({ hash: _, ...apiKey }) => renderSorted(apiKey)),
    projects: rows(world.projects),
    branches: rows(world.branches),
    endpoints: rows(world.computes),
    connections: world.connections
      .toArray()
      .sort((a, b) => (`${a.endpointId}/${a.id}` < `${b.endpointId}/${b.id}` ? -1 : 1))
      .map((row) => renderSorted(row)),
    operations: rows(world.operations),
    scheduled_activities: rows(world.scheduledActivities),
    usage: byId(world.usage),
    hourly_usage: world.hourlyUsage
      .toArray()
      .sort((a, b) => (a.of < b.of ? -1 : a.of > b.of ? 1 : a.hour - b.hour))
      .map((row) => renderSorted(row)),
    branch_snapshots: rows(world.branchSnapshots),
    records: rows(world.records),
    faults: rows(world.faults),
  };
}

/** Sorts properties by name: their order differs between rows in memory and rows from a file. */
function renderSorted(value: unknown, property = ""): unknown {
  return sorted(inAnyOrder(value, property));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
