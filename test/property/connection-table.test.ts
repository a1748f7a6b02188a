import fc from "fast-check";
import { expect, test } from "vitest";
import { ChangeSet } from "../../src/kernel/change-set.ts";
import type { Connection } from "../../src/platform/model/connection.ts";
import { ConnectionTable } from "../../src/platform/world/connection-table.ts";
import { expectHolds } from "../support/properties/properties.ts";

const steps = fc.array(
  fc.record({
    what: fc.constantFrom("set", "set", "set", "load", "delete", "delete", "forget", "empty"),
    endpointId: fc.constantFrom("ep-one", "ep-two"),
    id: fc.constantFrom("#1", "#2", "app", "job"),
    pooled: fc.boolean(),
  }),
  { maxLength: 60 },
);

test("the connection table equals a plain map, keeps its order, and reports its changes to the journal", async () => {
  await expectHolds(
    fc.asyncProperty(steps, async (steps) => {
      const changes = new ChangeSet();
      const table = new ConnectionTable(changes);
      const plain = new Map<string, Connection>();
      const recorded = new Map<string, unknown>();
      for (const { what, endpointId, id, pooled } of steps) {
        const key = `${endpointId}/${id}`;
        const row: Connection = { endpointId, id, pooled, inTransaction: false, waiting: false };
        if (what === "set") {
          table.set(row);
          plain.set(key, row);
        } else if (what === "load") {
          table.load(row);
          plain.set(key, row);
          recorded.set(key, row);
        } else if (what === "delete") {
          table.delete(endpointId, id);
          plain.delete(key);
        } else if (what === "forget") {
          table.deleteForCompute(endpointId);
          for (const [known, row] of plain) if (row.endpointId === endpointId) plain.delete(known);
        } else {
          table.empty();
          plain.clear();
          recorded.clear();
          changes.clear();
        }
        for (const { key, value } of changes.list)
          value === undefined ? recorded.delete(key) : recorded.set(key, value);
        changes.clear();
        expect(new Map(table.entries())).toEqual(plain);
        expect(recorded).toEqual(plain);
        expect(table.size).toBe(plain.size);
        expect(table.get(endpointId, id)).toEqual(plain.get(key));
        const ofCompute = [...plain.values()].filter((connection) => connection.endpointId === endpointId);
        expect([...table.forCompute(endpointId).values()]).toEqual(ofCompute);
        expect(table.forCompute(endpointId).size).toBe(ofCompute.length);
      }
    }),
    100,
  );
});
