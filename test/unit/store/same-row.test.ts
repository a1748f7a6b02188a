import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isSameRow } from "../../../src/store/tables/same-row.ts";
import { expectHolds } from "../../support/properties/properties.ts";

const asStored = (row: unknown): unknown => JSON.parse(JSON.stringify(row));

test.each([
  ["equal values", { id: "a", phase: { state: "idle" } }, { id: "a", phase: { state: "idle" } }],
  ["another order of the fields", { id: "a", number: 1 }, { number: 1, id: "a" }],
  ["a field that is undefined", { id: "a", waiting: undefined }, { id: "a" }],
  ["equal lists", { loads: [{ until: 1 }, 2] }, { loads: [{ until: 1 }, 2] }],
])("a row is the same with %s", (_, row, stored) => {
  expect(isSameRow(row, stored)).toBe(true);
});

test.each([
  ["another value", { id: "a", number: 1 }, { id: "a", number: 2 }],
  ["another type", { number: 1 }, { number: "1" }],
  ["another value further down", { phase: { sizeCu: 1 } }, { phase: { sizeCu: 2 } }],
  ["a field more in the file", { id: "a" }, { id: "a", name: "b" }],
  ["a field less in the file", { id: "a", name: "b" }, { id: "a" }],
  ["a field for an undefined one", { id: "a", waiting: undefined }, { id: "a", number: 1 }],
  ["null instead of no field", { id: "a", waiting: undefined }, { id: "a", waiting: null }],
  ["null instead of an object", { phase: {} }, { phase: null }],
  ["a shorter list", { loads: [1, 2] }, { loads: [1] }],
  ["a longer list", { loads: [1] }, { loads: [1, 2] }],
  ["an object instead of a list", { loads: [1] }, { loads: { 0: 1 } }],
  ["a list instead of an object", { loads: { 0: 1 } }, { loads: [1] }],
])("a row is not the same with %s", (_, row, stored) => {
  expect(isSameRow(row, stored)).toBe(false);
});

test("rows that are the same are equal as JSON", async () => {
  const rows = fc.object({ key: fc.constantFrom("a", "b", "c"), maxDepth: 2, withNullPrototype: false });
  await expectHolds(
    fc.property(rows, rows, (row, other) => {
      const stored = asStored(other);
      if (isSameRow(row, stored)) expect(isDeepStrictEqual(asStored(row), stored)).toBe(true);
    }),
    500,
  );
});

test("a row without special numbers is the same after it was stored", async () => {
  const rows = fc.dictionary(
    fc.constantFrom("a", "b", "c"),
    fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.integer())),
  );
  await expectHolds(
    fc.property(rows, (row) => {
      expect(isSameRow({ ...row, d: undefined }, asStored(row))).toBe(true);
    }),
    500,
  );
});
