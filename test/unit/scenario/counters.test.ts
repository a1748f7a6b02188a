import fc from "fast-check";
import { expect, test } from "vitest";
import { Counters } from "../../../src/scenario/measure/counters.ts";
import { expectHolds } from "../../support/properties/properties.ts";

test("a percentile is by nearest rank over all arrivals, including those that did not wait", async () => {
  await expectHolds(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.constant(0), fc.nat(20), fc.nat(1_000_000)), { minLength: 1 }),
      fc.integer({ min: 1, max: 100 }),
      async (waits, percent) => {
        const tally = new Counters();
        for (const wait of waits) tally.addArrival(wait);
        const sorted = [...waits].sort((one, other) => one - other);
        expect(tally.waitPercentile(percent)).toBe(sorted[Math.ceil((percent / 100) * sorted.length) - 1]);
        expect(tally.longestWaitMs()).toBe(sorted.at(-1));
        expect(tally.meanWaitMs()).toBeCloseTo(waits.reduce((sum, wait) => sum + wait, 0) / waits.length, 6);
      },
    ),
    300,
  );
});

test("without arrivals every wait is 0", () => {
  const tally = new Counters();
  expect([
    tally.waitPercentile(50),
    tally.waitPercentile(99),
    tally.meanWaitMs(),
    tally.longestWaitMs(),
  ]).toEqual([0, 0, 0, 0]);
});

test("of two waits the 50th percentile is the first, the 51st the second", () => {
  const tally = new Counters();
  tally.addArrival(1);
  tally.addArrival(9);
  expect([tally.waitPercentile(50), tally.waitPercentile(51)]).toEqual([1, 9]);
});

test("active time is the sum of all spans, open ones up to now, and compute time weights them by size", () => {
  const world = new Counters();
  const one = new Counters(world);
  const other = new Counters(world);
  one.changeActive(100, 1, 0.25);
  other.changeActive(200, 1, 4);
  expect([one.activeMs(300), other.activeMs(300), world.activeMs(300), world.active]).toEqual([
    200, 100, 300, 2,
  ]);
  expect([one.cuMs(300), other.cuMs(300), world.cuMs(300)]).toEqual([50, 400, 450]);
  one.changeActive(300, 0, 0.75);
  one.changeActive(400, -1, -1);
  expect([one.activeMs(1_000), world.activeMs(1_000), world.active]).toEqual([300, 1_100, 1]);
  expect([one.cuMs(1_000), world.cuMs(1_000)]).toEqual([150, 3_350]);
});

test("a rejected arrival is moved from served to refused", async () => {
  await expectHolds(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(20), fc.boolean())), async (arrivals) => {
      const [world, kept] = [new Counters(), new Counters()];
      const tally = new Counters(world);
      for (const [wait] of arrivals) tally.addArrival(wait);
      for (const [wait, isTurnedAway] of arrivals) {
        if (isTurnedAway) tally.refuseArrival(wait);
        else kept.addArrival(wait);
      }
      for (const counted of [tally, world]) {
        expect([counted.activities, counted.longestWaitMs()]).toEqual([
          kept.activities,
          kept.longestWaitMs(),
        ]);
        expect(counted.refused).toBe(arrivals.length - kept.activities);
      }
      expect(tally.meanWaitMs()).toBeCloseTo(kept.meanWaitMs(), 6);
      for (const percent of [1, 50, 99])
        expect(tally.waitPercentile(percent)).toBe(kept.waitPercentile(percent));
    }),
    200,
  );
});

test("counts propagate to the parents and to nothing else", () => {
  const world = new Counters();
  const project = new Counters(world);
  const other = new Counters(world);
  project.addArrival(5);
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

const PROJECTS = 2;
const COMPUTES = 3;
const what = fc.oneof(
  fc.record({ kind: fc.constant("arrive" as const), compute: fc.nat(COMPUTES - 1), wait: fc.nat(5) }),
  fc.record({ kind: fc.constant("move" as const), compute: fc.nat(COMPUTES - 1), to: fc.nat(PROJECTS - 1) }),
  fc.record({ kind: fc.constant("ask" as const), project: fc.nat(PROJECTS - 1) }),
  fc.record({ kind: fc.constant("ask the world" as const) }),
);

test("a wait is counted once, under the parent of its time, for any order of queries and moves", async () => {
  await expectHolds(
    fc.asyncProperty(fc.array(what, { maxLength: 40 }), async (steps) => {
      const world = new Counters();
      const projects = Array.from({ length: PROJECTS }, () => new Counters(world));
      const places = Array.from({ length: COMPUTES }, () => 0);
      const computes = places.map((place) => new Counters(projects[place]));
      const waits = projects.map(() => [] as number[]);
      const expectWaits = (tally: Counters | undefined, expected: readonly number[]) => {
        const sorted = [...expected].sort((one, other) => one - other);
        expect(tally?.activities).toBe(sorted.length);
        for (const percent of [1, 50, 90])
          expect(tally?.waitPercentile(percent)).toBe(
            sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? 0,
          );
        expect(tally?.longestWaitMs()).toBe(sorted.at(-1) ?? 0);
      };
      for (const step of steps) {
        if (step.kind === "ask") expectWaits(projects[step.project], waits[step.project] ?? []);
        else if (step.kind === "ask the world") expectWaits(world, waits.flat());
        else if (step.kind === "move") {
          places[step.compute] = step.to;
          (computes[step.compute] as Counters).parent = projects[step.to];
        } else {
          computes[step.compute]?.addArrival(step.wait);
          waits[places[step.compute] ?? 0]?.push(step.wait);
        }
      }
      for (const [index, project] of projects.entries()) expectWaits(project, waits[index] ?? []);
      expectWaits(world, waits.flat());
    }),
    300,
  );
});
