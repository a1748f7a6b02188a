import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { journalOf } from "../support/double/call-log.ts";
import { createProject, type Double } from "../support/double/double.ts";
import { createStorageDouble, openStorageDouble } from "../support/double/storage-double.ts";
import { worldStateText } from "../support/model/recorded-run.ts";
import { temporaryDirectory } from "../support/process/process.ts";

const FIXTURE = join(import.meta.dirname, "fixtures/0.2.0/world.sqlite");
const AS_IT_IS = { apiKey: undefined, seed: undefined, startAt: undefined, clock: undefined };

async function openFormer() {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  mkdirSync(`${path}/worlds`);
  copyFileSync(FIXTURE, `${path}/worlds/default.sqlite`);
  const shelved = await openStorageDouble(path, AS_IT_IS);
  onTestFinished(shelved.end);
  return shelved;
}

const switches = async (double: Double) =>
  (await journalOf(double)).filter(
    ({ type, changes }) => type === "WorldConfigured" && changes.hourly_usage === true,
  );

test("a world of a release without hourly usage starts to record it once, with its first new event", async () => {
  const shelved = await openFormer();
  const double = shelved.double();
  await double.sim("PUT", "/clock", { mode: "manual" });
  await double.sim("GET", "/state");
  expect(await switches(double)).toEqual([]);
  const { key } = (await double.sim("POST", "/api_keys", { key_name: "mine" })).body;
  expect(await switches(double)).toHaveLength(1);
  const { path, projectId } = await createProject(double, {}, key);
  await double.advance("3h");
  await double.api("POST", `${path}/start`, undefined, key);
  await double.advance("3h");
  await shelved.reopen();
  await shelved.double().sim("PUT", "/clock", { mode: "manual" });
  await shelved.double().sim("POST", "/accounts", { name: "later" });
  expect(await switches(shelved.double())).toHaveLength(1);
  const rows = JSON.parse(await worldStateText(shelved.double())).hourly_usage.filter(
    ({ of }: { of: string }) => of === projectId,
  );
  expect(rows).toHaveLength(1);
  for (const { differences } of await shelved.verify("default")) expect(differences).toEqual([]);
});

test("hourly usage starts before due work when that comes first", async () => {
  const shelved = await openFormer();
  const double = shelved.double();
  await double.sim("PUT", "/clock", { mode: "manual" });
  if ((await double.sim("GET", "/clock")).body.next_due === null) return;
  expect((await double.sim("POST", "/clock/advance", { next: true })).status).toBe(200);
  expect(await switches(double)).toHaveLength(1);
  for (const { differences } of await shelved.verify("default")) expect(differences).toEqual([]);
});

test("hourly usage is the same in memory, in the file, in a fork and in a replay", async () => {
  const shelved = await createStorageDouble("in files");
  onTestFinished(shelved.end);
  const { path, projectId } = await createProject(shelved.double(), {
    settings: { quota: { active_time_seconds: 36_000 } },
  });
  for (let day = 0; day < 12; day += 1) {
    await shelved.double().api("POST", `${path}/start`);
    await shelved.double().advance("90m");
    await shelved
      .double()
      .sim("POST", "/activity", { endpoint_id: path.split("/").at(-1), duration_ms: 4_000_000 });
    await shelved.double().advance("22h");
  }
  const state = await worldStateText(shelved.double());
  expect(JSON.parse(state).hourly_usage.some(({ of }: { of: string }) => of === `${projectId}#day`)).toBe(
    true,
  );
  await shelved.reopen();
  expect(await worldStateText(shelved.double())).toBe(state);
  const { seq } = shelved.double().world.history();
  expect(
    (await shelved.double().sim("POST", "/worlds", { name: "same", at: seq, clock: "manual" })).status,
  ).toBe(201);
  expect(JSON.parse(await worldStateText(shelved.world("same"))).hourly_usage).toEqual(
    JSON.parse(state).hourly_usage,
  );
  expect(await worldStateText(shelved.double(), seq)).toBe(state);
  for (const { differences } of await shelved.verify("default", "same")) expect(differences).toEqual([]);
});
