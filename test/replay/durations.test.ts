import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { journalOf } from "../support/double/call-log.ts";
import { createDouble, createProject, type Double } from "../support/double/double.ts";
import { openStorageDouble } from "../support/double/storage-double.ts";
import { temporaryDirectory } from "../support/process/process.ts";

const FIXTURE = join(import.meta.dirname, "fixtures/0.4.0/world.sqlite");
const AS_IT_IS = { apiKey: undefined, seed: undefined, startAt: undefined, clock: undefined };

const settingsOf = async (double: Double) => (await double.sim("GET", "/state")).body.world;
const changesOfDurations = async (double: Double) =>
  (await journalOf(double)).filter(
    ({ type, changes }) => type === "WorldConfigured" && changes.durations !== undefined,
  );

async function openFixture(durations: "constant" | "varied" | undefined) {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  mkdirSync(`${path}/worlds`);
  copyFileSync(FIXTURE, `${path}/worlds/default.sqlite`);
  const stored = await openStorageDouble(path, { ...AS_IT_IS, operations: "timed", durations });
  onTestFinished(stored.end);
  const double = stored.double();
  await double.sim("PUT", "/clock", { mode: "manual" });
  const { key } = (await double.sim("POST", "/api_keys", { key_name: "mine" })).body;
  return { stored, double, key };
}

/** How long each operation of a new project takes. */
async function durationsOfNewProject(double: Double, key?: string): Promise<number[]> {
  const before = (await journalOf(double)).length;
  await createProject(double, {}, key);
  return (await journalOf(double))
    .slice(before)
    .flatMap(({ type, operation }) => (type === "OperationScheduled" ? [operation.duration_ms] : []));
}

test.each([undefined, "constant"] as const)(
  "a world of release 0.4.0 keeps constant durations when it is opened with durations %s",
  async (durations) => {
    const { stored, double, key } = await openFixture(durations);
    expect(await settingsOf(double)).not.toHaveProperty("durations");
    expect(await changesOfDurations(double)).toEqual([]);
    expect(await durationsOfNewProject(double, key)).toEqual([1_000, 3_000]);
    for (const { differences } of await stored.verify("default")) expect(differences).toEqual([]);
  },
);

test("a world of release 0.4.0 has varied durations from the start on that says so", async () => {
  const { stored, double, key } = await openFixture("varied");
  expect(await settingsOf(double)).toMatchObject({ durations: "varied" });
  expect(await changesOfDurations(double)).toHaveLength(1);
  const [timeline, start] = await durationsOfNewProject(double, key);
  for (const ms of [timeline, start]) {
    expect(ms).toBeGreaterThan(0);
    expect([1_000, 3_000]).not.toContain(ms);
  }
  await stored.reopen();
  expect(await changesOfDurations(stored.double())).toHaveLength(1);
  for (const { differences } of await stored.verify("default")) expect(differences).toEqual([]);
});

test("a new world has varied durations unless it is created with others", async () => {
  expect(await settingsOf(await createDouble({ durations: undefined }))).toMatchObject({
    durations: "varied",
  });
  const constant = await createDouble({ durations: "constant" });
  expect(await settingsOf(constant)).toMatchObject({ durations: "constant" });
  expect(await durationsOfNewProject(constant)).toEqual([1_000, 3_000]);
});

test("a start delay also replaces the distribution of starts, and no other", async () => {
  const double = await createDouble({ durations: "varied", startDelay: { kind: "fixed", ms: 2_500 } });
  const [timeline, start] = await durationsOfNewProject(double);
  expect(start).toBe(2_500);
  expect(timeline).not.toBe(1_000);
});
