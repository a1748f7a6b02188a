import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import {
  connect,
  createBranch,
  type PostgresServer,
  startPostgresServer,
  stateOf,
} from "../support/postgres.ts";

/** The processes whose working directory is below this one: Postgres works in its data directory. */
function processesIn(directory: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(directory);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** The process id of the only running Postgres server. */
function enginePid(server: PostgresServer): number {
  const volumes = join(server.data, "volumes");
  const files = readdirSync(volumes, { recursive: true, encoding: "utf8" });
  const [pidFile = ""] = files.filter((file) => file.endsWith("postmaster.pid"));
  return Number(readFileSync(join(volumes, pidFile), "utf8").split("\n")[0]);
}

async function start(data?: string): Promise<PostgresServer> {
  const server = await startPostgresServer(data === undefined ? ["--operations", "immediate"] : [], data);
  onTestFinished(() => server.end());
  return server;
}

/** Inserts numbers one by one until the connection is lost. Returns those that were acknowledged. */
async function insertUntilLost(client: pg.Client, from: number): Promise<number[]> {
  const acknowledged: number[] = [];
  for (let number = from; ; number += 1) {
    try {
      await client.query("insert into numbers values ($1)", [number]);
    } catch {
      return acknowledged;
    }
    acknowledged.push(number);
  }
}

async function storedNumbers(uri: string): Promise<Set<number>> {
  const { rows } = await (await connect(uri)).query("select number from numbers");
  return new Set(rows.map(({ number }) => number));
}

const onLinux = process.platform === "linux";

test.runIf(onLinux)(
  "after a SIGKILL of the server, no acknowledged row and no process is left over",
  async () => {
    const server = await start();
    const branch = await createBranch(server);
    const client = await connect(branch.uri);
    await client.query("create table numbers (number int)");
    const inserted = insertUntilLost(client, 0);
    await sleep(300);
    const orphan = enginePid(server);
    await server.kill("SIGKILL");
    const acknowledged = await inserted;
    expect(acknowledged.length).toBeGreaterThan(0);
    const deletedWorld = join(server.data, "volumes", "history-of-a-deleted-world");
    mkdirSync(join(deletedWorld, "br-1", "data"), { recursive: true });
    writeFileSync(join(deletedWorld, "owner"), "..");

    const restarted = await start(server.data);
    // Without any client: the start itself stops and deletes what is left over.
    await expect.poll(() => processesIn(server.data), { timeout: 30_000 }).not.toContain(orphan);
    await expect.poll(() => existsSync(deletedWorld), { timeout: 30_000 }).toBe(false);
    const uri = branch.uri.replace(`:${server.pgPort}/`, `:${restarted.pgPort}/`);
    const stored = await storedNumbers(uri);
    expect(acknowledged.filter((number) => !stored.has(number))).toEqual([]);
    await restarted.end();
    expect(processesIn(server.data)).toEqual([]);
  },
);

test.runIf(onLinux)(
  "after a SIGKILL of Postgres, clients are closed, and the next one finds every acknowledged row",
  async () => {
    const server = await start();
    const branch = await createBranch(server);
    const setup = await connect(branch.uri);
    await setup.query("create table numbers (number int)");
    const acknowledged: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const inserted = insertUntilLost(await connect(branch.uri), round * 1_000_000);
      await sleep(100);
      process.kill(enginePid(server), "SIGKILL");
      acknowledged.push(...(await inserted));
      const stored = await storedNumbers(branch.uri);
      expect(acknowledged.filter((number) => !stored.has(number))).toEqual([]);
    }
    expect(acknowledged.length).toBeGreaterThan(0);
    expect((await server.sim("GET", "/invariants")).body.violations).toEqual([]);
  },
);

test.runIf(onLinux)("wakes leave no process and no socket", async () => {
  const server = await startPostgresServer(["--operations", "immediate", "--clock", "manual"]);
  onTestFinished(() => server.end());
  const branch = await createBranch(server);
  const counts: number[] = [];
  for (let wake = 0; wake < 8; wake += 1) {
    const client = await connect(branch.uri);
    await client.query("select 1");
    await server.sim("POST", "/clock/advance", { by: "10m" });
    await expect.poll(() => processesIn(server.data), { timeout: 30_000 }).toEqual([]);
    counts.push(readdirSync(`/proc/${server.process.pid}/fd`).length);
  }
  // The first wake opens what stays open.
  expect(counts.at(-1)).toBeLessThanOrEqual((counts[1] ?? 0) + 2);
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "after a %s during a transaction, its compute suspends in the restarted server",
  async (signal) => {
    const server = await startPostgresServer(["--operations", "immediate", "--clock", "manual"]);
    onTestFinished(() => server.end());
    const branch = await createBranch(server);
    const client = await connect(branch.uri);
    await client.query("begin");
    await server.sim("POST", "/clock/advance", { by: "10m" });
    expect(await stateOf(server, branch)).toBe("active");
    await server.kill(signal);
    const restarted = await startPostgresServer([], server.data);
    onTestFinished(() => restarted.end());
    const { api_key: key } = server.ready;
    const isIdle = async () => {
      await restarted.sim("POST", "/clock/advance", { by: "10m" });
      return (await restarted.api("GET", branch.path, undefined, key)).body.endpoint.current_state;
    };
    await expect.poll(isIdle, { timeout: 30_000 }).toBe("idle");
  },
);

test.runIf(onLinux)(
  "after a SIGKILL of the server, a fork and a branch have all rows that were acknowledged",
  async () => {
    const server = await start();
    const branch = await createBranch(server);
    const client = await connect(branch.uri);
    await client.query("create table numbers (number int)");
    const inserted = insertUntilLost(client, 0);
    await sleep(300);
    await server.kill("SIGKILL");
    const acknowledged = await inserted;
    const restarted = await start(server.data);
    const uri = branch.uri.replace(`:${server.pgPort}/`, `:${restarted.pgPort}/`);
    // Both are created before an engine has recovered the data.
    const { api_key: key } = server.ready;
    const child = await restarted.api(
      "POST",
      `/projects/${branch.projectId}/branches`,
      { branch: { parent_id: branch.branchId }, endpoints: [{ type: "read_write" }] },
      key,
    );
    expect((await restarted.sim("POST", "/worlds", { name: "side" })).status).toBe(201);
    await (await connect(uri)).query("insert into numbers values (-1)");
    const expected = new Set(acknowledged);
    for (const copy of [
      child.body.connection_uris[0].connection_uri,
      uri.replace("options=", "options=-cstandin.world%3Dside%20"),
    ]) {
      const stored = await storedNumbers(copy);
      expect([...expected].filter((number) => !stored.has(number))).toEqual([]);
      expect(stored.has(-1)).toBe(false);
    }
  },
);
