import { openSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifyData } from "../../src/cli/history/verify-data.ts";
import { connect, countBases, createBranch, serverForTests } from "../support/postgres/postgres.ts";
import { forkWorldOn } from "../support/server/worlds.ts";

const LIMIT_MIB = 16;
/** Text that Postgres does not compress: about 1 MiB for 20 rows. */
const INSERT =
  "insert into written select $1, string_agg(md5(random()::text), '') from generate_series(1, 1600), generate_series(1, 20) as part group by part";
const WAIT = { timeout: 60_000, interval: 200 };

const server = await serverForTests([
  ...["--operations", "immediate", "--clock", "manual"],
  ...["--max-branch-history", `${LIMIT_MIB}MiB`],
]);

function segmentsOf(branchId: string): number {
  const volumes = join(server.data, "volumes");
  return readdirSync(volumes, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.includes(`/${branchId}-`) && /\/wal\/[0-9A-F]{24}$/.test(path),
  ).length;
}

async function createChild(projectId: string, branch: Record<string, unknown>) {
  return server.api("POST", `/projects/${projectId}/branches`, {
    branch,
    endpoints: [{ type: "read_write" }],
  });
}

async function lastRound(uri: string): Promise<number> {
  const client = await connect(uri);
  const { rows } = await client.query("select max(round) as round, count(*) as count from written");
  expect(Number(rows[0].count)).toBe(20 * rows[0].round);
  return rows[0].round;
}

test("a log that is too long is shortened, and the instants that are left have their rows", async () => {
  const { uri, projectId, branchId } = await createBranch(server);
  const client = await connect(uri);
  await client.query("create table written (round int, filler text)");
  await client.query("alter table written alter filler set storage external");
  await client.query(INSERT, [1]);
  const { body: pinned } = await createChild(projectId, { parent_id: branchId });
  await forkWorldOn(server, { name: "early" });
  const instants: string[] = [];
  for (let round = 2; round <= 40; round += 1) {
    await server.sim("POST", "/clock/advance", { by: "1s" });
    await client.query(INSERT, [round]);
    // The mark of an instant is stored before the clock moves on.
    await server.sim("POST", "/clock/advance", { by: "1s" });
    instants.push((await server.sim("GET", "/clock")).body.now);
  }
  await expect.poll(() => segmentsOf(branchId), WAIT).toBeLessThanOrEqual(LIMIT_MIB + 2);
  // The bases of earlier cuts are deleted with their log.
  await expect.poll(() => countBases(server.data), WAIT).toBe(1);

  const refused = await createChild(projectId, { parent_id: branchId, parent_timestamp: instants[0] });
  expect(refused).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining("--max-branch-history") },
  });
  const restore = await server.api("POST", `/projects/${projectId}/branches/${branchId}/restore`, {
    source_branch_id: branchId,
    source_timestamp: instants[0],
    preserve_under_name: "previous",
  });
  expect(restore.status).toBe(422);
  const fork = await server.sim("POST", "/worlds", { name: "late", at: instants[0] });
  expect(fork).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining("--max-branch-history") },
  });

  const recent = await createChild(projectId, { parent_id: branchId, parent_timestamp: instants.at(-3) });
  expect(recent.status, JSON.stringify(recent.body)).toBe(201);
  expect(await lastRound(recent.body.connection_uris[0].connection_uri)).toBe(38);
  // What a branch or another world refers to stays.
  expect(await lastRound(pinned.connection_uris[0].connection_uri)).toBe(1);
  expect(await lastRound(uri.replace("options=", "options=-cstandin.world%3Dearly%20"))).toBe(1);
  expect(await lastRound(uri)).toBe(40);
}, 120_000);

test("the stored data of a branch is described and verified", async () => {
  const { uri, branchId } = await createBranch(server);
  const describe = () => server.sim("GET", `/branches/${branchId}/data`);
  expect((await describe()).body).toEqual({
    engine: null,
    as_of: null,
    exact: true,
    size_bytes: 0,
    points: 0,
    available_since: null,
  });
  const client = await connect(uri);
  await client.query("create table written (round int)");
  await server.sim("POST", "/clock/advance", { by: "1s" });
  const { body } = await describe();
  expect(body).toMatchObject({ engine: expect.stringMatching(/^postgres \d+$/), available_since: null });
  expect(body.size_bytes).toBeGreaterThan(10 * 1024 ** 2);
  expect(body.points).toBeGreaterThan(0);
  expect((await server.sim("GET", "/branches/br-none/data")).status).toBe(404);

  const [world, volumes] = [join(server.data, "worlds", "default.sqlite"), join(server.data, "volumes")];
  const whole = await verifyData(world, volumes);
  expect(whole.differences).toEqual([]);
  expect(whole.pages).toBeGreaterThan(1_000);
  const [version = ""] = readdirSync(join(volumes, "templates"));
  // A byte of the second page of pg_proc.
  const relation = join(volumes, "templates", version, "base", "1", "1255");
  writeSync(openSync(relation, "r+"), Buffer.from([0xff]), 0, 1, 8_192 + 4_000);
  const damaged = await verifyData(world, volumes);
  // The empty cluster, and the one that shares the file with it.
  expect(new Set(damaged.differences.map(({ message }) => message))).toEqual(
    new Set(["page 1 of base/1/1255 is damaged"]),
  );
});
