import { expect, test } from "vitest";
import { type BlockCounts, cacheAdvice, hitRatio } from "../../../src/platform/model/cache.ts";
import type { ActivePhase, Compute } from "../../../src/platform/model/compute.ts";
import {
  MAIN_COMPUTE,
  restartMain,
  worldWithIdleCompute,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { after, type CommandOf, given, MINUTE, SECOND, type Step } from "../../support/rules/rules.ts";

// The statistics of the local file cache, in blocks of 8 kB.

const BLOCKS_PER_GB = 1024 ** 3 / 8_192;

function reads(blocks: Partial<BlockCounts>): CommandOf<"RecordActivity"> {
  return {
    type: "RecordActivity",
    activity: { endpointId: "ep-main", kind: "query", blocks: { hits: 0, misses: 0, writes: 0, ...blocks } },
  };
}

/** Of the compute "ep-main", which is active. */
function cacheOf(...past: readonly Step[]) {
  return given(...past).asking((world) => {
    const { phase } = world.computes.get("ep-main") as Compute;
    return (phase as ActivePhase).cache;
  });
}

test("hits, misses and writes of the whole compute are added up since its last start", () => {
  expect(cacheOf(worldWithProject())).toEqual({ hits: 0, misses: 0, writes: 0, used: 0 });
  expect(
    cacheOf(worldWithProject(), reads({ hits: 5, misses: 2 }), after(SECOND), reads({ hits: 1, writes: 3 })),
  ).toEqual({ hits: 6, misses: 2, writes: 3, used: 3 });
});

test.each([
  [99, 1, 99],
  [1, 3, 25],
  [0, 7, 0],
  [7, 0, 100],
])("%i hits and %i misses are a hit ratio of %d percent", (hits, misses, ratio) => {
  expect(hitRatio(cacheOf(worldWithProject(), reads({ hits, misses, writes: 1_000 })))).toBe(ratio);
});

test("without reads there is no hit ratio", () => {
  expect(hitRatio(cacheOf(worldWithProject(), reads({ writes: 7 })))).toBeUndefined();
});

test("a larger compute is advised for a hit ratio below 99 %, and not at 99 %", () => {
  const advice = (hits: number, misses: number) =>
    cacheAdvice(cacheOf(worldWithProject(), reads({ hits, misses })));
  expect(advice(989, 11)).toMatch(/larger compute/);
  expect(advice(990, 10)).toBeUndefined();
  expect(advice(0, 0)).toBeUndefined();
});

test("the statistics are lost when the compute stops", () => {
  const used: Step = [worldWithProject(), reads({ hits: 5, misses: 2, writes: 3 })];
  const zero = { hits: 0, misses: 0, writes: 0, used: 0 };
  const suspend: Step = { type: "SuspendCompute", ...MAIN_COMPUTE };
  const start: Step = { type: "StartCompute", ...MAIN_COMPUTE };
  const resize: Step = { type: "UpdateCompute", ...MAIN_COMPUTE, options: { minCu: 1, maxCu: 1 } };
  expect(cacheOf(used, suspend, after(MINUTE), start, after(MINUTE))).toEqual(zero);
  expect(cacheOf(used, restartMain, after(MINUTE))).toEqual(zero);
  expect(cacheOf(used, resize, after(MINUTE))).toEqual(zero);
});

test("the statistics stay when the autosuspend delay changes", () => {
  const delay: Step = { type: "UpdateCompute", ...MAIN_COMPUTE, options: { suspendTimeoutSeconds: 60 } };
  expect(cacheOf(worldWithProject(), reads({ hits: 5 }), delay, after(MINUTE))).toMatchObject({ hits: 5 });
});

test("the reads of a query that starts a compute count after the start", () => {
  expect(cacheOf(worldWithIdleCompute(), reads({ misses: 4 }), after(3 * SECOND))).toMatchObject({
    misses: 4,
  });
});

test("the cache holds 80 % of the RAM of the compute, and never more", () => {
  const capacity = Math.floor(4 * 0.8 * BLOCKS_PER_GB);
  const world = worldWithProject({ compute: { minCu: 1, maxCu: 1 } });
  expect(cacheOf(world, reads({ writes: capacity - 1 })).used).toBe(capacity - 1);
  expect(cacheOf(world, reads({ writes: capacity + 1 }))).toMatchObject({
    used: capacity,
    writes: capacity + 1,
  });
});
