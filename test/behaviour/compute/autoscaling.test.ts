import { expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/profile-defaults-and-limits.ts";
import { sizeForLoad } from "../../../src/platform/catalog/sizes.ts";
import { addReading } from "../../../src/platform/compute/autoscaling.ts";
import { computeStats, endpointAt, recordActivity, suspendCompute } from "../../support/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double.ts";

const SCALED = { autoscaling_limit_min_cu: 0.5, autoscaling_limit_max_cu: 4 };

async function createScaled(project = SCALED) {
  const double = await createDouble();
  return { double, ...(await createProject(double, project)) };
}

const sizeOf = async (double: Double, endpointId: string) =>
  (await computeStats(double, endpointId)).current_size_cu;

test.each([
  [0, 0.5],
  [0.45, 0.5],
  [0.46, 1],
  [0.9, 1],
  [0.91, 2],
  [1.8, 2],
  [1.81, 3],
  [2.7, 3],
  [3.6, 4],
  [3.61, 4],
  [100, 4],
])("a load of %d needs %d CU, within 0.5 to 4 CU", async (load, cu) => {
  expect(sizeForLoad(PROFILES["2024"], { minCu: 0.5, maxCu: 4 }, load)).toBe(cu);
  const { double, endpointId } = await createScaled();
  await recordActivity(double, endpointId, { load });
  expect(await sizeOf(double, endpointId)).toBe(cu);
});

test("every size carries a load of up to nine tenths of its CU", () => {
  const { sizes } = PROFILES["2024"];
  const range = { minCu: 0.25, maxCu: 10 };
  for (const [index, cu] of sizes.autoscaled.entries()) {
    const load = Math.round(cu * 9_000) / 10_000;
    expect([cu, sizeForLoad(PROFILES["2024"], range, load)]).toEqual([cu, cu]);
    expect(sizeForLoad(PROFILES["2024"], range, load + 0.001)).toBe(sizes.autoscaled[index + 1] ?? 10);
  }
});

test("a compute starts at its minimum", async () => {
  const { double, endpointId } = await createScaled();
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_size_cu: 0.5,
    ram_gb: 2,
    file_cache_size_gb: 1.6,
  });
});

test("automatic scaling causes no restart and no disconnect, and leaves max_connections as it is", async () => {
  const { double, endpointId, path } = await createScaled();
  const { started_at } = await endpointAt(double, path);
  await recordActivity(double, endpointId, { kind: "connect" });
  await recordActivity(double, endpointId, { load: 3 });
  const grown = await computeStats(double, endpointId);
  expect(grown).toMatchObject({
    current_size_cu: 4,
    ram_gb: 16,
    vcpu: 4,
    max_connections: 225,
    connections: { direct: 1 },
  });
  await double.advance("2m");
  const shrunk = await computeStats(double, endpointId);
  expect(shrunk).toMatchObject({
    current_size_cu: 0.5,
    ram_gb: 2,
    max_connections: 225,
    connections: { direct: 1 },
  });
  expect(await endpointAt(double, path)).toMatchObject({ current_state: "active", started_at });
  expect((await double.api("POST", `${path}/start`)).body.operations).toEqual([]);
});

test("the size falls exactly a minute after the activity that carried the load has ended", async () => {
  const { double, endpointId } = await createScaled();
  await recordActivity(double, endpointId, { load: 1.5, duration_ms: 10_000 });
  await double.advance("69999ms");
  expect(await sizeOf(double, endpointId)).toBe(2);
  await double.advance("1ms");
  expect(await sizeOf(double, endpointId)).toBe(0.5);
});

test("the size falls in steps, as each load ends", async () => {
  const { double, endpointId } = await createScaled();
  await recordActivity(double, endpointId, { load: 3, duration_ms: 30_000 });
  await recordActivity(double, endpointId, { load: 1.5, duration_ms: 60_000 });
  await recordActivity(double, endpointId, { load: 0.8, duration_ms: 90_000 });
  const seen: number[] = [];
  for (const by of ["89999ms", "1ms", "29999ms", "1ms", "29999ms", "1ms"]) {
    await double.advance(by);
    seen.push(await sizeOf(double, endpointId));
  }
  expect(seen).toEqual([4, 2, 2, 1, 1, 0.5]);
});

test("a reading that starts where the last one ends causes no step in size between them", async () => {
  const { double, endpointId } = await createScaled();
  await recordActivity(double, endpointId, { load: 1.5 });
  await double.advance("59s");
  await recordActivity(double, endpointId, { load: 1.5 });
  const { body } = await double.advance("59999ms");
  expect(body.events).toEqual([]);
  expect(await sizeOf(double, endpointId)).toBe(2);
});

test("activity without a load changes no size", async () => {
  const { double, endpointId } = await createScaled();
  await recordActivity(double, endpointId, { load: 3, duration_ms: 60_000 });
  await recordActivity(double, endpointId, { duration_ms: 1_000 });
  expect(await sizeOf(double, endpointId)).toBe(4);
});

test("a compute started by a load starts with the size for that load", async () => {
  const { double, endpointId, path } = await createScaled();
  await suspendCompute(double, path);
  await recordActivity(double, endpointId, { load: 1.5, duration_ms: 5_000 });
  await double.advance("3s");
  expect(await sizeOf(double, endpointId)).toBe(2);
  await double.advance("64999ms");
  expect(await sizeOf(double, endpointId)).toBe(2);
  await double.advance("1ms");
  expect(await sizeOf(double, endpointId)).toBe(0.5);
});

test("a restart clears the load", async () => {
  const { double, endpointId, path } = await createScaled();
  await recordActivity(double, endpointId, { load: 3, duration_ms: 3_600_000 });
  await double.api("POST", `${path}/restart`);
  await double.advance("10s");
  expect(await sizeOf(double, endpointId)).toBe(0.5);
});

test("a fixed size does not scale", async () => {
  const { double, endpointId } = await createScaled({
    autoscaling_limit_min_cu: 2,
    autoscaling_limit_max_cu: 2,
  });
  await recordActivity(double, endpointId, { load: 100 });
  expect(await sizeOf(double, endpointId)).toBe(2);
});

test("new limits apply from the restart on: the restarted compute has a size within them", async () => {
  const { double, endpointId, path } = await createScaled();
  await recordActivity(double, endpointId, { load: 3, duration_ms: 3_600_000 });
  await double.api("PATCH", path, { endpoint: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 2 } });
  await double.advance("10s");
  expect(await computeStats(double, endpointId)).toMatchObject({ current_size_cu: 1, max_connections: 450 });
});

test("changing the limits after a load has ended does not resize in the past", async () => {
  const { double, endpointId, path } = await createScaled();
  // The end of the load changes no size, so it was not processed since.
  await recordActivity(double, endpointId, { load: 0.2 });
  await double.advance("2m");
  const since = (await double.sim("GET", "/state")).body.seq;
  await double.api("PATCH", path, { endpoint: { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 4 } });
  const { now } = (await double.sim("GET", "/clock")).body;
  await double.advance("10s");
  const { events } = (await double.sim("GET", `/events?since=${since}`)).body;
  for (const event of events) expect(event.at >= now).toBe(true);
});

test("cpu_used_sec is the sum of compute units times active seconds, through every change of size", async () => {
  const { double, projectId, endpointId } = await createScaled();
  const used = async () =>
    (await double.api("GET", "/projects")).body.projects.find((project: any) => project.id === projectId)
      .cpu_used_sec;
  expect(await used()).toBe(3);
  await recordActivity(double, endpointId, { load: 3 });
  await double.advance("60s");
  expect(await used()).toBe(3 + 60 * 4);
  await double.advance("40s");
  expect(await used()).toBe(3 + 60 * 4 + 40 * 0.5);
  await double.advance("1d");
  expect(await used()).toBe(3 + 60 * 4 + 240 * 0.5);
});

test("a reading covered by a higher and longer one is dropped", () => {
  const low = { load: 1, until: 100 };
  const high = { load: 2, until: 200 };
  expect(addReading([high], low, 0)).toEqual([high]);
  expect(addReading([low], high, 0)).toEqual([high]);
  expect(addReading([{ load: 3, until: 50 }], low, 0)).toEqual([{ load: 3, until: 50 }, low]);
  expect(addReading([{ load: 3, until: 50 }], low, 50)).toEqual([low]);
});
