import fc from "fast-check";
import { expect, test } from "vitest";
import { isOfShard, parseShard, runsOfShard } from "../../../src/kernel/shard.ts";
import { mergeShards, parseShardReport } from "../../../src/scenario/report/merge-reports.ts";
import { expectHolds } from "../../support/properties/properties.ts";

test.each([
  ["1/1", { index: 1, of: 1 }],
  ["3/10", { index: 3, of: 10 }],
  ["1000/1000", { index: 1_000, of: 1_000 }],
  ["0/3", undefined],
  ["4/3", undefined],
  ["1/1001", undefined],
  ["1", undefined],
  ["1/3/4", undefined],
  ["-1/3", undefined],
  ["a/b", undefined],
])("%s is the shard %j", (text, shard) => {
  expect(parseShard(text)).toEqual(shard);
});

test("the shards have every run once, in order, and differ by one run at most", async () => {
  await expectHolds(
    fc.asyncProperty(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 1, max: 60 }), async (count, of) => {
      const runs = Array.from({ length: count }, (_, index) => index);
      const parts = Array.from({ length: of }, (_, index) => runsOfShard(runs, { index: index + 1, of }));
      expect(parts.flat()).toEqual(runs);
      const sizes = parts.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
    100,
  );
});

const couldNotRun = (scenario: string) => ({
  ...{ scenario, file: `${scenario}.yaml`, values: {}, seed: 1, repeat: "standin run" },
  ...{ verdict: "could_not_run", reason: "no" },
});
const reportOf = (index: number, of: number, ...names: string[]) =>
  parseShardReport(
    JSON.stringify({ version: 2, shard: { index, of }, passed: 0, runs: names.map(couldNotRun) }),
    `shard-${index}.json`,
  );

test("reports are merged by the number of their shard, whatever the order of the files", () => {
  const merged = mergeShards([reportOf(3, 3, "d"), reportOf(1, 3, "a", "b"), reportOf(2, 3, "c")]);
  expect(merged.map(({ scenario }) => scenario)).toEqual(["a", "b", "c", "d"]);
  expect(Object.keys(merged[0] ?? {})).toEqual(Object.keys(couldNotRun("a")));
});

test("each shard must be there once, of the same number of shards", () => {
  expect(() => mergeShards([reportOf(1, 4), reportOf(3, 4)])).toThrow(
    "the reports of these shards are missing: 2/4, 4/4",
  );
  expect(() => mergeShards([reportOf(1, 2), reportOf(1, 2)])).toThrow(
    "shard-1.json: is shard 1/2, as shard-1.json is; give each shard once",
  );
  expect(() => mergeShards([reportOf(1, 2), reportOf(2, 3)])).toThrow(
    "shard-2.json: is shard 2/3, but shard-1.json is shard 1/2; merge reports of the same number of shards",
  );
});

test.each([
  ["{", /^x.json: is not JSON; /],
  ["[]", /^x.json: is not a JSON report of standin run --shard: /],
  ['{"version":2,"runs":[]}', /^x.json: is the report of all runs; only reports of --shard can be merged$/],
  ['{"version":1,"shard":{"index":1,"of":1},"runs":[]}', /--shard: version: /],
  ['{"version":2,"shard":{"index":1,"of":1},"runs":[{"verdict":"passed"}]}', /--shard: runs\.0\.scenario: /],
])("%s is refused", (text, message) => {
  expect(() => parseShardReport(text, "x.json")).toThrow(message);
});

test("each name is in one shard, the same on every machine, and similar names are spread", () => {
  const names = Array.from({ length: 1_000 }, (_, number) => `ep-quiet-river-${number}`);
  const shards = [1, 2, 3].map((index) => names.filter((name) => isOfShard(name, { index, of: 3 })));
  expect(shards.flat().sort()).toEqual([...names].sort());
  expect(shards.map(({ length }) => length)).toEqual([339, 349, 312]);
});
