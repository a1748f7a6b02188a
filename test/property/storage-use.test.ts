import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY, HOUR } from "../../src/kernel/time.ts";
import type { Branch } from "../../src/platform/model/branch.ts";
import type { Compute } from "../../src/platform/model/compute.ts";
import type { Project } from "../../src/platform/model/project.ts";
import { NO_STORAGE } from "../../src/platform/model/storage-use.ts";
import type { Granularity } from "../../src/platform/model/usage-totals.ts";
import { consumptionOf } from "../../src/platform/rules/usage/consumption.ts";
import { meterTraffic } from "../../src/platform/rules/usage/meter.ts";
import { beginStorage, meterStorage } from "../../src/platform/rules/usage/meter-storage.ts";
import { storedAt, storedNow } from "../../src/platform/rules/usage/stored-data.ts";
import { emptyWorld, type World } from "../../src/platform/world/world.ts";
import { expectHolds } from "../support/properties/properties.ts";

const START = Date.UTC(2026, 0, 30, 21, 17);
const BRANCHES = [{ id: "br-root" }, { id: "br-child", parentId: "br-root" }] as const;
const METRICS = ["root", "child", "history", "logical"] as const;

type Report = {
  readonly at: number;
  readonly branch: 0 | 1;
  readonly written: number;
  readonly logical: number;
};

const steps = fc.array(
  fc.record({
    minutes: fc.integer({ min: 1, max: 600 }),
    what: fc.constantFrom("report", "report", "book"),
    branch: fc.constantFrom<0 | 1>(0, 1),
    written: fc.integer({ min: 0, max: 1_000 }),
    logical: fc.integer({ min: 0, max: 1_000 }),
  }),
  { minLength: 1, maxLength: 12 },
);
const retentions = fc.constantFrom(0, HOUR / 2, HOUR, 30 * HOUR, 7 * DAY, 20 * DAY);

function worldWith(retention: number): World {
  const world = emptyWorld();
  world.settings = { ...world.settings, hourlyUsage: true, storageUse: true };
  world.projects.set({ id: "shop", historyRetentionSeconds: retention / 1_000 } as Project);
  for (const branch of BRANCHES) world.branches.set({ ...branch, projectId: "shop" } as Branch);
  return world;
}

/** What Postgres reports, as the end of a span applies it. */
function report(world: World, { at, branch, written, logical }: Report): void {
  const { id } = BRANCHES[branch];
  meterTraffic(
    world,
    { branchId: id, projectId: "shop" } as Compute,
    { writtenBytes: written, transferredBytes: 0 },
    at,
  );
  const row = world.branches.get(id) as Branch;
  beginStorage(world, row, at);
  world.branches.set({ ...row, logicalSizeBytes: logical });
}

/**
 * Byte-milliseconds of a branch in a period, from its reports alone, minute by minute. A report at the full hour belongs
 * to the hour before.
 */
function expected(reports: readonly Report[], branch: 0 | 1, retention: number, from: number, to: number) {
  const own = reports.filter((one) => one.branch === branch);
  const period = retention > 7 * DAY ? DAY : HOUR;
  let sum = NO_STORAGE;
  for (let at = from; at < to; at += 60_000) {
    const past = own.filter((one) => one.at <= at);
    const logical = past.at(-1)?.logical ?? 0;
    const written = past.reduce((total, one) => total + one.written, 0);
    const history = past
      .filter((one) => Math.ceil(one.at / period) * period + retention > at)
      .reduce((total, one) => total + one.written, 0);
    sum = {
      root: sum.root + (branch === 0 ? logical : 0) * 60_000,
      child: sum.child + (branch === 1 ? Math.min(logical, written) : 0) * 60_000,
      history: sum.history + (branch === 0 && retention > 0 ? history : 0) * 60_000,
      logical: sum.logical + logical * 60_000,
    };
  }
  return sum;
}

/** What a project has stored in each timeframe, by metric. */
function framesOf(world: World, id: string, granularity: Granularity, now: number) {
  const window = { from: START, to: now + 32 * DAY, granularity };
  const branches = [...world.branches.values()].filter((branch) => id === "shop" || branch.id === id);
  return consumptionOf(world, id, [], window, now, branches).map(({ start, end, use }) => ({
    start,
    end,
    storage: use.data?.storage ?? NO_STORAGE,
  }));
}

test("stored bytes over time are those of the reports, in every hour or day, however often they are booked", async () => {
  await expectHolds(
    fc.asyncProperty(
      steps,
      retentions,
      fc.integer({ min: 0, max: 2_000 }),
      async (steps, retention, rest) => {
        const world = worldWith(retention);
        // Hours are available for 8 days, so a longer retention is observed by the day.
        const [granularity, minute] =
          retention > 7 * DAY ? (["daily", 360_000] as const) : (["hourly", 60_000] as const);
        const reports: Report[] = [];
        let now = START;
        for (const { minutes, what, ...data } of steps) {
          now += minutes * minute;
          if (what === "book") meterStorage(world, BRANCHES[data.branch].id, now);
          else {
            reports.push({ at: now, ...data });
            report(world, { at: now, ...data });
          }
        }
        now += rest * minute;
        for (const branch of [0, 1] as const) {
          for (const { start, end, storage } of framesOf(world, BRANCHES[branch].id, granularity, now)) {
            const model = expected(reports, branch, retention, Math.max(start, START), Math.min(end, now));
            for (const metric of METRICS) expect(storage[metric]).toBe(model[metric]);
          }
        }
        const totals = ([granularity, "daily", "monthly"] as const).map((each) => {
          const frames = framesOf(world, "shop", each, now);
          return METRICS.map((metric) => frames.reduce((sum, { storage }) => sum + storage[metric], 0));
        });
        expect(totals[1]).toEqual(totals[0]);
        expect(totals[2]).toEqual(totals[0]);
      },
    ),
    40,
  );
});

test("what branches store is the same until the stated instant, if nothing is reported", async () => {
  let changes = 0;
  await expectHolds(
    fc.asyncProperty(
      steps,
      retentions,
      fc.array(fc.integer({ min: 0, max: 30 * DAY }), { minLength: 1, maxLength: 20 }),
      async (steps, retention, laters) => {
        const world = worldWith(retention);
        let now = START;
        for (const { minutes, what, ...data } of steps) {
          now += minutes * 60_000;
          if (what === "report") report(world, { at: now, ...data });
        }
        const branches = [...world.branches.values()];
        const { levels, until } = storedNow(world, branches, now);
        expect(levels).toEqual(storedAt(world, branches, now));
        for (const later of [until - 1, ...laters.map((ms) => now + ms)])
          if (later >= now && later < until) expect(storedAt(world, branches, later)).toEqual(levels);
        if (until === Number.POSITIVE_INFINITY) return;
        expect(storedAt(world, branches, until)).not.toEqual(levels);
        changes += 1;
      },
    ),
    200,
  );
  expect(changes).toBeGreaterThan(0);
});
