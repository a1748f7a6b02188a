import { expect, test } from "vitest";
import {
  RelationBlocks,
  type RelationState,
  withEvictions,
} from "../../../../src/postgres/compute/relation-blocks.ts";

const table = (blocks: number, read: number, change: Partial<RelationState> = {}): RelationState => ({
  id: "16384",
  file: "1",
  blocks,
  read,
  ...change,
});

test("a table that was just written is in the cache: its first scan hits", () => {
  const blocks = new RelationBlocks();
  blocks.begin([], true);
  expect(blocks.count([table(100, 0)], true)).toEqual({ read: 0, hits: 0, misses: 0, writes: 100 });
  expect(blocks.count([table(100, 100)], true)).toEqual({ read: 100, hits: 100, misses: 0, writes: 0 });
  expect(blocks.cached).toBe(100);
});

test("a table from before the start is not in the cache: its first scan misses, the next one hits", () => {
  const blocks = new RelationBlocks();
  blocks.begin([table(100, 40)], true);
  expect(blocks.count([table(100, 100)], true)).toMatchObject({ hits: 0, misses: 60, writes: 60 });
  expect(blocks.counted()).toEqual({ "16384": [100, 40] });
  expect(blocks.count([table(100, 200)], true)).toMatchObject({ hits: 60, misses: 40 });
  expect(blocks.count([table(100, 300)], true)).toMatchObject({ hits: 100, misses: 0 });
});

test("reads of a new table miss nothing of an older one", () => {
  const blocks = new RelationBlocks();
  blocks.begin([table(100, 0)], true);
  const other = { id: "16390", file: "2" };
  expect(blocks.count([table(100, 0), table(50, 50, other)], true)).toMatchObject({ hits: 50, misses: 0 });
});

test("another Postgres process of the same compute has the same cache", () => {
  const blocks = new RelationBlocks();
  blocks.begin([table(100, 0)], true);
  blocks.count([table(100, 100)], true);
  blocks.begin([table(100, 0)], false);
  expect(blocks.count([table(100, 100)], true)).toMatchObject({ hits: 100, misses: 0 });
});

test("a table that was written anew is in the cache, and a dropped one is not counted any more", () => {
  const blocks = new RelationBlocks();
  blocks.begin([table(100, 0)], true);
  expect(blocks.count([table(80, 80, { file: "2" })], true)).toMatchObject({
    hits: 80,
    misses: 0,
    writes: 80,
  });
  blocks.count([], true);
  expect(blocks.cached).toBe(0);
});

test("on a replica, what the primary has written is not in the cache", () => {
  const blocks = new RelationBlocks();
  blocks.begin([], true);
  expect(blocks.count([table(100, 100)], false)).toEqual({ read: 100, hits: 0, misses: 100, writes: 100 });
});

test("a cache smaller than the data misses by the share that does not fit, a larger one does not", () => {
  const reads = { hits: 1_000, misses: 0, writes: 0 };
  expect(withEvictions(reads, 400, 100)).toEqual({ hits: 250, misses: 750, writes: 750 });
  expect(withEvictions(reads, 400, 398)).toMatchObject({ misses: 5 });
  expect(withEvictions(reads, 400, 400)).toEqual(reads);
});
