import { execFileSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect, onTestFinished, type TestContext, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { SqliteJournal } from "../../../src/store/journal/sqlite-journal.ts";
import { SecretBox } from "../../../src/worlds/secret-box.ts";
import type { OpenHistory } from "../../../src/worlds/world-storage.ts";
import { API_KEY, createDouble, START } from "../../support/double/double.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import {
  createProjectOn,
  journalOf,
  type ServerClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";
import { storageOf } from "../../support/store/world-storage.ts";

const WITH_KEY = { key: API_KEY, env: { STANDIN_API_KEY: API_KEY } };

test("when SQLite cannot write a page, requests get 503, nothing is half done, and all works again once there is room", async () => {
  const disk = limitedDisk(join(testDirectory(), "world.sqlite"));
  const double = await createDouble({ storage: storageOf(disk.open) });
  await createProjectOn(double);
  disk.setLimit("here");
  await expectRefusal(double, "database or disk is full");

  // One turn of the event loop is one commit, so all or nothing of it is stored.
  const before = await everything(double);
  const burst = await Promise.all(
    Array.from({ length: 30 }, () => double.api("POST", "/projects", { project: { name: "x".repeat(60) } })),
  );
  expect(new Set(burst.map(({ status }) => status))).toEqual(new Set([503]));
  expect(await everything(double)).toEqual(before);

  disk.setLimit("none");
  await expectRoom(double);
  await double.close();
});

test("due work that cannot be stored does not happen, and happens at its due time once there is room", async () => {
  const disk = limitedDisk(join(testDirectory(), "world.sqlite"));
  const double = await createDouble({ storage: storageOf(disk.open) });
  const twin = await createDouble();
  for (const world of [double, twin]) await layDownTraffic(world);
  disk.setLimit("here");
  const before = await everything(double);
  const advance = { to: new Date(START + 40 * 86_400_000).toISOString() };
  expect((await double.sim("POST", "/clock/advance", advance)).status).toBe(503);
  expect(await everything(double)).toEqual(before);

  disk.setLimit("none");
  for (const world of [double, twin])
    expect((await world.sim("POST", "/clock/advance", advance)).status).toBe(200);
  expect(await everything(double)).toEqual(await everything(twin));
  await expectRoom(double);
  await double.close();
});

test("a world that cannot be reopened answers 503 while its process lives, and recovers by itself", async () => {
  const disk = limitedDisk(join(testDirectory(), "world.sqlite"));
  let isBroken = false;
  const open: OpenHistory = () => {
    if (isBroken) throw new Error("the disk is away");
    return disk.open();
  };
  const double = await createDouble({ storage: storageOf(open) });
  await createProjectOn(double);
  disk.setLimit("here");
  await expectRefusal(double);
  const before = await everything(double);
  isBroken = true;
  const burst = await Promise.all(
    Array.from({ length: 40 }, () => double.api("POST", "/projects", { project: { name: "x".repeat(60) } })),
  );
  expect(new Set(burst.map(({ status }) => status))).toEqual(new Set([503]));
  for (const path of ["/health", "/health/ready", "/state", "/clock"]) {
    expect(await double.sim("GET", path)).toMatchObject({ status: 503, body: { code: "STORE_UNAVAILABLE" } });
  }
  expect(await double.api("GET", "/projects")).toMatchObject({
    status: 503,
    body: { code: "STORE_UNAVAILABLE" },
  });
  expect((await double.sim("GET", "/health/live")).status).toBe(200);
  isBroken = false;
  expect(await everything(double)).toEqual(before);
  disk.setLimit("none");
  await expectRoom(double);
});

test("a server under a file size limit answers 503, keeps serving reads, and stops cleanly", async () => {
  const data = testDirectory();
  // A file size limit needs no privileges; a write beyond it fails as on a full disk.
  const prefix = ["bash", "-c", 'ulimit -f 600; exec "$@"', "limited"];
  const server = await startServer(data, ["--clock", "manual"], { ...WITH_KEY, prefix });
  const { path } = await createProjectOn(server);
  await expectRefusal(server);
  for (let read = 0; read < 3; read += 1) expect((await server.api("GET", path)).status).toBe(200);
  const before = await everything(server);
  expect(await server.kill("SIGTERM"), server.stderr().slice(-2000)).toBe(0);

  const roomy = await startServer(data, [], { key: API_KEY });
  expect(await everything(roomy)).toEqual(before);
  await expectRoom(roomy);
});

test("a server on a full disk answers 503, and works again once there is room", async (context) => {
  const disk = mountSmallDisk(context);
  const server = await startServer(join(disk, "data"), ["--clock", "manual"], WITH_KEY);
  await createProjectOn(server);
  const ballast = join(disk, "ballast");
  fill(ballast);
  await expectRefusal(server);
  rmSync(ballast);
  await expectRoom(server);

  const before = await everything(server);
  fill(ballast);
  await server.kill("SIGKILL");
  rmSync(ballast);
  const restarted = await startServer(join(disk, "data"), [], { key: API_KEY });
  expect(await everything(restarted)).toEqual(before);
});

test("a start on a full disk is an error that names the cause", async (context) => {
  const disk = mountSmallDisk(context);
  const ballast = join(disk, "ballast");
  fill(ballast);
  const data = join(disk, "data");
  const first = await runStandin(["serve", "--port", "0", "--data", data]);
  expect(first).toMatchObject({ code: 1, stderr: expect.stringMatching(FULL_DISK) });
  rmSync(ballast);
  rmSync(data, { recursive: true, force: true });

  const server = await startServer(data, [], WITH_KEY);
  await createProjectOn(server);
  await server.kill("SIGKILL");
  rmSync(join(data, "server.json"), { force: true });
  fill(ballast);
  const later = await runStandin(["serve", "--port", "0", "--data", data]);
  expect(later).toMatchObject({ code: 1, stderr: expect.stringMatching(FULL_DISK) });
  rmSync(ballast);
  await createProjectOn(await startServer(data, [], { key: API_KEY }));
});

const FULL_DISK = /^standin: .*(no space is left|disk is full|disk I\/O error)[^\n]*\n$/i;

/** Writes until the disk stays full; each failure must change nothing. */
async function expectRefusal(client: ServerClient, reason = "nothing was changed"): Promise<void> {
  let refused = 0;
  for (let call = 0; refused < 5; call += 1) {
    expect(call, "the disk never became full").toBeLessThan(5_000);
    const before = refused > 0 ? await everything(client) : undefined;
    const { status, headers, body } = await client.api("POST", "/api_keys", { key_name: "k".repeat(60) });
    if (status === 200) refused = 0;
    if (status === 200) continue;
    refused += 1;
    expect({ status, body }).toEqual({
      status: 503,
      body: {
        request_id: headers.get("x-request-id"),
        code: "STORE_UNAVAILABLE",
        message: expect.stringContaining(reason),
      },
    });
    if (before !== undefined) expect(await everything(client)).toEqual(before);
  }
}

async function expectRoom(client: ServerClient): Promise<void> {
  const before = (await journalOf(client)).length;
  const { status, body } = await client.api("POST", "/api_keys", { key_name: "room" });
  expect(status).toBe(200);
  expect((await client.api("GET", "/users/me", undefined, body.key)).status).toBe(200);
  const events = await journalOf(client);
  expect(events.length).toBe(before + 1);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect((await client.sim("GET", "/invariants")).body).toMatchObject({ ok: true, violations: [] });
}

/** More than fits into the pages that a world already has. */
async function layDownTraffic(client: ServerClient): Promise<void> {
  const { endpointId } = await createProjectOn(client);
  const at = (index: number) => new Date(START + (index + 1) * 1_200_000).toISOString();
  const activities = Array.from({ length: 2000 }, (_, index) => ({ endpoint_id: endpointId, at: at(index) }));
  expect((await client.sim("POST", "/activity", activities)).status).toBe(200);
}

async function everything(client: ServerClient) {
  const { body: state } = await client.sim("GET", "/state");
  const { body: clock } = await client.sim("GET", "/clock");
  return { state, clock, events: await journalOf(client) };
}

/** A world file whose page count can be limited: SQLite then returns SQLITE_FULL, as on a full disk. */
function limitedDisk(path: string) {
  let pages: number | undefined;
  let sqlite: BetterSqlite3.Database | undefined;
  const apply = () => sqlite?.pragma(`max_page_count = ${pages ?? 2 ** 30}`);
  const open: OpenHistory = () => {
    const store = openStore(path, { migrationsFolder: MIGRATIONS_FOLDER });
    const file = new BetterSqlite3(path);
    file.pragma("synchronous = FULL");
    sqlite = file;
    apply();
    const { chain = 0 } = (file.prepare("SELECT chain FROM world").get() ?? {}) as { chain?: number };
    const last = { seq: store.world.seq, at: store.world.at, chain };
    const close = () => {
      file.close();
      store.close();
    };
    return { ...store, secretBox: new SecretBox(), journal: new SqliteJournal(file, last), close };
  };
  const setLimit = (limit: "here" | "none") => {
    pages = limit === "none" ? undefined : (sqlite?.pragma("page_count", { simple: true }) as number);
    apply();
  };
  return { open, setLimit };
}

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: "ignore" });

/** A temporary file system of 2 MiB. The test is skipped if this user may not mount one. */
function mountSmallDisk(context: TestContext): string {
  const directory = testDirectory();
  try {
    run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", directory);
  } catch {
    context.skip("only who may mount a tmpfs has a small disk to fill");
  }
  onTestFinished(() => {
    run("umount", "-l", directory);
  });
  return directory;
}

/** Fills the disk that holds `path`, to its last byte. */
function fill(path: string): void {
  const file = openSync(path, "w");
  for (let size = 65_536; size >= 1; ) {
    try {
      writeSync(file, Buffer.alloc(size));
    } catch {
      size /= 2;
    }
  }
  closeSync(file);
}
