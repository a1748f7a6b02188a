import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Client } from "pg";
import { expect, test } from "vitest";
import { PROFILES } from "../../src/platform/catalog/defaults-and-limits.ts";
import { findInstallations } from "../../src/postgres/installations/installation.ts";
import { engineUser } from "../../src/postgres/machine/os-user.ts";
import { connect, createBranch, letSuspend, serverForTests, stateOf } from "../support/postgres/postgres.ts";

const server = await serverForTests(["--operations", "immediate", "--clock", "manual"]);

type Replica = { readonly id: string; readonly path: string; readonly uri: string };

async function addReplica(
  { projectId, branchId }: { readonly projectId: string; readonly branchId: string },
  settings: Record<string, unknown> = {},
): Promise<Replica> {
  const { status, body } = await server.api("POST", `/projects/${projectId}/endpoints`, {
    endpoint: { branch_id: branchId, type: "read_only", ...settings },
  });
  expect(status, JSON.stringify(body)).toBe(201);
  const { id } = body.endpoint;
  const query = `endpoint_id=${id}&database_name=neondb&role_name=neondb_owner`;
  const uri = (await server.api("GET", `/projects/${projectId}/connection_uri?${query}`)).body.uri;
  return { id, path: `/projects/${projectId}/endpoints/${id}`, uri };
}

async function namesOf(client: Client): Promise<string[]> {
  return (await client.query("select name from names order by name")).rows.map(({ name }) => name);
}

/** The directories with data of a replica. */
function copiesOf({ id }: Replica): string[] {
  return readdirSync(join(server.data, "volumes"), { recursive: true, encoding: "utf8" }).filter((path) =>
    basename(path).startsWith(id),
  );
}

/** Reads until the rows of the primary have arrived. */
async function untilNames(client: Client, expected: readonly string[]): Promise<void> {
  await expect.poll(() => namesOf(client), { timeout: 20_000 }).toEqual(expected);
}

async function errorOf(client: Client, sql: string): Promise<string | undefined> {
  return client.query(sql).then(
    () => undefined,
    (error) => error.code,
  );
}

test("a replica reads what the primary has written, with a visible lag, and writes nothing", async () => {
  const branch = await createBranch(server);
  const primary = await connect(branch.uri);
  await primary.query("create table names (name text); insert into names values ('a')");
  const { id, uri } = await addReplica(branch);
  const replica = await connect(uri);
  expect(await namesOf(replica)).toEqual(["a"]);
  expect((await replica.query("select pg_is_in_recovery() as standby")).rows).toEqual([{ standby: true }]);
  expect(await errorOf(replica, "insert into names values ('lost')")).toBe("25006");
  expect(await errorOf(replica, "create table other (id int)")).toBe("25006");
  expect(await errorOf(replica, "set transaction_read_only = off")).toBe("0A000");
  expect(
    await errorOf(replica, "set default_transaction_read_only = off; insert into names values ('lost')"),
  ).toBe("25006");
  await primary.query("insert into names values ('b')");
  await untilNames(replica, ["a", "b"]);
  const { rows } = await replica.query("select pg_last_wal_replay_lsn() is not null as is_replaying");
  expect(rows).toEqual([{ is_replaying: true }]);
  const followers = await primary.query(
    "select application_name as name, state from pg_stat_replication where application_name like 'ep-%'",
  );
  expect(followers.rows).toEqual([{ name: id, state: "streaming" }]);
});

test("a replica starts and suspends on its own", async () => {
  const branch = await createBranch(server);
  const primary = await connect(branch.uri);
  await primary.query("create table names (name text); insert into names values ('a')");
  await primary.end();
  const replica = await addReplica(branch);
  await letSuspend(server, branch);
  const reader = await connect(replica.uri);
  expect(await namesOf(reader)).toEqual(["a"]);
  expect([await stateOf(server, branch), await stateOf(server, replica)]).toEqual(["idle", "active"]);

  const writer = await connect(branch.uri);
  await writer.query("insert into names values ('b')");
  await untilNames(reader, ["a", "b"]);
  await letSuspend(server, replica);
  await expect(reader.query("select 1")).rejects.toThrow();
  await expect.poll(() => copiesOf(replica)).toEqual([]);
  expect(await namesOf(await connect(replica.uri))).toEqual(["a", "b"]);
  expect(copiesOf(replica)).toHaveLength(1);
});

test("a replica of a branch without a primary compute has its rows", async () => {
  const branch = await createBranch(server);
  const primary = await connect(branch.uri);
  await primary.query("create table names (name text); insert into names values ('a')");
  const { body } = await server.api("POST", `/projects/${branch.projectId}/branches`, {
    branch: { parent_id: branch.branchId },
    endpoints: [{ type: "read_only" }, { type: "read_only" }],
  });
  const uris = body.endpoints.map(({ host }: { host: string }) =>
    body.connection_uris[0].connection_uri.replace(/endpoint%3D[^&]*/, `endpoint%3D${host.split(".")[0]}`),
  );
  for (const uri of uris) expect(await namesOf(await connect(uri))).toEqual(["a"]);
});

test("a replica accepts a role that the API created while the primary was idle", async () => {
  const branch = await createBranch(server);
  const replica = await addReplica(branch, { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 });
  const owner = await connect(replica.uri);
  const roles = `/projects/${branch.projectId}/branches/${branch.branchId}/roles`;
  const { body } = await server.api("POST", roles, { role: { name: "reader" } });
  const uri = new URL(replica.uri);
  uri.username = "reader";
  uri.password = body.role.password;
  const reader = await connect(uri.href);
  expect((await reader.query("select current_user as name")).rows).toEqual([{ name: "reader" }]);
  expect((await owner.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test("a restore of the branch ends the connections of its replicas, which then have the other rows", async () => {
  const branch = await createBranch(server);
  const primary = await connect(branch.uri);
  await primary.query("create table names (name text); insert into names values ('a')");
  await server.sim("POST", "/clock/advance", { by: "1m" });
  const then = (await server.sim("GET", "/clock")).body.now;
  await server.sim("POST", "/clock/advance", { by: "1m" });
  await primary.query("insert into names values ('b')");
  const replica = await addReplica(branch);
  const reader = await connect(replica.uri);
  expect(await namesOf(reader)).toEqual(["a", "b"]);
  const path = `/projects/${branch.projectId}/branches/${branch.branchId}/restore`;
  const restored = await server.api("POST", path, {
    source_branch_id: branch.branchId,
    source_timestamp: then,
    preserve_under_name: "before",
  });
  expect(restored.status).toBe(200);
  await expect(reader.query("select 1")).rejects.toThrow();
  expect(await namesOf(await connect(replica.uri))).toEqual(["a"]);
});

async function settingOf(client: Client, name: string): Promise<string> {
  const [row] = (await client.query(`show ${name}`)).rows;
  return row[name];
}

/** Those that a project of profile 2024 can have. */
const VERSIONS = (await findInstallations(undefined, engineUser()))
  .map(({ version }) => version)
  .filter((version) => version <= PROFILES["2024"].pgVersions.highest);

test.each(VERSIONS)(
  "on Postgres %i, max_connections of a replica is that of its own size, smaller or larger than that of its primary",
  async (pg_version) => {
    const branch = await createBranch(server, { pg_version });
    const resize = (cu: number) =>
      server.api("PATCH", branch.path, {
        endpoint: { autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu },
      });
    expect((await resize(1)).status).toBe(200);
    const primary = await connect(branch.uri);
    await primary.query("create table names (name text); insert into names values ('a')");
    expect(await settingOf(primary, "max_connections")).toBe("450");
    expect(await settingOf(primary, "shared_buffers")).toBe("128MB");
    const small = await addReplica(branch);
    const large = await addReplica(branch, { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 });
    for (const [replica, connections] of [
      [small, "112"],
      [large, "901"],
    ] as const) {
      const client = await connect(replica.uri);
      expect(await namesOf(client)).toEqual(["a"]);
      expect(await settingOf(client, "max_connections")).toBe(connections);
      expect(await settingOf(client, "shared_buffers")).toBe("128MB");
    }
  },
);

test("a replica goes on when its primary gets another size", async () => {
  const branch = await createBranch(server);
  await (await connect(branch.uri)).query("create table names (name text)");
  const { uri } = await addReplica(branch);
  const before = await connect(uri);
  const ended = new Promise((resolve) => before.once("end", resolve));
  await server.api("PATCH", branch.path, {
    endpoint: { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 },
  });
  const primary = await connect(branch.uri);
  await primary.query("insert into names values ('a')");
  expect(await settingOf(primary, "max_connections")).toBe("901");
  // Its sessions end, because its Postgres cannot replay the log of a primary with more connections.
  await ended;
  const replica = await connect(uri);
  expect(await namesOf(replica)).toEqual(["a"]);
  expect(await settingOf(replica, "max_connections")).toBe("112");
  await primary.query("insert into names values ('b')");
  await untilNames(replica, ["a", "b"]);
});
