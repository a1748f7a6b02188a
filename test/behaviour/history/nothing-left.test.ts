import { readdirSync } from "node:fs";
import BetterSqlite3 from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { memoryStorage } from "../../../src/app/open-worlds.ts";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { TABLE_NAMES } from "../../../src/platform/world/tables.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { createScene, expectSuccess, type Scene } from "../../support/document/contract-scene.ts";
import { API_KEY, createDouble, createProject, type Double } from "../../support/double/double.ts";
import { STORAGE_KINDS, type StorageKind, verify } from "../../support/double/storage-double.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import { SMALL_BLOCKS } from "../../support/store/small-blocks.ts";

/** Storage of either kind, with its directory. It is removed with the test. */
function createStorage(kind: StorageKind) {
  if (kind === "in memory") return { storage: memoryStorage(), path: undefined };
  const directory = temporaryDirectory();
  const storage = new DataDirectory(directory.path, MIGRATIONS_FOLDER, SMALL_BLOCKS);
  onTestFinished(() => {
    storage.release();
    directory.remove();
  });
  return { storage, path: directory.path };
}

/** The number of rows of each table that is not empty. */
async function rowCounts({ world }: Double): Promise<Readonly<Record<string, number>>> {
  return world.transact((transaction) =>
    Object.fromEntries(
      TABLE_NAMES.map((name) => [name, transaction.world[name].size] as const).filter(([, size]) => size > 0),
    ),
  );
}

/** The ids of the stored secrets. */
async function secretIds({ world }: Double): Promise<string[]> {
  return world.transact((transaction) => transaction.world.secrets.toArray().map(({ id }) => id));
}

function filesIn(path: string): string[] {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`);
}

/** The number of stored rows of each table of the default world that is not empty. */
function storedRowCounts(path: string): Readonly<Record<string, number>> {
  const sqlite = new BetterSqlite3(`${path}/worlds/default.sqlite`, { readonly: true });
  const tables = sqlite
    .prepare<[], string>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_\\_%' ESCAPE '\\'",
    )
    .pluck()
    .all();
  const counts = tables.map(
    (name) => [name, sqlite.prepare(`SELECT count(*) FROM ${name}`).pluck().get()] as const,
  );
  sqlite.close();
  return Object.fromEntries(counts.filter(([, count]) => Number(count) > 0)) as Record<string, number>;
}

const compact = ({ sim }: Double, keep: unknown) => expectSuccess(sim("POST", "/compact", { keep }));

/** Deletes every project, every key but the first of each account, and what else the scene created. */
async function deleteScene({ double, ids, organizationKey, others }: Scene): Promise<void> {
  await expectSuccess(double.sim("DELETE", `/api_keys/${ids.key_id}`));
  await expectSuccess(double.sim("DELETE", `/api_keys/${others.ids.key_id}`));
  await expectSuccess(double.api("DELETE", `/organizations/${ids.org_id}/api_keys/${organizationKey.id}`));
  await expectSuccess(
    double.api("DELETE", `/projects/${ids.project_id}/branches/${ids.branch_id}/roles/temporary`),
  );
  for (const { projects, key } of [
    { projects: (await double.api("GET", "/projects")).body.projects, key: API_KEY },
    {
      projects: (await double.api("GET", "/projects", undefined, others.key)).body.projects,
      key: others.key,
    },
  ])
    for (const { id } of projects)
      await expectSuccess(double.api("DELETE", `/projects/${id}`, undefined, key));
}

test.each(STORAGE_KINDS)(
  "%s: of everything that was deleted, nothing is left after the recovery period and a compaction",
  async (kind) => {
    const { storage, path } = createStorage(kind);
    const scene = await createScene({ storage });
    const { double, ids } = scene;
    const branch = `/projects/${ids.project_id}/branches/${ids.branch_id}`;
    await expectSuccess(double.api("POST", `${branch}/roles`, { role: { name: "temporary" } }));
    await double.advance("10s");
    await expectSuccess(
      double.sim("POST", "/activity", [
        { endpoint_id: ids.endpoint_id, kind: "connect", connection_id: "open" },
        { endpoint_id: ids.endpoint_id, at: "2026-05-01T00:00:00Z" },
      ]),
    );
    await double.advance("1h");
    expect((await secretIds(double)).length).toBeGreaterThan(3);
    const open = double.worlds.counts.open;
    const files = path === undefined ? [] : filesIn(path);
    await expectSuccess(double.sim("POST", "/snapshots", { name: "temporary" }));
    await expectSuccess(double.sim("POST", "/worlds", { name: "temporary" }));
    await deleteScene(scene);
    await expectSuccess(double.sim("DELETE", "/snapshots/temporary"));
    await expectSuccess(double.sim("DELETE", "/worlds/temporary"));
    await double.advance("100d");
    await compact(double, 0);
    expect(await secretIds(double)).toEqual([]);
    const counts = await rowCounts(double);
    // The accounts, their first keys, an organization's key, the records of the organizations, and that keys were revoked.
    expect(Object.keys(counts).sort()).toEqual([
      "accounts",
      "apiKeyUses",
      "apiKeys",
      "records",
      "revokedHashes",
    ]);
    expect([counts["accounts"], counts["apiKeys"]]).toEqual([3, 4]);
    expect(double.worlds.counts.open).toBe(open);
    await expectSuccess(double.sim("DELETE", "/requests"));
    await double.close();
    if (path === undefined) return;
    expect(filesIn(path).filter((file) => !files.includes(file))).toEqual([]);
    const { accounts, api_keys, api_key_uses, records, revoked_hashes, ...others } = storedRowCounts(path);
    expect([accounts, api_keys, api_key_uses, records, revoked_hashes]).toEqual([
      counts["accounts"],
      counts["apiKeys"],
      counts["apiKeyUses"],
      counts["records"],
      counts["revokedHashes"],
    ]);
    expect(others).toEqual({ checkpoints: 1, history: 1, world: 1 });
    expect(await verify(`${path}/worlds/default.sqlite`)).toMatchObject({ ok: true, differences: [] });
  },
);

test.each(STORAGE_KINDS)("%s: passwords stay while anything can bring their object back", async (kind) => {
  const double = await createDouble({ storage: createStorage(kind).storage });
  onTestFinished(() => double.close());
  const { projectId, branchId } = await createProject(double);
  const passwordOf = async (name: string, from = double) =>
    (await from.api("GET", `/projects/${projectId}/branches/${branchId}/roles/${name}/reveal_password`)).body
      .password;
  const password = await passwordOf("neondb_owner");
  expect(password).toMatch(/^npg_/);
  await double.api("DELETE", `/projects/${projectId}`);
  await double.advance("6d");
  await compact(double, 0);
  await expectSuccess(double.api("POST", `/projects/${projectId}/recover`));
  await double.advance("10s");
  expect(await passwordOf("neondb_owner")).toBe(password);
  const { seq } = (await double.sim("GET", "/health")).body.history;
  await double.api("DELETE", `/projects/${projectId}`);
  await double.advance("8d");
  // The retained history begins when the project existed, so a fork contains it.
  await compact(double, "9d");
  expect(await secretIds(double)).not.toEqual([]);
  await expectSuccess(double.sim("POST", "/worlds", { name: "past", at: seq }));
  await compact(double, "1h");
  expect(await secretIds(double)).toEqual([]);
});

test.each(STORAGE_KINDS)(
  "%s: passwords of before a reset are deleted when the reset is no longer in history",
  async (kind) => {
    const double = await createDouble({ storage: createStorage(kind).storage });
    onTestFinished(() => double.close());
    for (let count = 0; count < 3; count += 1) await createProject(double);
    await double.advance("1h");
    await expectSuccess(double.sim("POST", "/reset"));
    await createProject(double);
    const before = await secretIds(double);
    expect(before).toHaveLength(3);
    await compact(double, "30m");
    expect(await secretIds(double)).toEqual(before);
    await double.advance("1h");
    await compact(double, "30m");
    expect(await secretIds(double)).toEqual(["role-1"]);
  },
);
