import { expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import {
  cacheAdvice,
  cacheCapacity,
  countBlocks,
  EMPTY_CACHE,
  hitRatio,
} from "../../../src/platform/model/cache.ts";
import { computeStats, recordActivity, suspendCompute, updateCompute } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const cacheOf = async (double: Double, endpointId: string) => (await computeStats(double, endpointId)).cache;

const EMPTY = {
  file_cache_hits: 0,
  file_cache_misses: 0,
  file_cache_used: 0,
  file_cache_writes: 0,
  file_cache_hit_ratio: null,
  advice: null,
};

test("cache statistics start at zero, and there is no ratio at 0/0", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  expect(await cacheOf(double, endpointId)).toEqual(EMPTY);
});

test("hits, misses and writes add up over all activity", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { blocks: { hits: 900, misses: 100, writes: 100 } });
  await recordActivity(double, endpointId, { blocks: { hits: 99 } });
  await recordActivity(double, endpointId, { blocks: { misses: 1, writes: 20 } });
  await recordActivity(double, endpointId);
  expect(await cacheOf(double, endpointId)).toEqual({
    file_cache_hits: 999,
    file_cache_misses: 101,
    file_cache_used: 120,
    file_cache_writes: 120,
    file_cache_hit_ratio: (999 / 1100) * 100,
    advice: expect.any(String),
  });
});

test.each([
  [0, 0, undefined],
  [0, 5, 0],
  [5, 0, 100],
  [99, 1, 99],
  [3, 1, 75],
])("the hit ratio of %d hits and %d misses is %s", (hits, misses, ratio) => {
  expect(hitRatio({ ...EMPTY_CACHE, hits, misses })).toBe(ratio);
});

test("a larger compute is advised for a hit ratio below 99, but not at 99, above it, or without reads", async () => {
  const advice = (hits: number, misses: number) => cacheAdvice({ ...EMPTY_CACHE, hits, misses });
  expect(advice(9_899, 101)).toContain("larger compute");
  expect(advice(9_900, 100)).toBeUndefined();
  expect(advice(9_901, 99)).toBeUndefined();
  expect(advice(0, 1)).toContain("larger compute");
  expect(advice(0, 0)).toBeUndefined();
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { blocks: { hits: 98, misses: 2 } });
  expect((await cacheOf(double, endpointId)).advice).toContain("a larger compute is advised");
});

test("cache statistics are lost when the compute stops and start at zero", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { blocks: { hits: 5, misses: 5, writes: 5 } });
  await suspendCompute(double, path);
  expect(await cacheOf(double, endpointId)).toEqual(EMPTY);
  await double.api("POST", `${path}/start`);
  await double.advance("3s");
  expect(await cacheOf(double, endpointId)).toEqual(EMPTY);
});

test.each([
  ["an autosuspend", (double: Double) => double.advance("1h")],
  ["a restart", (double: Double, path: string) => double.api("POST", `${path}/restart`)],
  [
    "a change of size",
    (double: Double, path: string) =>
      double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } }),
  ],
])("%s clears the cache statistics", async (_, stop) => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { blocks: { hits: 5, misses: 5, writes: 5 } });
  await stop(double, path);
  await double.advance("10s");
  await double.api("POST", `${path}/start`);
  await double.advance("10s");
  expect(await computeStats(double, endpointId)).toMatchObject({ current_state: "active", cache: EMPTY });
});

test("changing the delay keeps the cache statistics", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await recordActivity(double, endpointId, { blocks: { hits: 5 } });
  await updateCompute(double, path, { suspend_timeout_seconds: 600 });
  expect((await cacheOf(double, endpointId)).file_cache_hits).toBe(5);
});

test("the reads of a query that started the compute count after that start", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await suspendCompute(double, path);
  await recordActivity(double, endpointId, { blocks: { misses: 7, writes: 7 } });
  await recordActivity(double, endpointId, { blocks: { hits: 3, writes: 1 } });
  expect(await cacheOf(double, endpointId)).toEqual(EMPTY);
  await double.advance("3s");
  expect(await cacheOf(double, endpointId)).toMatchObject({
    file_cache_hits: 3,
    file_cache_misses: 7,
    file_cache_writes: 8,
    file_cache_used: 8,
  });
});

test("the file cache holds 80 % of the RAM in pages of 8 kB, and never more", async () => {
  const capacity = cacheCapacity(PROFILES["2024"], 0.25);
  expect(capacity).toBe(Math.floor((0.8 * 1024 ** 3) / 8192));
  expect(countBlocks(EMPTY_CACHE, { hits: 0, misses: 0, writes: capacity }, capacity).used).toBe(capacity);
  expect(countBlocks(EMPTY_CACHE, { hits: 0, misses: 0, writes: capacity - 1 }, capacity).used).toBe(
    capacity - 1,
  );
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await recordActivity(double, endpointId, { blocks: { writes: capacity + 1 } });
  expect(await cacheOf(double, endpointId)).toMatchObject({
    file_cache_used: capacity,
    file_cache_writes: capacity + 1,
  });
});

test("the cache of an autoscaled compute grows and shrinks with it", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double, {
    autoscaling_limit_min_cu: 0.25,
    autoscaling_limit_max_cu: 1,
  });
  const [small, large] = [cacheCapacity(PROFILES["2024"], 0.25), cacheCapacity(PROFILES["2024"], 1)];
  await recordActivity(double, endpointId, { load: 90, duration_ms: 4_001 });
  await double.advance("4s");
  await recordActivity(double, endpointId, { blocks: { writes: large + 1 } });
  expect((await cacheOf(double, endpointId)).file_cache_used).toBe(large);
  await double.advance("4m");
  expect(await cacheOf(double, endpointId)).toMatchObject({
    file_cache_used: small,
    file_cache_writes: large + 1,
  });
});
