import type { World } from "../platform/world.ts";
import { record } from "./records.ts";

/** The whole world: what is durable and nothing else, in the order in which it was made. Two worlds are equal iff these are. */
export function renderState(world: World) {
  const rows = (table: { values(): IterableIterator<unknown> }) => [...table.values()].map((row) => record(row));
  const byId = (table: { values(): IterableIterator<{ readonly id: string }> }) =>
    [...table.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).map((row) => record(row));
  return {
    seq: world.seq,
    at: record(world.at, "at"),
    // Not under its own name, which is for what callers fill freely.
    world: record(world.settings),
    numbers: record(world.numbers),
    accounts: rows(world.accounts),
    // A hash is no secret, but it is no fact about the world either: another key in its place would change nothing.
    api_keys: [...world.apiKeys.values()].map(({ hash: _, ...apiKey }) => record(apiKey)),
    projects: rows(world.projects),
    branches: rows(world.branches),
    endpoints: rows(world.computes),
    connections: [...world.connections.values()]
      .sort((a, b) => (`${a.endpointId}/${a.id}` < `${b.endpointId}/${b.id}` ? -1 : 1))
      .map((row) => record(row)),
    operations: rows(world.operations),
    scheduled_activities: rows(world.scheduledActivities),
    usage: byId(world.usage),
  };
}
