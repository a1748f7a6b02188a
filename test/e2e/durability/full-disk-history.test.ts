import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiResponse, Rejection } from "../../support/answers/api-response.ts";
import { API_KEY } from "../../support/double/double.ts";
import { verify } from "../../support/durability/corruption.ts";
import {
  copyWorlds,
  expectIntact,
  KILLS,
  makeLargeWorld,
  readContents,
  type WorldContents,
} from "../../support/durability/crashes.ts";
import { mountSmallDisk, withLimitedFiles } from "../../support/durability/small-disk.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { spawnStandin, temporaryDirectory, waitForExit } from "../../support/process/process.ts";
import { type RunningServer, startServer, testDirectory } from "../../support/server/running-server.ts";

const WORLD = "worlds/default.sqlite";
const OLD_FILE = join(import.meta.dirname, "../../replay/fixtures/0.1.0/world.sqlite");
/** Errors of a full disk, from the operating system and from SQLite. */
const NO_ROOM = /ENOSPC|EFBIG|no space left|file too large|disk is full|disk I\/O error/i;
const KIB = 1_024;

const template = temporaryDirectory();
beforeAll(() => makeLargeWorld(template.path, 400));
afterAll(() => template.remove());

/** Operations that need disk space, and how to undo them. */
type Work = {
  readonly run: (server: RunningServer) => Promise<ApiResponse<Rejection>>;
  readonly undo: (server: RunningServer) => Promise<unknown>;
};

const WORKS: Readonly<Record<string, Work>> = {
  "a snapshot": {
    run: (server) => server.sim("POST", "/snapshots", { name: "more" }),
    undo: (server) => server.sim("DELETE", "/snapshots/more"),
  },
  "a fork at the current state": {
    run: (server) => server.sim("POST", "/worlds", { name: "more" }),
    undo: (server) => server.sim("DELETE", "/worlds/more"),
  },
  "a fork in the past with its own seed": {
    run: (server) => server.sim("POST", "/worlds", { name: "more", at: 500, seed: 4711 }),
    undo: (server) => server.sim("DELETE", "/worlds/more"),
  },
  "a restore": {
    run: (server) => server.sim("POST", "/snapshots/kept/restore", {}),
    undo: async (server) => {
      const { snapshots } = (await server.sim("GET", "/snapshots")).body;
      for (const { name, kind } of snapshots)
        if (kind === "automatic") await server.sim("DELETE", `/snapshots/${name}`);
    },
  },
};

describe.each(Object.entries(WORKS))("%s", (_, { run, undo }) => {
  test("fails under a file size limit, changes nothing, and works without the limit", async () => {
    const data = await withSnapshot(testDirectory());
    const half = statSync(join(data, WORLD)).size / 2;
    const limited = await startServer(data, [], { key: API_KEY, prefix: withLimitedFiles(half) });
    const before = await everything(limited, data);
    expectNoRoom(await run(limited));
    expect(await everything(limited, data)).toEqual(before);
    expect(await limited.kill("SIGTERM"), limited.stderr().slice(-2_000)).toBe(0);

    const server = await startServer(data, [], { key: API_KEY });
    expect(await everything(server, data)).toEqual(before);
    expect((await run(server)).status).toBeLessThan(300);
    await expectIntact(server, data);
  });

  test("on a disk with little room either completes or fails without changing anything", async (context) => {
    const disk = mountSmallDisk(context, 16);
    const data = await withSnapshot(join(disk.path, "data"));
    const size = statSync(join(data, WORLD)).size;
    const server = await startServer(data, [], { key: API_KEY });
    const outcomes: string[] = [];
    const rooms = [0, size / 2, size, size + 40 * KIB, size + 200 * KIB, size + 6_000 * KIB];
    const more = [16 * KIB, size - 8 * KIB, size + 16 * KIB, size + 80 * KIB, size + 1_000 * KIB];
    for (const room of KILLS === 1 ? rooms : [...rooms, ...more].sort((a, b) => a - b)) {
      disk.leaveRoom();
      await undo(server);
      const before = await everything(server, data);
      disk.leaveRoom(room);
      const response = await run(server);
      const what = `with room for ${room} bytes beside a world of ${size}: ${JSON.stringify(response.body)}`;
      if (response.status >= 300) {
        expectNoRoom(response, what);
        expect(await everything(server, data), what).toEqual(before);
      }
      outcomes.push(response.status < 300 ? "made" : "refused");
      disk.leaveRoom();
      await expectIntact(server, data);
    }
    expect([...new Set(outcomes)], outcomes.join(" ")).toEqual(["refused", "made"]);
  });
});

test("compaction on a full disk fails, the world stays usable, and it works once there is room", async (context) => {
  const disk = mountSmallDisk(context, 16);
  const data = await withSnapshot(join(disk.path, "data"));
  const server = await startServer(data, [], { key: API_KEY });
  const before = await everything(server, data);
  disk.leaveRoom(0);
  expectNoRoom(await server.sim("POST", "/compact", { keep: "1h" }));
  expect(await everything(server, data)).toEqual(before);
  disk.leaveRoom();
  const { status, body } = await server.sim("POST", "/compact", { keep: "1h" });
  expect([status, body.forgotten_seq > 0]).toEqual([200, true]);
  const after = await readContents(server);
  expect(after).toEqual({ ...before.world, journal: before.world.journal.slice(body.forgotten_seq) });
  await expectIntact(server, data);
});

test("an export to a full disk ends with a clear error and leaves no file", async (context) => {
  const disk = mountSmallDisk(context, 4);
  const data = await withSnapshot(testDirectory());
  const before = readFileSync(join(data, WORLD));
  const out = join(disk.path, "out.sqlite");
  for (const room of [0, before.length / 2, before.length - 8 * KIB]) {
    disk.leaveRoom(room);
    const ended = await runStandin(["export", data, "--out", out]);
    expect({ room, ...ended }).toEqual({
      room,
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^standin: [^\n]*\n$/),
    });
    expect(ended.stderr).toMatch(NO_ROOM);
    expect(readdirSync(disk.path)).toEqual(["ballast"]);
  }
  disk.leaveRoom();
  expect((await runStandin(["export", data, "--out", out])).code).toBe(0);
  expect(await verify(out)).toBeUndefined();
  expect(readFileSync(join(data, WORLD)).equals(before)).toBe(true);
});

test("an import into a directory on a full disk ends with a clear error and leaves no world", async (context) => {
  const disk = mountSmallDisk(context, 4);
  const data = join(disk.path, "data");
  const file = join(template.path, WORLD);
  disk.leaveRoom(statSync(file).size / 2);
  const ended = await runStandin(["import", file, "--data", data]);
  expect(ended).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(/^standin: [^\n]*\n$/) });
  expect(ended.stderr).toMatch(NO_ROOM);
  expect(readdirSync(join(data, "worlds"))).toEqual([]);
  disk.leaveRoom();
  expect((await runStandin(["import", file, "--data", data])).code).toBe(0);
  expect(await verify(join(data, WORLD))).toBeUndefined();
});

test("the file of an older release stays unchanged if there is no room to upgrade it, and is upgraded once there is", async (context) => {
  const disk = mountSmallDisk(context, 2);
  const data = join(disk.path, "data");
  mkdirSync(join(data, "worlds"), { recursive: true });
  copyFileSync(OLD_FILE, join(data, WORLD));
  // Room for the lock and the auxiliary files of SQLite, but not for a second world file.
  disk.leaveRoom(120 * KIB);
  const ended = await waitForExit(
    spawnStandin(["serve", "--data", data, "--port", "0", "--json", "--log-level", "silent"]),
  );
  expect(ended).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(/^standin: [^\n]*\n$/) });
  expect(ended.stderr).toMatch(NO_ROOM);
  expect(readFileSync(join(data, WORLD)).equals(readFileSync(OLD_FILE))).toBe(true);
  disk.leaveRoom();
  const server = await startServer(data, [], { key: API_KEY });
  expect((await server.sim("GET", "/snapshots")).body.snapshots).toHaveLength(1);
  await expectIntact(server, data);
});

test("a server whose backups fail for lack of room logs it, keeps running, and takes them once there is room", async (context) => {
  const disk = mountSmallDisk(context, 16);
  const data = await withSnapshot(join(disk.path, "data"));
  disk.leaveRoom(400 * KIB);
  const server = await startServer(data, ["--backup-every", "1s"], { key: API_KEY });
  const logged = (pattern: RegExp) =>
    new Promise<void>((found) => {
      const look = () => {
        if (pattern.test(server.stderr())) found();
      };
      server.process.stderr?.on("data", look);
      look();
    });
  await logged(/backup failed/);
  expect(server.stderr()).toMatch(NO_ROOM);
  expect((await server.sim("GET", "/snapshots")).body.snapshots).toHaveLength(1);
  expect((await server.sim("GET", "/state")).status).toBe(200);
  disk.leaveRoom();
  await logged(/took backup backup-/);
  const { snapshots } = (await server.sim("GET", "/snapshots")).body;
  expect(snapshots.map(({ kind }) => kind)).toEqual(["manual", "backup"]);
});

/** A world, and a snapshot from before its last change. */
async function withSnapshot(data: string): Promise<string> {
  copyWorlds(template.path, data);
  const server = await startServer(data, [], { key: API_KEY });
  expect((await server.sim("POST", "/snapshots", { name: "kept" })).status).toBe(201);
  expect((await server.api("POST", "/api_keys", { key_name: "since then" })).status).toBe(200);
  expect(await server.kill("SIGTERM")).toBe(0);
  return data;
}

/** The responses of a server, and its files. */
async function everything(
  server: RunningServer,
  data: string,
): Promise<{ world: WorldContents; worlds: unknown; snapshots: unknown; files: string[] }> {
  const { worlds } = (await server.sim("GET", "/worlds")).body;
  const { snapshots } = (await server.sim("GET", "/snapshots")).body;
  const files = ["worlds", "snapshots"].flatMap(
    (folder) => readdirSync(join(data, folder), { recursive: true }) as string[],
  );
  return {
    world: await readContents(server),
    worlds: worlds.map(({ name, seq }) => [name, seq]),
    snapshots: snapshots.map(({ name, seq, history_id, error }) => [name, seq, history_id, error]),
    files: files.filter((file) => !/-(wal|shm|head)$/.test(file)).sort(),
  };
}

function expectNoRoom({ status, body }: ApiResponse<Rejection>, what = ""): void {
  expect({ status, code: body.code, message: body.message }, what).toEqual({
    status: 503,
    code: "STORE_UNAVAILABLE",
    message: expect.stringMatching(NO_ROOM),
  });
}
