import { expect, test } from "vitest";
import { ChangeSet } from "../../../src/kernel/change-set.ts";

test("changes of tables that are not tracked are not collected", () => {
  const changes = new ChangeSet();
  const [one, two] = [changes.trackingOf("one"), changes.trackingOf("two")];
  changes.trackOnly(["two"]);
  expect([one.isTracked, two.isTracked]).toEqual([false, true]);
  expect([changes.isTracking("one"), changes.isTracking("two")]).toEqual([false, true]);
  for (const table of ["one", "two"]) {
    changes.record(table, "a", 1, "");
    changes.recordTruncated(table);
  }
  expect(changes.list.map(({ table, key }) => [table, key])).toEqual([
    ["two", "a"],
    ["two", "*"],
  ]);
});

test("a table that was never registered is tracked", () => {
  const changes = new ChangeSet();
  changes.trackOnly([]);
  expect(changes.isTracking("one")).toBe(true);
});
