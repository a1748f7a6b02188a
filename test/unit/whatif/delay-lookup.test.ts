import { expect, test } from "vitest";
import { DelayLookup, type SeenDelay } from "../../../src/whatif/periods/delay-lookup.ts";

const seen = (...readings: readonly (readonly [at: number, delay: number])[]): SeenDelay[] =>
  readings.map(([at, delay]) => ({ at, delay }));

/** The delay known before a change at 10, and after it. */
function aroundChange(readings: readonly SeenDelay[], changes: readonly number[] = [10]) {
  const lookup = new DelayLookup(readings, changes);
  return [lookup.between(0, 5), lookup.between(15, 20)];
}

test("a reading in the second of a change was read before it if a later reading differs", () => {
  expect(aroundChange(seen([10, 300], [13, 60]))).toEqual([300, 60]);
});

test("a reading in the second of a change was read after it if an earlier reading differs", () => {
  expect(aroundChange(seen([7, 300], [10, 60]))).toEqual([300, 60]);
});

test.each([
  ["no other reading shows on which side it is", seen([10, 300]), [10]],
  ["there were two changes in that second", seen([10, 300], [13, 60]), [10, 10]],
])("a reading in the second of a change says nothing if %s", (_, readings, changes) => {
  expect(aroundChange(readings, changes)[0]).toBeUndefined();
});

test("a reading in the second of a change that differs from both sides says nothing", () => {
  expect(aroundChange(seen([7, 300], [10, 120], [13, 60]))).toEqual([300, 60]);
});
