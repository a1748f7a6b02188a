import fc from "fast-check";
import { expect, test } from "vitest";
import { NameTable } from "../../../../src/traffic/recorded/rows/name-table.ts";
import { expectHolds } from "../../../support/properties/properties.ts";

const numberOf = (names: NameTable, text: string) => {
  const bytes = new TextEncoder().encode(`<${text}>`);
  return names.numberOf(bytes, 1, bytes.length - 1);
};

test("names are numbered in the order of first use", async () => {
  await expectHolds(
    fc.property(
      fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.nat(3_000).map(String)), {
        maxLength: 3_000,
        size: "max",
      }),
      (texts) => {
        const names = new NameTable();
        const distinct = [...new Set(texts)];
        for (const text of texts) expect(numberOf(names, text)).toBe(distinct.indexOf(text));
        expect(names.list).toEqual(distinct);
      },
    ),
    60,
  );
});

test("a name beyond the capacity has no number, and earlier names keep theirs", () => {
  const names = new NameTable(2);
  expect(["a", "b", "c", "a"].map((text) => numberOf(names, text))).toEqual([0, 1, -1, 0]);
});
