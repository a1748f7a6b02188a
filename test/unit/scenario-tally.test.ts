import fc from "fast-check";
import { expect, test } from "vitest";
import { Tally } from "../../src/scenario/tally.ts";
import { expectHolds } from "../support/properties.ts";

test("a percentile is the wait by nearest rank among all arrivals, those that did not wait included", async () => {
  await expectHolds(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.constant(0), fc.nat(20), fc.nat(1_000_000)), { minLength: 1 }),
      fc.integer({ min: 1, max: 100 }),
      async (waits, percent) => {
        const tally = new Tally();
        for (const wait of waits) tally.addActivity(wait);
        const sorted = [...waits].sort((one, other) => one - other);
        expect(tally.waitPercentile(percent)).toBe(sorted[Math.ceil((percent / 100) * sorted.length) - 1]);
        expect(tally.longestWaitMs).toBe(sorted.at(-1));
        expect(tally.meanWaitMs()).toBeCloseTo(waits.reduce((sum, wait) => sum + wait, 0) / waits.length, 6);
      },
    ),
    300,
  );
});

test("where nobody came, nobody waited", () => {
  const tally = new Tally();
  expect([tally.waitPercentile(50), tally.waitPercentile(99), tally.meanWaitMs(), tally.longestWaitMs]).toEqual([0, 0, 0, 0]);
});

test("half of two is the first of them, and a hundredth more is the second", () => {
  const tally = new Tally();
  tally.addActivity(1);
  tally.addActivity(9);
  expect([tally.waitPercentile(50), tally.waitPercentile(51)]).toEqual([1, 9]);
});

test("active time is the sum of all spans, those that are not over up to now", () => {
  const world = new Tally();
  const one = new Tally(world);
  const other = new Tally(world);
  one.begin(100);
  other.begin(200);
  expect([one.activeMs(300), other.activeMs(300), world.activeMs(300), world.active]).toEqual([200, 100, 300, 2]);
  one.end(100, 400);
  expect([one.activeMs(1_000), world.activeMs(1_000), world.active]).toEqual([300, 1_100, 1]);
});

test("what is counted of a part is counted of the whole, and of nobody else", () => {
  const world = new Tally();
  const project = new Tally(world);
  const other = new Tally(world);
  project.addActivity(5);
  project.add("coldStarts");
  project.addOperation("start_compute", "finished");
  project.addOperation("start_compute", "cancelled");
  expect([world.activities, project.activities, other.activities]).toEqual([1, 1, 0]);
  expect([world.coldStarts, other.coldStarts]).toEqual([1, 0]);
  expect(world.operations("start_compute", undefined)).toBe(2);
  expect(world.operations(undefined, "finished")).toBe(1);
  expect(world.operations("suspend_compute", undefined)).toBe(0);
  expect(other.operations(undefined, undefined)).toBe(0);
});
