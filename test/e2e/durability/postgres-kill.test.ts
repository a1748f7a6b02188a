import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import {
  connect,
  countBases,
  createBranch,
  type PostgresServer,
  runningPostgres,
  startPostgresServer,
  stateOf,
  withoutVerification,
} from "../../support/postgres/postgres.ts";
import { processesIn } from "../../support/store/data-files.ts";

/** The process id of the only running Postgres server. */
function enginePid(server: PostgresServer): number {
  return runningPostgres(server.data).pid;
}

/** The directory with the directories of the sockets of all engines. */
function socketRootOf(server: PostgresServer): string {
  return dirname(runningPostgres(server.data).socketDirectory);
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
    const socketRoot = socketRootOf(server);
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
    await expect.poll(() => existsSync(socketRoot), { timeout: 30_000 }).toBe(false);
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

test.runIf(onLinux)(
  "a client that logs in while Postgres is killed is connected to the next one",
  async () => {
    const server = await start();
    const branch = await createBranch(server);
    const first = await connect(branch.uri);
    await first.query("create table numbers (number int)");
    const killed = enginePid(server);
    // It accepts the connection, but does not answer before it is killed.
    process.kill(killed, "SIGSTOP");
    const second = connect(branch.uri);
    await expect
      .poll(async () => (await server.sim("GET", "/state")).body.connections.length, { timeout: 30_000 })
      .toBe(2);
    await sleep(100);
    process.kill(killed, "SIGKILL");
    const { rows } = await (await second).query("select count(*) from numbers");
    expect(rows).toEqual([{ count: "0" }]);
    expect(enginePid(server)).not.toBe(killed);
  },
);

/** Of this many wakes on, memory is compared, too: fewer do not reach a steady state. */
const WAKES_TO_COMPARE_MEMORY = 200;
const WAKES = Number(process.env["STANDIN_TEST_POSTGRES_WAKES"] ?? 20);

test.runIf(onLinux)(
  "wakes leave no process, no socket, no directory and no memory",
  async () => {
    const server = await startPostgresServer(["--operations", "immediate", "--clock", "manual"]);
    onTestFinished(() => server.end());
    const branch = await createBranch(server);
    const pid = server.process.pid ?? 0;
    const samples: { fds: number; rssKb: number; directories: number }[] = [];
    for (let wake = 0; wake < WAKES; wake += 1) {
      const client = new pg.Client(withoutVerification(branch.uri));
      client.on("error", () => undefined);
      await client.connect();
      await client.query("select 1");
      const socketRoot = socketRootOf(server);
      await server.sim("POST", "/clock/advance", { by: "10m" });
      await client.end().catch(() => undefined);
      await expect.poll(() => processesIn(server.data), { timeout: 30_000, interval: 5 }).toEqual([]);
      // What remains is the socket that shows that the server lives.
      await expect.poll(() => readdirSync(socketRoot), { timeout: 30_000, interval: 5 }).toEqual(["alive"]);
      samples.push({
        fds: readdirSync(`/proc/${pid}/fd`).length,
        rssKb: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]),
        // The log grows with each wake. When it is too long, it begins with a later base.
        directories: filesIn(join(server.data, "volumes"), ["base-*", "wal", "pg_wal"]),
      });
    }
    const [second, last] = [samples[1], samples.at(-1)] as const;
    if (second === undefined || last === undefined) throw new Error("at least two wakes are necessary");
    // The first wake opens what stays open.
    expect(last.fds).toBeLessThanOrEqual(second.fds + 2);
    // Postgres itself may add a file to its data directory.
    expect(last.directories).toBeLessThanOrEqual(second.directories + 5);
    await expect.poll(() => countBases(server.data), { timeout: 30_000 }).toBeLessThanOrEqual(1);
    if (WAKES < WAKES_TO_COMPARE_MEMORY) return;
    const quarter = (index: number) =>
      samples
        .slice((index * WAKES) / 4, ((index + 1) * WAKES) / 4)
        .reduce((sum, { rssKb }) => sum + rssKb / (WAKES / 4), 0);
    process.stdout.write(
      `${WAKES} wakes: RSS in MB by quarter ${[0, 1, 2, 3].map((index) => (quarter(index) / 1024).toFixed(1)).join(", ")}; descriptors ${second.fds} to ${last.fds}; files ${second.directories} to ${last.directories}\n`,
    );
    expect(quarter(3)).toBeLessThan(quarter(1) * 1.1);
  },
  Math.max(120_000, WAKES * 5_000),
);

/** The number of files and directories, except those below these names, which may change during the count. */
function filesIn(directory: string, except: readonly string[]): number {
  const names = except.flatMap((name, index) => [...(index === 0 ? [] : ["-o"]), "-name", name]);
  const args = [directory, "(", ...names, ")", "-prune", "-o", "-print"];
  return execFileSync("find", args, { encoding: "utf8" }).split("\n").length;
}

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
