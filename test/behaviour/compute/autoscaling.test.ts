import { expect, test } from "vitest";
import { addReading } from "../../../src/platform/rules/compute/autoscaling/load-readings.ts";
import { journalOf } from "../../support/double/call-log.ts";
import { computeStats, endpointAt, recordActivity, suspendCompute } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const SCALED = { autoscaling_limit_min_cu: 0.5, autoscaling_limit_max_cu: 4 };

async function createScaled(project = SCALED) {
  const double = await createDouble();
  return { double, ...(await createProject(double, project)) };
}

const sizeOf = async (double: Double, endpointId: string) =>
  (await computeStats(double, endpointId)).current_size_cu;

/** A load that lasts, and the size one hour later: its average is then the load. */
test.each([
  [0, 0.5],
  [0.5, 0.5],
  [0.51, 0.5],
  [0.57, 0.75],
  [0.9, 1],
  [1.01, 1],
  [1.02, 1.25],
  [3.48, 3.75],
  [3.49, 4],
  [100, 4],
])("a lasting load of %d needs %d CU, within 0.5 to 4 CU", async (load, cu) => {
  const { double, endpointId } = await createScaled();
  await recordActivity(double, endpointId, { load, duration_ms: 7_200_000 });
  expect(await sizeOf(double, endpointId)).toBe(0.5);
  await double.advance("1h");
  expect(await sizeOf(double, endpointId)).toBe(cu);
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
  await recordActivity(double, endpointId, { load: 100, duration_ms: 10_000 });
  await double.advance("5s");
  const grown = await computeStats(double, endpointId);
  expect(grown).toMatchObject({
    current_size_cu: 4,
    ram_gb: 16,
    vcpu: 4,
    max_connections: 225,
    connections: { direct: 2 },
  });
  await double.advance("4m");
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

test("the size falls step by step after the load has ended, not at once", async () => {
  const { double, endpointId } = await createScaled();
  await recordActivity(double, endpointId, { load: 3, duration_ms: 3_600_000 });
  await double.advance("1h");
  const seen: number[] = [];
  for (const by of ["10s", "20s", "30s", "60s", "60s"]) {
    await double.advance(by);
    seen.push(await sizeOf(double, endpointId));
  }
  // From 13.3 steps of 0.25 CU, 2, 6, 12 and 24 readings leave 11.3, 8.1, 4.9 and 1.8.
  expect(seen).toEqual([2.75, 2, 1.25, 0.5, 0.5]);
});

test("concurrent loads add up, each until it ends", async () => {
  const { double, endpointId } = await createScaled();
  await recordActivity(double, endpointId, { load: 1, duration_ms: 3_600_000 });
  await recordActivity(double, endpointId, { load: 1.25, duration_ms: 7_200_000 });
  await double.advance("59m");
  expect(await sizeOf(double, endpointId)).toBe(2.5);
  await double.advance("30m");
  expect(await sizeOf(double, endpointId)).toBe(1.5);
});

test("closing its connection ends the load of a query", async () => {
  const { double, endpointId } = await createScaled();
  const query = { kind: "query", load: 3, duration_ms: 3_600_000 };
  await recordActivity(double, endpointId, { ...query, connection_id: "one" });
  await recordActivity(double, endpointId, { ...query, connection_id: "two" });
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "one" });
  await double.advance("10m");
  expect(await sizeOf(double, endpointId)).toBe(3.25);
  await recordActivity(double, endpointId, { kind: "disconnect", connection_id: "two" });
  await double.advance("4m");
  expect(await sizeOf(double, endpointId)).toBe(0.5);
});

test("activity without a load changes no size", async () => {
  const { double, endpointId } = await createScaled();
  await recordActivity(double, endpointId, { duration_ms: 3_600_000 });
  const { body } = await double.advance("10m");
  expect(body.events).toEqual([]);
  expect(await sizeOf(double, endpointId)).toBe(0.5);
});

test("a compute started by loads starts with its minimum, and they count from the end of the start", async () => {
  const { double, endpointId, path } = await createScaled();
  await suspendCompute(double, path);
  await recordActivity(double, endpointId, { load: 50, duration_ms: 5_001 });
  await double.advance("3s");
  expect(await sizeOf(double, endpointId)).toBe(0.5);
  await double.advance("5s");
  // The first reading within 5 s sees it: 4 of 50 × 0.08.
  expect(await sizeOf(double, endpointId)).toBe(4);
});

test("the load of a minutely job is the same at any phase of the minute", async () => {
  const cuHours = [];
  for (let phaseMs = 0; phaseMs < 5_000; phaseMs += 625) {
    const { double, projectId, endpointId } = await createScaled({
      autoscaling_limit_min_cu: 0.25,
      autoscaling_limit_max_cu: 8,
    });
    const { now } = (await double.sim("GET", "/clock")).body;
    const runs = Array.from({ length: 720 }, (_, minute) => ({
      endpoint_id: endpointId,
      kind: "query",
      at: new Date(Date.parse(now) + minute * 60_000 + phaseMs).toISOString(),
      duration_ms: 2_000,
      load: 16,
    }));
    expect((await double.sim("POST", "/activity", runs)).status).toBe(200);
    await double.advance("12h");
    const { usage } = (await double.sim("GET", "/state")).body;
    cuHours.push((usage.find(({ id }) => id === projectId)?.cu_ms ?? 0) / 3_600_000);
    await double.close();
  }
  const mean = cuHours.reduce((sum, own) => sum + own, 0) / cuHours.length;
  // With readings at every whole 5 s, it was 3 or 17 CU-hours.
  for (const own of cuHours) expect(Math.abs(own / mean - 1)).toBeLessThan(0.1);
});

test("a restart clears the load", async () => {
  const { double, endpointId, path } = await createScaled();
  await recordActivity(double, endpointId, { load: 3, duration_ms: 3_600_000 });
  await double.api("POST", `${path}/restart`);
  await double.advance("10s");
  expect(await sizeOf(double, endpointId)).toBe(0.5);
});

test("a fixed size does not scale, and has no events of its own", async () => {
  const { double, endpointId } = await createScaled({
    autoscaling_limit_min_cu: 2,
    autoscaling_limit_max_cu: 2,
  });
  await recordActivity(double, endpointId, { load: 100, duration_ms: 60_000 });
  const { body } = await double.advance("1m");
  expect(body.events).toEqual([]);
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
  // The load changes no size, so its readings were not processed since.
  await recordActivity(double, endpointId, { load: 0.2, duration_ms: 30_000 });
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
    (await double.api("GET", "/projects")).body.projects.find((project) => project.id === projectId)
      .cpu_used_sec;
  // Active since 6 s before. Two of the readings follow within 10 s, at least one of which sees the load.
  expect(await used()).toBe(3);
  await recordActivity(double, endpointId, { load: 1_000, duration_ms: 10_000 });
  await double.advance("64s");
  const [resized, ...more] = (await journalOf(double)).filter(({ type }) => type === "ComputeResized");
  expect([resized?.size_cu, more]).toEqual([4, []]);
  const { now } = (await double.sim("GET", "/clock")).body;
  const largeS = (Date.parse(now) - Date.parse(resized?.at ?? "")) / 1_000;
  expect(largeS).toBeGreaterThanOrEqual(54);
  expect(await used()).toBe(3 + Math.floor((64 - largeS) * 0.5 + largeS * 4));
});

test("a reading covered by a higher and longer one is dropped", () => {
  const low = { load: 1, until: 100 };
  const high = { load: 2, until: 200 };
  expect(addReading([high], low, 0)).toEqual([high]);
  expect(addReading([low], high, 0)).toEqual([high]);
  expect(addReading([{ load: 3, until: 50 }], low, 0)).toEqual([{ load: 3, until: 50 }, low]);
  expect(addReading([{ load: 3, until: 50 }], low, 50)).toEqual([low]);
});
