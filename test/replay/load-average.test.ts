import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../src/store/file/sqlite-connection.ts";
import { JOURNAL_VERSION } from "../../src/store/tables/format-version.ts";
import { journalOf } from "../support/double/call-log.ts";
import { computeStats, recordActivity } from "../support/double/compute.ts";
import { createProject, type Double } from "../support/double/double.ts";
import { createStorageDouble, openStorageDouble } from "../support/double/storage-double.ts";
import { temporaryDirectory } from "../support/process/process.ts";

const FIXTURE = join(import.meta.dirname, "fixtures/0.4.0/world.sqlite");
const AS_IT_IS = { apiKey: undefined, seed: undefined, startAt: undefined, clock: undefined };
const SCALED = { autoscaling_limit_min_cu: 0.5, autoscaling_limit_max_cu: 4 };

const switches = async (double: Double) =>
  (await journalOf(double)).filter(
    ({ type, changes }) => type === "WorldConfigured" && changes.load_average === true,
  );

test("a world of release 0.4.0 scales by load averages from its first new event on, and older releases reject it", async () => {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  mkdirSync(`${path}/worlds`);
  copyFileSync(FIXTURE, `${path}/worlds/default.sqlite`);
  const shelved = await openStorageDouble(path, AS_IT_IS);
  onTestFinished(shelved.end);
  const double = shelved.double();
  await double.sim("PUT", "/clock", { mode: "manual" });
  const { key } = (await double.sim("POST", "/api_keys", { key_name: "mine" })).body;
  expect(await switches(double)).toHaveLength(1);
  const { endpointId } = await createProject(double, SCALED, key);
  await recordActivity(double, endpointId, { load: 3, duration_ms: 3_600_000 });
  expect(await computeStats(double, endpointId)).toMatchObject({ current_size_cu: 0.5 });
  await double.advance("30m");
  expect(await computeStats(double, endpointId)).toMatchObject({ current_size_cu: 3.25 });
  await shelved.reopen();
  expect(await switches(shelved.double())).toHaveLength(1);
  for (const { differences } of await shelved.verify("default")) expect(differences).toEqual([]);
  const sqlite = connect(`${path}/worlds/default.sqlite`);
  expect(sqlite.prepare("SELECT journal_version FROM history").pluck().get()).toBe(JOURNAL_VERSION);
  sqlite.close();
});

test("a compute that scales is the same after a reopening, in its tables and in a replay", async () => {
  const shelved = await createStorageDouble("in files");
  onTestFinished(shelved.end);
  const { endpointId, path } = await createProject(shelved.double(), SCALED);
  const query = { kind: "query", load: 1.8, duration_ms: 600_000 };
  await recordActivity(shelved.double(), endpointId, query);
  await shelved.double().advance("47s");
  await shelved.reopen();
  for (const { differences } of await shelved.verify("default")) expect(differences).toEqual([]);
  await recordActivity(shelved.double(), endpointId, { ...query, connection_id: "named" });
  await shelved.double().advance("61s");
  await shelved.reopen();
  await recordActivity(shelved.double(), endpointId, { kind: "disconnect", connection_id: "named" });
  // Loads that wait for a start are part of the state, too.
  await shelved.double().api("POST", `${path}/restart`);
  await recordActivity(shelved.double(), endpointId, { ...query, connection_id: "waits" });
  await shelved.reopen();
  for (const { differences } of await shelved.verify("default")) expect(differences).toEqual([]);
  await shelved.double().advance("5m");
  expect(await computeStats(shelved.double(), endpointId)).toMatchObject({ current_size_cu: 2 });
  for (const { differences } of await shelved.verify("default")) expect(differences).toEqual([]);
});
