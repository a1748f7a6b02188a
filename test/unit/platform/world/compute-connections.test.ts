import { expect, test } from "vitest";
import type { Connection } from "../../../../src/platform/model/connection.ts";
import { ComputeConnections } from "../../../../src/platform/world/compute-connections.ts";

function connection(id: string, waiting = false): Connection {
  return { endpointId: "ep-main", id, pooled: false, inTransaction: false, waiting };
}

function connectionsOf(...ids: string[]): ComputeConnections {
  const connections = new ComputeConnections();
  for (const id of ids) connections.set(connection(id));
  return connections;
}

const idsOf = (connections: ComputeConnections) => [...connections.values()].map(({ id }) => id);
const named = (count: number) => Array.from({ length: count }, (_, index) => `c-${index}`);

test.each([1, 8, 9, 100])("%i connections are in the order in which they were opened", (count) => {
  const connections = connectionsOf(...named(count));
  expect(idsOf(connections)).toEqual(named(count));
  expect(connections.size).toBe(count);
  expect(connections.get(`c-${count - 1}`)?.id).toBe(`c-${count - 1}`);
  expect(connections.get("other")).toBeUndefined();
});

test.each([3, 9])("of %i connections, one that is replaced keeps its place", (count) => {
  const connections = connectionsOf(...named(count));
  connections.set(connection("c-1", true));
  expect(idsOf(connections)).toEqual(named(count));
  expect(connections.get("c-1")?.waiting).toBe(true);
});

test.each([3, 9])("of %i connections, one that is closed and opened again comes last", (count) => {
  const connections = connectionsOf(...named(count));
  expect(connections.delete("c-1")).toBe(true);
  expect(connections.delete("c-1")).toBe(false);
  expect(connections.get("c-1")).toBeUndefined();
  connections.set(connection("c-1"));
  expect(idsOf(connections)).toEqual([...named(count).filter((id) => id !== "c-1"), "c-1"]);
});

test.each([3, 9])("of %i connections, those that match are deleted in order", (count) => {
  const connections = connectionsOf(...named(count));
  const seen: string[] = [];
  connections.deleteWhere(({ id }) => {
    seen.push(id);
    return id !== "c-1";
  });
  expect(seen).toEqual(named(count));
  expect(idsOf(connections)).toEqual(["c-1"]);
  connections.deleteWhere(() => true);
  expect(connections.size).toBe(0);
  connections.set(connection("again"));
  expect(idsOf(connections)).toEqual(["again"]);
});
