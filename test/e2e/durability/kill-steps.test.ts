import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { API_KEY } from "../../support/double/double.ts";
import {
  copyWorlds,
  expectIntact,
  inWorld,
  KILLS,
  killAtMoment,
  readContents,
  repeatCommand,
  restartAfterKill,
  type WorldContents,
} from "../../support/durability/crashes.ts";
import { fillWorld } from "../../support/durability/full-world.ts";
import { serve, spawnStandin, temporaryDirectory } from "../../support/process/process.ts";
import {
  type RunningServer,
  serverClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

const OLD_FILE = join(import.meta.dirname, "../../replay/fixtures/0.1.0/world.sqlite");
/** CI kills at every third step. */
const STEP = KILLS === 1 ? 3 : 1;
const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--seed", "1"];

const template = temporaryDirectory();
beforeAll(async () => {
  const served = await serve(template.path, MANUAL, { STANDIN_API_KEY: API_KEY });
  await fillWorld(serverClient(served.ready, API_KEY));
  await served.kill("SIGTERM");
});
afterAll(() => template.remove());

const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);

test("killed at any directory change of a snapshot, the snapshot is complete or absent", async () => {
  await killAtEveryStep(
    () => undefined,
    (server) => server.sim("POST", "/snapshots", { name: "kept" }),
    async (server, previous, done) => {
      expect(await readContents(server), repeatCommand()).toEqual(previous);
      const { snapshots } = (await server.sim("GET", "/snapshots")).body;
      if (done || snapshots.length > 0) expect(names(snapshots), repeatCommand()).toEqual(["kept"]);
      expect((await server.sim("POST", "/snapshots", { name: "another" })).status, repeatCommand()).toBe(201);
    },
  );
});

test("killed at any directory change of a restore, the world is the old one or the snapshot", async () => {
  let kept: WorldContents | undefined;
  await killAtEveryStep(
    async (server) => {
      await server.sim("POST", "/snapshots", { name: "kept" });
      kept = await readContents(server);
      await server.sim("POST", "/clock/advance", { by: "1h" });
      await server.api("POST", "/api_keys", { key_name: "since" });
    },
    (server) => server.sim("POST", "/snapshots/kept/restore", {}),
    async (server, previous, done) => {
      const now = await readContents(server);
      const { snapshots } = (await server.sim("GET", "/snapshots")).body;
      const automatic = snapshots.filter(({ kind }) => kind === "automatic");
      if (now.history === previous.history) {
        expect([done, now, automatic], repeatCommand()).toEqual([false, previous, []]);
        return;
      }
      expect({ ...now, history: "" }, repeatCommand()).toEqual({ ...kept, history: "" });
      expect(automatic, repeatCommand()).toMatchObject([
        { seq: previous.journal.length, history_id: previous.history },
      ]);
      expect(
        (await server.sim("POST", `/snapshots/${automatic[0].name}/restore`, {})).status,
        repeatCommand(),
      ).toBe(200);
      expect({ ...(await readContents(server)), history: "" }, repeatCommand()).toEqual({
        ...previous,
        history: "",
      });
    },
  );
});

test("killed at any directory change of a fork, the fork is complete or absent", async () => {
  await killAtEveryStep(
    () => undefined,
    (server) => server.sim("POST", "/worlds", { name: "side", at: 100 }),
    async (server, previous, done) => {
      expect(await readContents(server), repeatCommand()).toEqual(previous);
      const worlds = names((await server.sim("GET", "/worlds")).body.worlds);
      if (!done && !worlds.includes("side")) {
        expect((await server.sim("POST", "/worlds", { name: "side", at: 100 })).status, repeatCommand()).toBe(
          201,
        );
      }
      const { journal } = await readContents(inWorld(server, "side"));
      expect(journal, repeatCommand()).toEqual(previous.journal.slice(0, journal.length));
    },
  );
});

test("killed at any directory change of a fork with its own seed, the fork has that seed or is absent", async () => {
  await killAtEveryStep(
    () => undefined,
    (server) => server.sim("POST", "/worlds", { name: "side", seed: 4711 }),
    async (server, _, done) => {
      const isThere = names((await server.sim("GET", "/worlds")).body.worlds).includes("side");
      if (!isThere) expect(done).toBe(false);
      else
        expect((await inWorld(server, "side").sim("GET", "/state")).body.world.seed, repeatCommand()).toBe(
          4711,
        );
    },
  );
});

test("killed at any directory change of a deletion, the world and its snapshots are there or gone together", async () => {
  let side: WorldContents | undefined;
  await killAtEveryStep(
    async (server) => {
      await server.sim("POST", "/worlds", { name: "side" });
      await inWorld(server, "side").sim("POST", "/snapshots", { name: "of-the-former" });
      side = await readContents(inWorld(server, "side"));
    },
    (server) => server.sim("DELETE", "/worlds/side"),
    async (server, previous, done) => {
      expect(await readContents(server), repeatCommand()).toEqual(previous);
      const isThere = names((await server.sim("GET", "/worlds")).body.worlds).includes("side");
      if (isThere) {
        expect([done, await readContents(inWorld(server, "side"))], repeatCommand()).toEqual([false, side]);
        expect(
          names((await inWorld(server, "side").sim("GET", "/snapshots")).body.snapshots),
          repeatCommand(),
        ).toEqual(["of-the-former"]);
        return;
      }
      expect((await server.sim("POST", "/worlds", { name: "side" })).status, repeatCommand()).toBe(201);
      expect((await inWorld(server, "side").sim("GET", "/snapshots")).body, repeatCommand()).toEqual({
        snapshots: [],
      });
    },
  );
});

test("killed at any directory change of an upgrade, the next start completes it and stores the old file once", async () => {
  const upgraded = await startServer(directoryOfOldFile(), [], { key: API_KEY });
  const { state, journal } = await readContents(upgraded);
  await upgraded.kill("SIGKILL");
  for (let step = 1; ; step += STEP) {
    const data = directoryOfOldFile();
    const { env, arm } = killAtMoment(testDirectory());
    arm(step);
    const starting = spawnStandin(["serve", "--data", data, "--port", "0", "--json"], env);
    const isReady = await Promise.race([
      starting.waitForOutput(/^.*\n/).then(() => true),
      starting.ended.then(() => false),
    ]);
    await starting.kill("SIGKILL");
    const server = await restartAfterKill(data);
    expect(await readContents(server), `at step ${step}`).toMatchObject({ state, journal });
    expect(names((await server.sim("GET", "/snapshots")).body.snapshots), `at step ${step}`).toEqual([
      "auto-before-upgrade",
    ]);
    await server.kill("SIGKILL");
    if (isReady) {
      expect(step).toBeGreaterThan(3);
      return;
    }
  }
});

test("a first start that was killed after creating its tables starts over, and leaves no snapshot of an empty world", async () => {
  const data = testDirectory();
  mkdirSync(join(data, "worlds"));
  const sqlite = new BetterSqlite3(join(data, "worlds/default.sqlite.unfinished"));
  // The first transaction creates the tables, the second marks the file, and then the file is renamed.
  migrate(drizzle(sqlite, { casing: "snake_case" }), { migrationsFolder: MIGRATIONS_FOLDER });
  sqlite.close();
  const server = await startServer(data, MANUAL, { key: API_KEY });
  expect((await server.sim("GET", "/snapshots")).body).toEqual({ snapshots: [] });
  await expectIntact(server, data);
});

test("a snapshot survives every start, whatever its name", async () => {
  const data = testDirectory();
  copyWorlds(template.path, data);
  const server = await startServer(data, [], { key: API_KEY });
  const given = ["a.unfinished", "b.sqlite", "c.sqlite.unfinished", "d.sqlite-wal", "e_f-g.h", "unfinished"];
  for (const name of given) expect((await server.sim("POST", "/snapshots", { name })).status, name).toBe(201);
  await server.kill("SIGKILL");
  const restarted = await startServer(data, [], { key: API_KEY });
  expect(names((await restarted.sim("GET", "/snapshots")).body.snapshots)).toEqual(given);
  await expectIntact(restarted, data);
});

/** Repeats the work, killed at its first directory change, its second, and so on, until it completes. */
async function killAtEveryStep(
  prepare: (server: RunningServer) => unknown,
  work: (server: RunningServer) => Promise<{ status: number }>,
  expectAfter: (server: RunningServer, previous: WorldContents, done: boolean) => Promise<void>,
): Promise<void> {
  for (let step = 1; ; step += STEP) {
    const data = testDirectory();
    copyWorlds(template.path, data);
    const { env, arm } = killAtMoment(testDirectory());
    const server = await startServer(data, [], { key: API_KEY, env });
    await prepare(server);
    const previous = await readContents(server);
    arm(step);
    const response = await work(server).catch(() => undefined);
    if (response !== undefined) expect(response.status).toBeLessThan(300);
    await server.kill("SIGKILL");
    const restarted = await restartAfterKill(data);
    await expectAfter(restarted, previous, response !== undefined);
    await expectIntact(restarted, data);
    await restarted.kill("SIGKILL");
    if (response === undefined) continue;
    expect(step, "there were changes to be killed at").toBeGreaterThan(1);
    return;
  }
}

function directoryOfOldFile(): string {
  const data = testDirectory();
  mkdirSync(join(data, "worlds"));
  copyFileSync(OLD_FILE, join(data, "worlds/default.sqlite"));
  return data;
}
