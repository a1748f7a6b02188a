import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Client, DatabaseError } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { sizeOnDisk } from "../../src/postgres/volumes/volume-size.ts";
import { runBranchRounds } from "../soak/branch-rounds.ts";
import {
  connect,
  createBranch,
  type PostgresServer,
  startPostgresServer,
} from "../support/postgres/postgres.ts";
import { runStandinProcess, temporaryDirectory } from "../support/process/process.ts";
import { serverClient } from "../support/server/running-server.ts";

const MIB = 1024 ** 2;
const WAIT = { timeout: 60_000, interval: 100 };

function volumesOf({ data }: PostgresServer): string[] {
  const root = join(data, "volumes");
  return readdirSync(root)
    .filter((name) => name !== "templates" && name !== "extension")
    .flatMap((history) => readdirSync(join(root, history)).map((name) => join(root, history, name)))
    .filter((path) => existsSync(join(path, "origin.json")));
}

async function createChild(server: PostgresServer, { projectId }: { readonly projectId: string }) {
  const { body } = await server.api("POST", `/projects/${projectId}/branches`, {
    endpoints: [{ type: "read_write" }],
  });
  return {
    path: `/projects/${projectId}/branches/${body.branch.id}`,
    uri: body.connection_uris[0].connection_uri as string,
  };
}

async function createLargeTable(client: Client): Promise<void> {
  await client.query("create table large (content text)");
  await client.query("alter table large alter content set storage external");
}

/** A query of rows that take this number of bytes. */
function linesOf(bytes: number): string {
  return `select repeat('x', 8000) from generate_series(1, ${Math.ceil(bytes / 8_192)})`;
}

async function metricsOf({ ready }: PostgresServer): Promise<Record<string, number>> {
  const text = await (await fetch(`${ready.control_url}/metrics`)).text();
  return Object.fromEntries(
    [...text.matchAll(/^standin_(volume\w*) (\S+)$/gm)].map(([, name, value]) => [name, Number(value)]),
  );
}

test("the data of a branch that is deleted permanently is removed at once, and that of others stays", async () => {
  const server = await startPostgresServer();
  onTestFinished(() => server.end());
  const branch = await createBranch(server);
  await (await connect(branch.uri)).query("create table kept (id int)");
  const child = await createChild(server, branch);
  await (await connect(child.uri)).query("create table lost (id int)");
  expect(volumesOf(server)).toHaveLength(2);

  const { volumes, size_bytes: both } = (await server.sim("GET", "/data")).body;
  expect(volumes).toBe(2);
  const metrics = await metricsOf(server);
  expect(metrics).toMatchObject({ volumes: 2, volume_waiting_bytes: 0 });
  expect(metrics["volume_bytes"]).toBeGreaterThan(1024 ** 2);
  expect(metrics["volume_limit_bytes"]).toBeGreaterThan(both);
  const status = await runStandinProcess(["status", "--data", server.data]);
  expect(status.stdout).toMatch(/^data: [\d.]+ MiB in 2 volumes, limit [\d.]+ (GiB|TiB|MiB)$/m);

  // Its client is still connected.
  expect((await server.api("DELETE", `${child.path}?hard_delete=true`)).status).toBe(200);
  await expect.poll(() => volumesOf(server).length, WAIT).toBe(1);
  await expect.poll(async () => (await server.sim("GET", "/data")).body.volumes, WAIT).toBe(1);
  expect((await (await connect(branch.uri)).query("select from kept")).rowCount).toBe(0);
});

test("what a restored branch had before is removed after the retention of its project", async () => {
  const server = await startPostgresServer(["--operations", "immediate", "--clock", "manual"]);
  onTestFinished(() => server.end());
  const branch = await createBranch(server, { history_retention_seconds: 3_600 });
  const child = await createChild(server, branch);
  await (await connect(branch.uri)).query("create table own (id int)");
  await (await connect(child.uri)).query("create table previous (id int)");
  const restored = await server.api("POST", `${child.path}/restore`, { source_branch_id: branch.branchId });
  expect(restored.status).toBe(200);
  await (await connect(child.uri)).query("select from own");
  await server.sim("POST", "/clock/advance", { by: "50m" });
  expect(volumesOf(server)).toHaveLength(3);
  await server.sim("POST", "/clock/advance", { by: "20m" });
  await expect.poll(() => volumesOf(server).length, WAIT).toBe(2);
});

test("at the limit nothing new is created or started, and running computes continue", async () => {
  const directory = temporaryDirectory();
  onTestFinished(() => directory.remove());
  const first = await startPostgresServer(undefined, directory.path);
  const branch = await createBranch(first);
  const child = await createChild(first, branch);
  const filling = await connect(branch.uri);
  await createLargeTable(filling);
  await filling.query(`insert into large ${linesOf(40 * MIB)}`);
  await (await connect(child.uri)).query("select 1");
  await first.end();

  const server = await startPostgresServer(
    ["--operations", "immediate", "--max-data", "none"],
    directory.path,
  );
  await expect.poll(async () => (await server.sim("GET", "/data")).body.volumes, WAIT).toBe(2);
  const { size_bytes: bytes, limit_bytes: limit } = (await server.sim("GET", "/data")).body;
  expect(limit).toBe(null);
  await server.end();

  const limited = await startPostgresServer(
    ["--operations", "immediate", "--max-data", `${Math.ceil(bytes * 1.02)}`],
    directory.path,
  );
  onTestFinished(() => limited.end());
  await expect.poll(async () => (await limited.sim("GET", "/data")).body.volumes, WAIT).toBe(2);
  const { api } = serverClient(limited.ready, first.ready.api_key);
  const reach = (uri: string) => {
    const url = new URL(uri);
    url.port = String(limited.pgPort);
    return url.href;
  };
  const client = await connect(reach(branch.uri));
  // Rows and log together exceed the limit, but by less than a tenth.
  await client.query(`insert into large ${linesOf(bytes * 0.03)}`);
  await expect
    .poll(async () => (await api("POST", "/projects", { project: { name: "new" } })).body, WAIT)
    .toMatchObject({
      code: "DATA_LIMIT_EXCEEDED",
      message: expect.stringMatching(/^data limit exceeded: .* takes [\d.]+ MiB, .* \(--max-data\)/),
    });
  const { projectId } = branch;
  for (const [method, path, body] of [
    ["POST", "/projects", { project: { name: "new" } }],
    ["POST", `/projects/${projectId}/branches`, {}],
    ["POST", `/projects/${projectId}/branches/${branch.branchId}/restore`, { source_branch_id: "x" }],
    ["POST", `${branch.path}/start`],
    ["POST", `${branch.path}/restart`],
  ] as const)
    expect([path, (await api(method, path, body)).status]).toEqual([path, 422]);
  const rejected = await connect(reach(child.uri)).catch((reason: DatabaseError) => reason);
  expect(rejected).toMatchObject({ code: "53100", message: expect.stringContaining("--max-data") });
  expect((await client.query("select from large")).rowCount).toBeGreaterThan(0);

  // Reads and deletions are possible, and free space.
  expect((await api("DELETE", `${child.path}?hard_delete=true`)).status).toBe(200);
  await expect.poll(() => volumesOf(limited).length, WAIT).toBe(1);
  await expect
    .poll(async () => (await api("POST", "/projects", { project: { name: "new" } })).status, WAIT)
    .toBe(201);
});

test("the compute that has grown most is stopped if the limit is exceeded by far", async () => {
  const server = await startPostgresServer(["--operations", "immediate", "--max-data", "120MiB"]);
  onTestFinished(() => server.end());
  const small = await createBranch(server);
  const large = await createBranch(server);
  const reader = await connect(small.uri);
  const writer = await connect(large.uri);
  const ended = new Promise<DatabaseError>((resolve) => writer.once("error", resolve));
  await createLargeTable(writer);
  await writer.query(`insert into large ${linesOf(96 * MIB)}`).catch(() => undefined);
  await expect(ended).resolves.toMatchObject({
    code: "53100",
    message: expect.stringContaining("data limit exceeded"),
  });
  expect((await reader.query("select 1")).rowCount).toBe(1);
  await expect(connect(large.uri)).rejects.toMatchObject({ code: "53100" });
});

test("the size of the volumes stays the same while branches are created, used and deleted", async () => {
  const server = await startPostgresServer();
  onTestFinished(() => server.end());
  const samples = await runBranchRounds(server, { until: { batches: 4 }, branches: 3 });
  expect(samples.map(({ round, volumes }) => [round, volumes])).toEqual(
    [3, 6, 9, 12].map((round) => [round, 1]),
  );
  const [first, last] = [samples[0]?.bytes ?? 0, samples.at(-1)?.bytes ?? 0];
  expect(last - first).toBeLessThan(3 * MIB);
});

test("a branch that was connected to and wrote nothing takes at most 12 MB", async () => {
  const server = await startPostgresServer();
  onTestFinished(() => server.end());
  const root = join(server.data, "volumes");
  const sizes: number[] = [];
  for (let branches = 0; branches < 4; branches += 1) {
    const branch = await createBranch(server);
    await (await connect(branch.uri)).query("select 1");
    await server.api("POST", `${branch.path}/suspend`);
    await expect.poll(() => volumesOf(server).some(isRunning), WAIT).toBe(false);
    await expect
      .poll(() => volumesOf(server).every((path) => existsSync(join(path, "size"))), WAIT)
      .toBe(true);
    sizes.push(await sizeOnDisk(root));
  }
  // Files of the empty cluster belong to no branch in particular.
  const perBranch = ((sizes[3] ?? 0) - (sizes[0] ?? 0)) / 3;
  expect(perBranch).toBeGreaterThan(MIB / 2);
  expect(perBranch).toBeLessThanOrEqual(12_000_000);
});

function isRunning(volume: string): boolean {
  return existsSync(join(volume, "data", "postmaster.pid"));
}
