import { expect, test } from "vitest";
import { CacheRecovery, recoveredAfterMs } from "../../../src/whatif/questions/capacity/cache-recovery.ts";
import { StackDistances } from "../../../src/whatif/questions/capacity/stack-distance.ts";

const SECOND = 1_000;
const MISS = Number.POSITIVE_INFINITY;

test("a use gives its distance: undefined for an untracked block, infinite for the first use since a start", () => {
  const distances = new StackDistances();
  expect([1, 2, 1, 2, 2].map((block) => distances.access(block))).toEqual([MISS, MISS, 1, 1, 0]);
  distances.restart();
  expect(distances.access(2)).toBe(MISS);
  const sampled = new StackDistances(0.5);
  const followed = Array.from({ length: 1_000 }, (_, block) => sampled.access(block)).filter(
    (distance) => distance !== undefined,
  );
  expect(followed.length).toBeGreaterThan(400);
  expect(followed.length).toBeLessThan(600);
});

test("a read counts in the bucket of its time since the start, and hits in caches larger than its distance", () => {
  const recovery = new CacheRecovery([1, 10]);
  recovery.add(0, MISS);
  recovery.add(SECOND - 1, 0);
  recovery.add(SECOND, 5);
  recovery.add(24 * 3_600 * SECOND, 10);
  expect(recovery.buckets()).toEqual([
    { fromMs: 0, toMs: SECOND, reads: 2, hitRatios: [0.5, 0.5] },
    { fromMs: SECOND, toMs: 5 * SECOND, reads: 1, hitRatios: [0, 1] },
    { fromMs: 6 * 3_600 * SECOND, toMs: MISS, reads: 1, hitRatios: [0, 0] },
  ]);
});

test("a cache has recovered when a bucket reaches nine tenths of the best hit ratio; buckets with few reads are ignored", () => {
  const recovery = new CacheRecovery([1]);
  const read = (sinceMs: number, hits: number, misses: number) => {
    for (let i = 0; i < hits; i += 1) recovery.add(sinceMs, 0);
    for (let i = 0; i < misses; i += 1) recovery.add(sinceMs, MISS);
  };
  read(0, 99, 0);
  read(2 * SECOND, 71, 129);
  read(7 * SECOND, 73, 27);
  read(20 * SECOND, 80, 20);
  expect(recoveredAfterMs(recovery.buckets(), 0)).toBe(10 * SECOND);
  expect(recoveredAfterMs([], 0)).toBeUndefined();
  expect(recoveredAfterMs([{ fromMs: 0, toMs: SECOND, reads: 200, hitRatios: [0] }], 0)).toBeUndefined();
});
