import { expect, test } from "vitest";
import { journalOf } from "../support/double/call-log.ts";
import { createDouble, createProject, type Double } from "../support/double/double.ts";
import { openReleaseWorld } from "../support/double/release-world.ts";

const settingsOf = async (double: Double) => (await double.sim("GET", "/state")).body.world;
const changesOfDurations = async (double: Double) =>
  (await journalOf(double)).filter(
    ({ type, changes }) => type === "WorldConfigured" && changes.durations !== undefined,
  );

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
    const { stored, double, key } = await openReleaseWorld("0.4.0", durations);
    expect(await settingsOf(double)).not.toHaveProperty("durations");
    expect(await changesOfDurations(double)).toEqual([]);
    expect(await durationsOfNewProject(double, key)).toEqual([1_000, 3_000]);
    for (const { differences } of await stored.verify("default")) expect(differences).toEqual([]);
  },
);

test("a world of release 0.4.0 has varied durations from the start on that says so", async () => {
  const { stored, double, key } = await openReleaseWorld("0.4.0", "varied");
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
