import { expect, test } from "vitest";
import { DAY, WEEK } from "../../../src/kernel/time.ts";
import { releaseAt, releasedAt } from "../../../src/platform/catalog/release.ts";
import {
  computeStats,
  endpointAt,
  recordActivity,
  suspendCompute,
  updateCompute,
} from "../../support/double/compute.ts";
import { createDouble, createProject, START } from "../../support/double/double.ts";

/** The world begins on a Thursday, the day of releases. */
const FIRST = String(releaseAt(START));
const NEXT = String(releaseAt(START) + 1);

test("a release comes out every week, on Thursday at midnight", () => {
  expect(releaseAt(START)).toBe(releaseAt(START + WEEK - 1));
  expect(releaseAt(START + WEEK)).toBe(releaseAt(START) + 1);
  expect(releaseAt(START - 1)).toBe(releaseAt(START) - 1);
  expect(releasedAt(releaseAt(START + DAY))).toBe(START);
  expect(new Date(releasedAt(releaseAt(START))).getUTCDay()).toBe(4);
});

test("a compute runs the release that was the newest when it started", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  expect((await computeStats(double, endpointId)).release).toEqual({
    running: FIRST,
    newest: FIRST,
    newest_since: "2026-01-01T00:00:00.000Z",
    restart_needed: false,
  });
  expect((await endpointAt(double, path)).compute_release_version).toBe(FIRST);
});

test("an always-active compute keeps its release, and stats says so", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await updateCompute(double, path, { suspend_timeout_seconds: -1 });
  await double.sim("POST", "/clock/advance", { to: "2026-01-07T23:59:59.999Z" });
  expect((await computeStats(double, endpointId)).release).toMatchObject({
    running: FIRST,
    newest: FIRST,
    restart_needed: false,
  });
  await double.advance("1ms");
  expect((await computeStats(double, endpointId)).release).toEqual({
    running: FIRST,
    newest: NEXT,
    newest_since: "2026-01-08T00:00:00.000Z",
    restart_needed: true,
  });
  await double.advance("365d");
  expect((await computeStats(double, endpointId)).release).toMatchObject({
    running: FIRST,
    restart_needed: true,
  });
});

test("a restart by hand picks the newest release up", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await updateCompute(double, path, { suspend_timeout_seconds: -1 });
  await double.advance("7d");
  await double.api("POST", `${path}/restart`);
  await double.advance("4s");
  expect((await computeStats(double, endpointId)).release).toMatchObject({
    running: NEXT,
    restart_needed: false,
  });
});

test("a change of the delay or the name picks none up, a change of size does", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await updateCompute(double, path, { suspend_timeout_seconds: -1 });
  await double.advance("7d");
  await recordActivity(double, endpointId);
  await updateCompute(double, path, { suspend_timeout_seconds: 604_800, name: "old" });
  expect((await computeStats(double, endpointId)).release.running).toBe(FIRST);
  await updateCompute(double, path, { autoscaling_limit_max_cu: 2 });
  expect((await computeStats(double, endpointId)).release.running).toBe(NEXT);
});

test("an idle compute gets the new release at its next start, and has none while idle", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await suspendCompute(double, path);
  await double.advance("7d");
  expect((await computeStats(double, endpointId)).release).toMatchObject({
    running: null,
    newest: NEXT,
    restart_needed: false,
  });
  expect(await endpointAt(double, path)).not.toHaveProperty("compute_release_version");
  await recordActivity(double, endpointId);
  await double.advance("3s");
  expect((await computeStats(double, endpointId)).release).toMatchObject({
    running: NEXT,
    restart_needed: false,
  });
});

test("a start across midnight takes the release of its end", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await suspendCompute(double, path);
  await double.sim("POST", "/clock/advance", { to: "2026-01-07T23:59:58.000Z" });
  await recordActivity(double, endpointId);
  await double.advance("3s");
  expect((await computeStats(double, endpointId)).release.running).toBe(NEXT);
});

test("automatic scaling picks none up: it is no restart", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double, {
    autoscaling_limit_min_cu: 0.25,
    autoscaling_limit_max_cu: 4,
  });
  await updateCompute(double, path, { suspend_timeout_seconds: -1 });
  await double.advance("7d");
  await recordActivity(double, endpointId, { load: 300, duration_ms: 10_000 });
  await double.advance("10s");
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_size_cu: 4,
    release: { running: FIRST, restart_needed: true },
  });
});
