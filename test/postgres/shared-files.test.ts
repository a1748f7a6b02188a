import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import {
  connect,
  createBranch,
  letSuspend,
  type PostgresServer,
  runningPostgres,
  startPostgresServer,
} from "../support/postgres/postgres.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { serverClient } from "../support/server/running-server.ts";

/** Of the cluster that all volumes begin with. */
function templateOf(data: string): string {
  const templates = join(data, "volumes", "templates");
  const [name = ""] = readdirSync(templates).filter((entry) => /^\d+-\d+-platform$/.test(entry));
  return join(templates, name);
}

function filesOf(cluster: string): string[] {
  return readdirSync(cluster, { recursive: true, encoding: "utf8" })
    .filter((name) => lstatSync(join(cluster, name)).isFile())
    .sort();
}

function hashesOf(cluster: string): Record<string, string> {
  const hash = (name: string) =>
    createHash("sha256")
      .update(readFileSync(join(cluster, name)))
      .digest("hex");
  return Object.fromEntries(filesOf(cluster).map((name) => [name, hash(name)]));
}

/** The files that a cluster has in common with the template, by their database. */
function sharedWith(template: string, cluster: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of filesOf(template)) {
    const [one, other] = [join(template, name), join(cluster, name)].map((path) =>
      lstatSync(path, { throwIfNoEntry: false }),
    );
    if (one === undefined || other?.ino !== one.ino) continue;
    const database = name.split("/").slice(0, 2).join("/");
    counts[database] = (counts[database] ?? 0) + 1;
  }
  return counts;
}

function clusterOf(server: PostgresServer, branchId: string): string {
  const root = join(server.data, "volumes");
  const [path] = readdirSync(root)
    .filter((name) => name !== "templates" && name !== "extension")
    .flatMap((history) => readdirSync(join(root, history)).map((name) => join(root, history, name)))
    .filter((name) => name.includes(branchId));
  return join(path ?? "", "data");
}

function inDatabase(uri: string, database: string): string {
  const url = new URL(uri);
  url.pathname = `/${database}`;
  return url.href;
}

const OF_OWN_DATABASE = [
  "create table kept (id int primary key, content text)",
  "insert into kept select n, repeat('x', 100) from generate_series(1, 2000) n",
  "create function twice(n int) returns int language sql as 'select n * 2'",
  "comment on function twice(int) is 'a description'",
  "create view doubled as select twice(id) from kept",
  "create unlogged table lost (id int)",
  "delete from kept where id > 1000",
  "vacuum (freeze, analyze)",
  "vacuum full",
  "vacuum (freeze, full) pg_catalog.pg_proc",
  "analyze",
  "create database copied",
  "create database from_log template template1 strategy wal_log",
  "create database from_files template template0 strategy file_copy",
  "create database from_template0 template template0 strategy wal_log",
  "alter database copied rename to renamed",
  "drop database from_log",
  "checkpoint",
];

/** What a role without ownership can write in the database of the superuser. */
const OF_POSTGRES = [
  "create function pg_temp.twice(n int) returns int language sql as 'select n * 2'",
  "comment on function pg_temp.twice(int) is 'a description'",
  "create temp table numbers as select n from generate_series(1, 1000) n",
  "create temp view doubled as select pg_temp.twice(n) from numbers",
  "create operator pg_temp.@@@ (procedure = pg_temp.twice, rightarg = int)",
  "create temp table other (id int default pg_temp.twice(1))",
  "select lo_create(0)",
  "vacuum (freeze, analyze)",
];

/** Statements that need other rights are rejected, which must not write, either. */
async function execute(uri: string, statements: readonly string[]): Promise<string[]> {
  const client = await connect(uri);
  const rejected: string[] = [];
  for (const statement of statements) await client.query(statement).catch(() => rejected.push(statement));
  await client.end();
  return rejected;
}

test("no process writes to the files that branches share, whatever their clients do", async () => {
  const directory = temporaryDirectory();
  onTestFinished(() => directory.remove());
  const options = ["--clock", "manual", "--operations", "immediate"];
  let server = await startPostgresServer(options, directory.path);
  const branch = await createBranch(server, { history_retention_seconds: 3_600 });
  const { ready } = server;
  await execute(branch.uri, ["select 1"]);
  const template = templateOf(server.data);
  const before = hashesOf(template);
  const shared = sharedWith(template, clusterOf(server, branch.branchId));
  expect(Object.keys(shared)).toEqual(["base/1", "base/4", "base/5"]);
  expect(shared["base/1"]).toBeGreaterThan(200);
  expect(shared["base/5"]).toBeGreaterThan(40);

  expect(await execute(branch.uri, OF_OWN_DATABASE)).toEqual(["checkpoint"]);
  const first = await createChild(server, branch);
  await execute(first.uri, ["select twice(1)"]);
  const replica = await server.api("POST", `/projects/${branch.projectId}/endpoints`, {
    endpoint: { type: "read_only", branch_id: branch.branchId },
  });
  const replicaUri = branch.uri.replace(
    encodeURIComponent(branch.path.split("/").at(-1) ?? ""),
    replica.body.endpoint.id,
  );
  expect(replicaUri).not.toBe(branch.uri);
  await execute(replicaUri, ["select * from kept"]);

  expect(await execute(inDatabase(branch.uri, "postgres"), OF_POSTGRES)).toEqual([]);
  expect(sharedWith(template, clusterOf(server, branch.branchId))).toEqual({
    "base/1": shared["base/1"],
    "base/4": shared["base/4"],
  });
  await execute(inDatabase(replicaUri, "postgres"), ["select count(*) from pg_proc"]);
  const pooled = inDatabase(first.uri.replace(/ep-[a-z]+-[a-z]+-[a-z0-9]+/, "$&-pooler"), "postgres");
  await execute(pooled, OF_POSTGRES);
  const second = await createChild(server, branch);
  await execute(second.uri, ["select twice(1)"]);
  expect(sharedWith(template, clusterOf(server, second.branchId))).toEqual({
    "base/1": shared["base/1"],
    "base/4": shared["base/4"],
  });
  await execute(inDatabase(second.uri, "postgres"), OF_POSTGRES);
  const schemaOnly = await createChild(server, branch, { init_source: "schema-only" });
  await execute(schemaOnly.uri, ["select twice(1)"]);
  await execute(inDatabase(schemaOnly.uri, "postgres"), OF_POSTGRES);
  expect(hashesOf(template)).toEqual(before);

  // Postgres recovers, and replays the log.
  const reader = await connect(branch.uri);
  await reader.query("insert into kept values (5000, 'last')");
  await server.kill("SIGKILL");
  server = await startPostgresServer(options, directory.path);
  onTestFinished(() => server.end());
  const { pgPort } = server;
  const again = (uri: string) => {
    const url = new URL(uri);
    url.port = String(pgPort);
    return url.href;
  };
  expect(await execute(again(branch.uri), ["select * from kept", "vacuum (freeze)"])).toEqual([]);
  await execute(inDatabase(again(branch.uri), "postgres"), OF_POSTGRES);
  const client = serverClient(server.ready, ready.api_key);
  await letSuspend({ ...server, ...client }, branch);
  const rows = await (await connect(again(branch.uri))).query("select count(*) from kept");
  expect(rows.rows).toEqual([{ count: "1001" }]);
  for (const { uri } of [first, second]) await execute(again(uri), OF_OWN_DATABASE);
  expect(hashesOf(template)).toEqual(before);
});

const EAGER_AUTOVACUUM = [
  "autovacuum_naptime = '1s'",
  ...["vacuum", "vacuum_insert", "analyze"].flatMap((kind) => [
    `autovacuum_${kind}_threshold = 0`,
    `autovacuum_${kind}_scale_factor = 0`,
  ]),
];
const ROUNDS = 5;

test("autovacuum writes to no shared file, also where it allows no connections", async () => {
  const server = await startPostgresServer(["--operations", "immediate"]);
  onTestFinished(() => server.end());
  const branch = await createBranch(server);
  await execute(branch.uri, ["create table kept (id int)"]);
  const template = templateOf(server.data);
  const before = hashesOf(template);
  const superuser = new Client({
    ...{ host: runningPostgres(server.data).socketDirectory, port: 5432 },
    ...{ user: "cloud_admin", database: "postgres" },
  });
  await superuser.connect();
  onTestFinished(() => superuser.end());
  for (const setting of EAGER_AUTOVACUUM) await superuser.query(`alter system set ${setting}`);
  await superuser.query("select pg_reload_conf()");
  const rounds = async () => {
    // Each role changes catalogs that all databases share, which autovacuum then works on.
    await execute(branch.uri, ["create role temporary", "drop role temporary"]);
    await superuser.query("select pg_stat_clear_snapshot()");
    const { rows } = await superuser.query(
      "select autoanalyze_count::int as count from pg_stat_all_tables where relname = 'pg_authid'",
    );
    return rows[0].count;
  };
  await expect.poll(rounds, { timeout: 60_000, interval: 500 }).toBeGreaterThanOrEqual(ROUNDS);
  expect(hashesOf(template)).toEqual(before);
  // The databases of clients are visited, too.
  const { rows } = await superuser.query(
    "select datname from pg_stat_database where xact_commit > 0 and datname like 'template%'",
  );
  expect(rows).toEqual([]);
});

async function createChild(
  server: PostgresServer,
  { projectId, branchId }: { readonly projectId: string; readonly branchId: string },
  options: object = {},
) {
  const { body } = await server.api("POST", `/projects/${projectId}/branches`, {
    branch: { parent_id: branchId, ...options },
    endpoints: [{ type: "read_write" }],
  });
  return { branchId: body.branch.id as string, uri: body.connection_uris[0].connection_uri as string };
}
