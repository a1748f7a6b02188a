import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { API_KEY } from "../../support/double/double.ts";
import { verify } from "../../support/durability/corruption.ts";
import {
  copyWorlds,
  inWorld,
  KILLS,
  KillCounts,
  makeLargeWorld,
  randomDraws,
  readContents,
  repeatCommand,
  restartAfterKill,
  runUntilKilled,
  type WorldContents,
} from "../../support/durability/crashes.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { spawnStandin, temporaryDirectory, waitForExit } from "../../support/process/process.ts";
import {
  type RunningServer,
  type ServerClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

const ROUNDS = KILLS;
/** The kill comes at a random time, up to this multiple of the undisturbed duration. */
const BEYOND = 1.1;
const WORLD = "worlds/default.sqlite";
const OLD_FILE = join(import.meta.dirname, "../../replay/fixtures/0.1.0/world.sqlite");

const template = temporaryDirectory();
const tally = new KillCounts();
beforeAll(() => makeLargeWorld(template.path));
afterAll(() => {
  template.remove();
  tally.print();
});

function largeWorld(): string {
  const data = testDirectory();
  copyWorlds(template.path, data);
  return data;
}

test("killed during a snapshot, a server loses nothing, and the snapshot is complete or absent", async () => {
  const data = largeWorld();
  const draw = randomDraws("kill snapshot");
  let server = await startServer(data, [], { key: API_KEY });
  const took = await timed(() => server.sim("POST", "/snapshots", { name: "undisturbed" }));
  const acknowledged = new Map<string, object>();
  for (let round = 1; round <= ROUNDS; round += 1) {
    const name = `round-${round}`;
    const before = await readContents(server);
    const writing = writeKeys(server, name);
    const response = await runUntilKilled(
      draw() % Math.ceil(took * BEYOND),
      server,
      server.sim("POST", "/snapshots", { name }),
    );
    tally.add("snapshot", response === undefined);
    server = await restartAfterKill(data);
    await expectKept(server, before, await writing);
    if (response?.status === 201) acknowledged.set(name, response.body.snapshot);
    const { snapshots } = (await server.sim("GET", "/snapshots")).body;
    const listed = new Map(snapshots.map((snapshot) => [snapshot.name, snapshot]));
    for (const [name, snapshot] of acknowledged) expect(listed.get(name), repeatCommand()).toEqual(snapshot);
    expect(listed.get(name)?.seq ?? Number.POSITIVE_INFINITY, repeatCommand()).toBeGreaterThanOrEqual(
      before.journal.length,
    );
    // Only a few are retained, or each start would have more to compare.
    for (const old of [...listed.keys()].slice(0, -2)) {
      acknowledged.delete(old);
      expect((await server.sim("DELETE", `/snapshots/${old}`)).status).toBe(200);
    }
  }
  const { snapshots } = (await server.sim("GET", "/snapshots")).body;
  const { name, seq } = snapshots.at(-1);
  const { journal } = await readContents(server);
  expect((await server.sim("POST", `/snapshots/${name}/restore`, {})).status, repeatCommand()).toBe(200);
  expect((await readContents(server)).journal, repeatCommand()).toEqual(journal.slice(0, seq));
});

test("killed during a restore, the world is entirely the old one or the snapshot, and the old one is stored", async () => {
  const data = largeWorld();
  const draw = randomDraws("kill restore");
  let server = await startServer(data, [], { key: API_KEY });
  expect((await server.sim("POST", "/snapshots", { name: "kept" })).status).toBe(201);
  const kept = await readContents(server);
  const took = await timed(() => server.sim("POST", "/snapshots/kept/restore", {}));
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (let key = 0; key < 5; key += 1)
      expect((await server.api("POST", "/api_keys", { key_name: `${round} ${key}` })).status).toBe(200);
    const previous = await readContents(server);
    const formerSnapshots = await automaticOf(server);
    const response = await runUntilKilled(
      draw() % Math.ceil(took * BEYOND),
      server,
      server.sim("POST", "/snapshots/kept/restore", {}),
    );
    tally.add("restore", response === undefined);
    server = await restartAfterKill(data);
    const now = await readContents(server);
    const automatic = await automaticOf(server);
    if (response?.status === 200) expect(now.history, repeatCommand()).toBe(response.body.history_id);
    if (now.history === previous.history) {
      expect(now, repeatCommand()).toEqual(previous);
      expect(automatic, repeatCommand()).toEqual(formerSnapshots);
    } else {
      expect({ ...now, history: "" }, repeatCommand()).toEqual({ ...kept, history: "" });
      const [made, ...others] = automatic.filter(
        ({ name }) => !formerSnapshots.some((known) => known.name === name),
      );
      expect(others, repeatCommand()).toEqual([]);
      expect(made, repeatCommand()).toMatchObject({
        seq: previous.journal.length,
        history_id: previous.history,
      });
      if (response?.status === 200) expect(made.name, repeatCommand()).toBe(response.body.former_kept_as);
    }
    for (const { name } of automatic)
      expect((await server.sim("DELETE", `/snapshots/${name}`)).status).toBe(200);
  }
});

test.each(["at its current state", "in the past"])(
  "killed during a fork %s, the fork is complete or absent, and the world loses nothing",
  async (where) => {
    const data = largeWorld();
    const draw = randomDraws(`kill fork ${where}`);
    let server = await startServer(data, [], { key: API_KEY });
    const { journal } = await readContents(server);
    const point = () =>
      where === "in the past"
        ? { at: journal[Math.floor(journal.length * (0.2 + (draw() % 700) / 1_000))]?.seq }
        : {};
    const took = await timed(() => server.sim("POST", "/worlds", { name: "undisturbed", ...point() }));
    await server.sim("DELETE", "/worlds/undisturbed");
    for (let round = 1; round <= ROUNDS; round += 1) {
      const name = `round-${round}`;
      const forkPoint = point();
      const before = await readContents(server);
      const then =
        "at" in forkPoint
          ? JSON.stringify((await server.sim("GET", `/state?at=${forkPoint.at}`)).body)
          : undefined;
      const writing = writeKeys(server, name);
      const response = await runUntilKilled(
        draw() % Math.ceil(took * BEYOND),
        server,
        server.sim("POST", "/worlds", { name, ...forkPoint }),
      );
      tally.add(`fork ${where}`, response === undefined);
      server = await restartAfterKill(data);
      const after = await expectKept(server, before, await writing);
      const isThere = (await server.sim("GET", "/worlds")).body.worlds.some((world) => world.name === name);
      if (response !== undefined) expect([response.status, isThere], repeatCommand()).toEqual([201, true]);
      if (!isThere) continue;
      const fork = await readContents(inWorld(server, name));
      if (then !== undefined) expect(fork.state, repeatCommand()).toBe(then);
      else expect(fork.journal.length, repeatCommand()).toBeGreaterThanOrEqual(before.journal.length);
      expect(fork.journal, repeatCommand()).toEqual(after.journal.slice(0, fork.journal.length));
      expect(fork.history, repeatCommand()).not.toBe(after.history);
      expect((await server.sim("DELETE", `/worlds/${name}`)).status).toBe(200);
    }
  },
);

test("killed during a fork with its own seed, the fork has that seed or is absent", async () => {
  const data = largeWorld();
  const draw = randomDraws("kill fork seed");
  let server = await startServer(data, [], { key: API_KEY });
  const took = await timed(() => server.sim("POST", "/worlds", { name: "undisturbed", seed: 1 }));
  await server.sim("DELETE", "/worlds/undisturbed");
  for (let round = 1; round <= ROUNDS; round += 1) {
    const fork = { name: `round-${round}`, seed: 1_000 + round };
    // The steps after the copy is moved into place are the last part.
    const after = took * 0.4 + (draw() % Math.ceil(took * 0.6 * BEYOND));
    const response = await runUntilKilled(after, server, server.sim("POST", "/worlds", fork));
    tally.add("fork with a seed", response === undefined);
    server = await restartAfterKill(data);
    if (!(await server.sim("GET", "/worlds")).body.worlds.some(({ name }) => name === fork.name)) continue;
    expect((await inWorld(server, fork.name).sim("GET", "/state")).body.world.seed, repeatCommand()).toBe(
      fork.seed,
    );
    await server.sim("DELETE", `/worlds/${fork.name}`);
  }
});

test("killed during the deletion of a world, the world and its snapshots are all there or all gone", async () => {
  const data = largeWorld();
  const draw = randomDraws("kill delete");
  let server = await startServer(data, [], { key: API_KEY });
  const fork = async () => {
    expect((await server.sim("POST", "/worlds", { name: "side" })).status, repeatCommand()).toBe(201);
    const side = inWorld(server, "side");
    expect((await side.sim("GET", "/snapshots")).body, repeatCommand()).toEqual({ snapshots: [] });
    for (const name of ["one", "two"])
      expect((await side.sim("POST", "/snapshots", { name })).status).toBe(201);
  };
  await fork();
  const took = await timed(() => server.sim("DELETE", "/worlds/side"));
  for (let round = 1; round <= ROUNDS; round += 1) {
    await fork();
    const previous = await readContents(inWorld(server, "side"));
    const response = await runUntilKilled(
      draw() % Math.ceil(took * BEYOND),
      server,
      server.sim("DELETE", "/worlds/side"),
    );
    tally.add("delete", response === undefined);
    server = await restartAfterKill(data);
    const isThere = (await server.sim("GET", "/worlds")).body.worlds.some(({ name }) => name === "side");
    if (response !== undefined) expect([response.status, isThere], repeatCommand()).toEqual([200, false]);
    if (!isThere) continue;
    const side = inWorld(server, "side");
    expect(await readContents(side), repeatCommand()).toEqual(previous);
    expect(
      (await side.sim("GET", "/snapshots")).body.snapshots.map(({ name }) => name),
      repeatCommand(),
    ).toEqual(["one", "two"]);
    expect((await server.sim("DELETE", "/worlds/side")).status).toBe(200);
  }
});

test("killed during compaction, the world is unchanged and the remaining history is its latest part", async () => {
  const data = largeWorld();
  const draw = randomDraws("kill compact");
  let server = await startServer(data, [], { key: API_KEY });
  const whole = await readContents(server);
  const took = await timed(() => server.sim("POST", "/compact", { keep: "1d" }));
  await server.kill("SIGKILL");
  for (let round = 1; round <= ROUNDS; round += 1) {
    rmSync(join(data, "worlds"), { recursive: true });
    copyWorlds(template.path, data);
    server = await startServer(data, [], { key: API_KEY });
    const writing = writeKeys(server, `round ${round}`);
    const compacted = server.sim("POST", "/compact", { keep: `${1 + (draw() % 12)}d` });
    const response = await runUntilKilled(draw() % Math.ceil(took * BEYOND), server, compacted);
    tally.add("compact", response === undefined);
    server = await restartAfterKill(data);
    const { forgotten_seq } = (await server.sim("GET", "/health")).body.history;
    if (response !== undefined)
      expect([response.status, response.body.forgotten_seq], repeatCommand()).toEqual([200, forgotten_seq]);
    const after = await readContents(server);
    const kept = whole.journal.slice(forgotten_seq);
    expect(after.journal.slice(0, kept.length), repeatCommand()).toEqual(kept);
    await expectKeys(server, await writing);
    const { api_keys: _, seq: __, at: ___, numbers: ____, ...state } = JSON.parse(after.state);
    expect(JSON.parse(whole.state), repeatCommand()).toMatchObject(state);
    await server.kill("SIGKILL");
  }
});

test("killed during the upgrade of an older file, the next start upgrades it and stores the old file once", async () => {
  const draw = randomDraws("kill upgrade");
  const twin = await startServer(directoryOfOldFile(), [], { key: API_KEY });
  const upgraded = await readContents(twin);
  await twin.kill("SIGKILL");
  const old = readFileSync(OLD_FILE);
  for (let round = 1; round <= ROUNDS; round += 1) {
    const data = directoryOfOldFile();
    const starting = spawnStandin(["serve", "--data", data, "--port", "0", "--json"]);
    // The upgrade is a small part of a start, so the time counts from its first visible file.
    while (starting.process.exitCode === null && readdirSync(join(data, "worlds")).length === 1)
      await new Promise(setImmediate);
    const ready = starting.waitForOutput(/^.*\n/).then(
      () => true,
      () => undefined,
    );
    tally.add("upgrade", (await runUntilKilled((draw() % 600) / 10, starting, ready)) === undefined);
    const server = await restartAfterKill(data);
    expect({ ...(await readContents(server)), history: "" }, repeatCommand()).toEqual({
      ...upgraded,
      history: "",
    });
    const { snapshots } = (await server.sim("GET", "/snapshots")).body;
    expect(
      snapshots.map(({ name }) => name),
      repeatCommand(),
    ).toEqual(["auto-before-upgrade"]);
    expect(
      readFileSync(join(data, "snapshots/default/auto-before-upgrade.sqlite")).equals(old),
      repeatCommand(),
    ).toBe(true);
    await server.kill("SIGKILL");
  }
});

test("a killed export leaves the world unchanged and the file complete or absent, and can be repeated", async () => {
  const data = largeWorld();
  const draw = randomDraws("kill export");
  const before = readFileSync(join(data, WORLD));
  const took = await timed(async () =>
    expect((await runStandin(["export", data, "--out", join(testDirectory(), "out.sqlite")])).code).toBe(0),
  );
  for (let round = 1; round <= ROUNDS; round += 1) {
    const folder = testDirectory();
    const out = join(folder, "out.sqlite");
    const exporting = spawnStandin(["export", data, "--out", out]);
    const done = await runUntilKilled(draw() % Math.ceil(took * BEYOND), exporting, waitForExit(exporting));
    tally.add("export", done?.code !== 0);
    expect(readFileSync(join(data, WORLD)).equals(before), repeatCommand()).toBe(true);
    if (done?.code === 0) expect(existsSync(out), repeatCommand()).toBe(true);
    if (existsSync(out)) expect(await verify(out), repeatCommand()).toBeUndefined();
    else expect((await runStandin(["export", data, "--out", out])).code, repeatCommand()).toBe(0);
    expect(
      readdirSync(folder).filter((file) => !/-(wal|shm|head)$/.test(file)),
      repeatCommand(),
    ).toEqual(["out.sqlite"]);
  }
});

test("a killed import leaves a complete world or none, and can be repeated", async () => {
  const source = join(template.path, WORLD);
  const draw = randomDraws("kill import");
  const data = largeWorld();
  const took = await timed(async () =>
    expect((await runStandin(["import", source, "--data", data, "--world", "undisturbed"])).code).toBe(0),
  );
  const whole = readWhole(await startServer(data, [], { key: API_KEY }));
  const { state, journal } = await whole;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const name = `round-${round}`;
    const importing = spawnStandin(["import", source, "--data", data, "--world", name]);
    const done = await runUntilKilled(draw() % Math.ceil(took * BEYOND), importing, waitForExit(importing));
    tally.add("import", done?.code !== 0);
    const server = await restartAfterKill(data);
    const isThere = (await server.sim("GET", "/worlds")).body.worlds.some((world) => world.name === name);
    if (done?.code === 0) expect(isThere, repeatCommand()).toBe(true);
    if (isThere) {
      expect(await readContents(inWorld(server, name)), repeatCommand()).toMatchObject({ state, journal });
      await server.sim("DELETE", `/worlds/${name}`);
    }
    await server.kill("SIGTERM");
  }
  const again = await runStandin(["import", source, "--data", data, "--world", "again"]);
  expect(again.code, repeatCommand()).toBe(0);
});

/** The state of the world as the server reports it, before it is stopped. */
async function readWhole(server: RunningServer): Promise<WorldContents> {
  const seen = await readContents(server);
  await server.kill("SIGTERM");
  return seen;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Changes the world until the server is gone; returns the names of the acknowledged keys. */
async function writeKeys(client: ServerClient, mark: string): Promise<readonly string[]> {
  const acknowledged: string[] = [];
  const lane = async (number: number) => {
    for (let key = 0; ; key += 1) {
      const name = `${mark} ${number} ${key}`;
      try {
        const { status } = await client.api("POST", "/api_keys", { key_name: name });
        if (status === 200) acknowledged.push(name);
        else return;
      } catch (error) {
        if (error instanceof TypeError) return;
        throw error;
      }
    }
  };
  await Promise.all([lane(1), lane(2)]);
  return acknowledged;
}

/** Checks that the world has its previous state and all changes acknowledged since. */
async function expectKept(
  server: ServerClient,
  before: WorldContents,
  keys: readonly string[],
): Promise<WorldContents> {
  const after = await readContents(server);
  expect(after.history, repeatCommand()).toBe(before.history);
  expect(after.journal.slice(0, before.journal.length), repeatCommand()).toEqual(before.journal);
  expect(
    after.journal.map(({ seq }) => seq),
    repeatCommand(),
  ).toEqual(after.journal.map((_, index) => index + 1));
  await expectKeys(server, keys);
  return after;
}

async function expectKeys(server: ServerClient, keys: readonly string[]): Promise<void> {
  const names = new Set((await server.sim("GET", "/state")).body.api_keys.map(({ name }) => name));
  expect(
    keys.filter((name) => !names.has(name)),
    repeatCommand(),
  ).toEqual([]);
}

async function automaticOf(server: ServerClient) {
  const { snapshots } = (await server.sim("GET", "/snapshots")).body;
  return snapshots.filter(({ kind }) => kind === "automatic");
}

function directoryOfOldFile(): string {
  const data = testDirectory();
  mkdirSync(join(data, "worlds"));
  copyFileSync(OLD_FILE, join(data, WORLD));
  return data;
}
