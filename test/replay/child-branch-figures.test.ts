import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { journalOf } from "../support/double/call-log.ts";
import { createProject, type Double } from "../support/double/double.ts";
import { createTestDouble } from "../support/double/history-requests.ts";
import { openStorageDouble } from "../support/double/storage-double.ts";
import { temporaryDirectory } from "../support/process/process.ts";

const FORMER_WORLD = join(import.meta.dirname, "fixtures/0.2.0/world.sqlite");
const AS_IT_IS = { apiKey: undefined, seed: undefined, startAt: undefined, clock: undefined };

test("child branches are counted by the hour, until they are deleted, in memory as in a replay", async () => {
  const stored = await createTestDouble("in files", { operations: "immediate" });
  let double = stored.double();
  const { projectId, branchId } = await createProject(double);
  await advanceTo(double, "01T01:30");
  const first = await createChild(double, projectId, branchId);
  await advanceTo(double, "01T03:00");
  const second = await createChild(double, projectId, first);
  await advanceTo(double, "01T05:00");
  // The root is none of them. 1.5 branch-hours are reported as the nearest whole number of the timeframe.
  expect(await branchHours(double, "hourly", "01-01T05:00")).toEqual([0, 1, 1, 2, 2]);

  await double.api("DELETE", `/projects/${projectId}/branches/${second}`);
  await advanceTo(double, "01T06:00");
  await stored.reopen();
  double = stored.double();
  expect(await branchHours(double, "hourly", "01-01T06:00")).toEqual([0, 1, 1, 2, 2, 1]);
  await double.api("POST", `/projects/${projectId}/branches/${second}/recover`);
  await advanceTo(double, "02T00:00");
  // 1.5 h of one branch, 2 h of two, 1 h of one, 18 h of two.
  expect(await branchHours(double, "daily", "01-02T00:00")).toEqual([Math.round(1.5 + 4 + 1 + 36)]);

  await double.api("DELETE", `/projects/${projectId}`);
  await advanceTo(double, "02T12:00");
  await double.api("POST", `/projects/${projectId}/recover`);
  await advanceTo(double, "03T00:00");
  expect(await branchHours(double, "daily", "01-03T00:00")).toEqual([43, 24]);
  expect(await stored.verify("default")).toMatchObject([{ ok: true, differences: [] }]);
  expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
});

test("the hours of a branch stay with its project after the branch is removed for good", async () => {
  const stored = await createTestDouble("in files", { operations: "immediate" });
  const double = stored.double();
  const { projectId, branchId } = await createProject(double);
  const child = await createChild(double, projectId, branchId);
  await double.advance("24h");
  await double.api("DELETE", `/projects/${projectId}/branches/${child}`);
  await double.advance("10d");
  expect((await double.api("GET", `/projects/${projectId}/branches/${child}`)).status).toBe(404);
  expect(await branchHours(double, "daily", "01-12T00:00")).toEqual([24, ...Array(10).fill(0)]);
  expect(await branchHours(double, "monthly", "02-01T00:00")).toEqual([24]);
  expect(await stored.verify("default")).toMatchObject([{ ok: true, differences: [] }]);
});

test("a world of an earlier release counts child branches from its first new event on", async () => {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  mkdirSync(`${path}/worlds`);
  copyFileSync(FORMER_WORLD, `${path}/worlds/default.sqlite`);
  const stored = await openStorageDouble(path, AS_IT_IS);
  onTestFinished(stored.end);
  const double = stored.double();
  await double.sim("PUT", "/clock", { mode: "manual" });
  const before = (await double.sim("GET", "/state")).body;
  expect(before.usage.filter(({ data }) => data !== undefined)).toEqual([]);
  await double.sim("POST", "/accounts", { name: "later" });
  const begun = (await journalOf(double)).find(({ changes }) => changes?.child_branch_use === true);
  expect(begun).toMatchObject({ type: "WorldConfigured" });
  const parents = new Set(
    before.branches
      .filter(({ parent_id, deleted_at }) => parent_id !== undefined && deleted_at === undefined)
      .map(({ project_id }) => project_id),
  );
  expect(parents.size).toBeGreaterThan(0);
  const { usage } = (await double.sim("GET", "/state")).body;
  const counted = usage.filter(({ data }) => data?.children !== undefined).map(({ id }) => id);
  expect(counted.sort()).toEqual([...parents].sort());
  for (const { differences } of await stored.verify("default")) expect(differences).toEqual([]);
});

async function createChild(double: Double, projectId: string, parent_id: string): Promise<string> {
  const { body, status } = await double.api("POST", `/projects/${projectId}/branches`, {
    branch: { parent_id },
  });
  expect(status).toBe(201);
  return body.branch.id;
}

async function advanceTo(double: Double, time: string): Promise<void> {
  expect((await double.sim("POST", "/clock/advance", { to: `2026-01-${time}:00Z` })).status).toBe(200);
}

/** The branch-hours of the only project, by timeframe. */
async function branchHours(double: Double, granularity: string, to: string): Promise<number[]> {
  const { body: of } = await double.api("GET", "/users/me/organizations");
  const window = `from=2026-01-01T00:00:00Z&to=2026-${to}:00Z&granularity=${granularity}`;
  const { body } = await double.api(
    "GET",
    `/consumption_history/v2/projects?org_id=${of.organizations[0].id}&${window}&metrics=extra_branches_month`,
  );
  return body.projects[0].periods
    .flatMap(({ consumption }) => consumption)
    .map(({ metrics }) => metrics[0].value);
}
