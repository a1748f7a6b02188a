import { expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { PLANS } from "../../../src/platform/catalog/plan.ts";
import { computeResources, maxConnections, resolveSizeRange } from "../../../src/platform/catalog/sizes.ts";
import { cacheCapacity } from "../../../src/platform/model/cache.ts";
import {
  computeState,
  computeStats,
  createAccount,
  endpointAt,
  recordActivity,
} from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

const profile = PROFILES["2026"];
const range = (minCu: number, maxCu: number) => ({ minCu, maxCu });
const base = range(0.25, 0.25);

test.each([
  [0.25, 0.25, 104],
  [0.25, 2, 839],
  [0.25, 8, 839],
  [0.25, 0.5, 209],
  [0.5, 0.5, 209],
  [0.5, 4, 1678],
  [1, 1, 419],
  [1, 8, 3357],
  [1, 10, 3357],
  [2, 9, 3776],
  [2, 10, 4000],
  [9, 9, 3776],
  [10, 10, 4000],
  [56, 56, 4000],
])(
  "max_connections of %d to %d CU is %i: by the maximum, or eight times the minimum",
  (minCu, maxCu, connections) => {
    expect(maxConnections(profile, { minCu, maxCu })).toBe(connections);
  },
);

test("max_connections is never below 100", () => {
  expect(profile.maxConnections(0.1, 0.1)).toBe(100);
});

test("sizes are autoscaled up to 16 CU and fixed up to 56", () => {
  const decide = (minCu: number, maxCu: number) =>
    resolveSizeRange(PLANS.paid, profile, { minCu, maxCu }, base).ok;
  for (const cu of [0.25, 0.5, 1, 10, 11, 16, 17, 32, 56]) expect([cu, decide(cu, cu)]).toEqual([cu, true]);
  for (const cu of [0, 0.75, 1.5, 57, 64]) expect([cu, decide(cu, cu)]).toEqual([cu, false]);
  expect([decide(0.25, 16), decide(1, 17), decide(16, 17), decide(17, 18), decide(17, 56)]).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

test("a fixed size as a bound of a range is rejected with a specific message", async () => {
  const double = await createDouble({ profile: "2026" });
  const { path } = await createProject(double);
  const patch = (endpoint: unknown) => double.api("PATCH", path, { endpoint });
  const bound = await patch({ autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 20 });
  expect([bound.status, bound.body.code]).toEqual([422, "COMPUTE_SIZE_NOT_ALLOWED"]);
  expect(bound.body.message).toContain("fixed size");
  const unknown = await patch({ autoscaling_limit_min_cu: 57, autoscaling_limit_max_cu: 57 });
  expect(unknown.body.message).toContain("from 1 to 16, fixed up to 56");
  expect((await patch({ autoscaling_limit_min_cu: 56, autoscaling_limit_max_cu: 56 })).status).toBe(200);
});

test("the file cache is 75 % of the RAM, which is 4 GB for each CU; shared_buffers stays", async () => {
  expect(computeResources(profile, 8)).toEqual({ vcpu: 8, ramGb: 32, fileCacheGb: 24 });
  expect(computeResources(profile, 0.25)).toEqual({ vcpu: 0.25, ramGb: 1, fileCacheGb: 0.75 });
  expect(cacheCapacity(profile, 1)).toBe((3 * 1024 ** 3) / 8192);
  const double = await createDouble({ profile: "2026" });
  const { endpointId } = await createProject(double);
  expect(await computeStats(double, endpointId)).toMatchObject({
    ram_gb: 1,
    file_cache_size_gb: 0.75,
    shared_buffers_mb: 128,
    max_connections: 104,
    max_pooled_connections: 10_000,
  });
});

test("a start takes a few hundred milliseconds", async () => {
  const double = await createDouble({ profile: "2026" });
  const { endpointId, path } = await createProject(double);
  await double.advance("1h");
  expect(await recordActivity(double, endpointId)).toMatchObject({ woke: true, waited_ms: 500 });
  await double.advance("499ms");
  expect(await computeState(double, path)).toBe("idle");
  await double.advance("1ms");
  expect(await computeState(double, path)).toBe("active");
});

test("a compute of 56 CU has that size, whatever its load", async () => {
  const double = await createDouble({ profile: "2026" });
  const { endpointId } = await createProject(double, {
    autoscaling_limit_min_cu: 56,
    autoscaling_limit_max_cu: 56,
  });
  expect(await computeStats(double, endpointId)).toMatchObject({ current_size_cu: 56, ram_gb: 224 });
  await recordActivity(double, endpointId, { load: 50, duration_ms: 60_000 });
  await double.advance("1m");
  expect((await computeStats(double, endpointId)).current_size_cu).toBe(56);
});

test("autoscaling goes up to 16 CU", async () => {
  const double = await createDouble({ profile: "2026" });
  const { endpointId } = await createProject(double, {
    autoscaling_limit_min_cu: 0.25,
    autoscaling_limit_max_cu: 16,
  });
  await recordActivity(double, endpointId, { load: 14.4, duration_ms: 3_600_000 });
  await double.advance("30m");
  expect((await computeStats(double, endpointId)).current_size_cu).toBe(16);
});

test("every size carries a load of nine tenths of itself in this profile too", async () => {
  const double = await createDouble({ profile: "2026" });
  const { endpointId } = await createProject(double, {
    autoscaling_limit_min_cu: 0.25,
    autoscaling_limit_max_cu: 16,
  });
  for (const cu of profile.sizes.autoscaled) {
    const load = Math.round(cu * 9_000) / 10_000;
    await recordActivity(double, endpointId, { load, duration_ms: 1_800_000 });
    await double.advance("29m");
    expect((await computeStats(double, endpointId)).current_size_cu).toBe(cu);
    await double.advance("10m");
  }
});

test("the suspend timeout has the same bounds, and is fixed at 5 min on the free plan", async () => {
  const double = await createDouble({ profile: "2026" });
  const { path } = await createProject(double);
  const patch = async (path: string, suspend_timeout_seconds: number, key?: string) => {
    const { status } = await double.api("PATCH", path, { endpoint: { suspend_timeout_seconds } }, key);
    await double.advance("10s");
    return status;
  };
  expect([
    await patch(path, 59),
    await patch(path, 60),
    await patch(path, 604_800),
    await patch(path, 604_801),
  ]).toEqual([422, 200, 200, 422]);
  const { key } = await createAccount(double, { plan: "free" });
  const free = await createProject(double, {}, key);
  expect([
    await patch(free.path, 60, key),
    await patch(free.path, -1, key),
    await patch(free.path, 300, key),
  ]).toEqual([412, 412, 200]);
});

test("a world records its profile, and new projects take its Postgres version", async () => {
  for (const [name, version] of [
    ["2024", 16],
    ["2026", 17],
  ] as const) {
    const double = await createDouble({ profile: name });
    const { created, path } = await createProject(double);
    expect(created.project.pg_version).toBe(version);
    expect((await double.sim("GET", "/state")).body.world.profile).toBe(name);
    expect((await endpointAt(double, path)).current_state).toBe("active");
  }
});

test("computes can scale to the sizes of the profile", async () => {
  const double = await createDouble({ profile: "2026" });
  expect((await double.api("GET", "/users/me")).body.max_autoscaling_limit).toBe(16);
});

test("a project can have a version of Postgres that the profile has; another version is 422", async () => {
  for (const [name, lowest, highest] of [
    ["2024", 14, 17],
    ["2026", 14, 18],
  ] as const) {
    const double = await createDouble({ profile: name });
    const create = (pg_version: number) => double.api("POST", "/projects", { project: { pg_version } });
    expect([(await create(lowest)).status, (await create(highest)).status]).toEqual([201, 201]);
    expect((await create(lowest - 1)).status).toBe(400);
    const { status, body } = await create(highest + 1);
    expect([name, status, body.code]).toEqual(
      name === "2026" ? [name, 400, "BAD_REQUEST"] : [name, 422, "PG_VERSION_NOT_SUPPORTED"],
    );
    expect(body.message).toMatch(/pg_version: .*(available are 14 to 17|at most 18)/);
  }
});
