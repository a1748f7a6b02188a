import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type BetterSqlite3 from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import type { World } from "../../../src/platform/world/world.ts";
import { takeCheckpoint } from "../../../src/simulation/checkpoint.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { catchUp, type LoadedWorld, readLoadedWorld } from "../../../src/store/file/loaded-world.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { connect } from "../../../src/store/file/sqlite-connection.ts";
import { CorruptFile } from "../../../src/store/tables/journal-checksum.ts";
import { rewriteChecksums } from "../../../src/store/tables/row-checksums.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import {
  createDev,
  createShop,
  DEV,
  MAIN_COMPUTE,
  SHOP,
  worldWithBranch,
} from "../../support/rules/rule-worlds.ts";
import { after, DAY, HOUR, type Step } from "../../support/rules/rules.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";
import { copyOf, editWorldRow, inDatabase } from "../../support/store/world-files.ts";

const MIGRATIONS = "migrations";

/** A world that was read from its file, and is then continued there: a compute starts, and a branch is renamed. */
async function continuedWorld(...then: readonly Step[]) {
  const { path: directory, remove } = temporaryDirectory();
  onTestFinished(remove);
  const path = join(directory, "world.sqlite");
  const store = openStore(path, { migrationsFolder: MIGRATIONS });
  const simulated = new SimulatedWorld().use(new Simulation(store.world, store.journal));
  simulated.run(worldWithBranch());
  store.world.secrets.set({ id: "one", value: "sealed:1:a" });
  const loaded = (await readLoadedWorld(path, () => nextTurn())) as LoadedWorld;
  simulated.run(
    { type: "RecordActivity", activity: { endpointId: "ep-main", kind: "query", durationMs: 3 * HOUR } },
    after(4 * HOUR),
    { type: "UpdateBranch", ...DEV, name: "renamed" },
    ...then,
  );
  expect(store.world.seq).toBeGreaterThan(loaded.head.seq);
  return { path, loaded, store, simulated };
}

function catchUpAt(
  path: string,
  loaded: LoadedWorld,
  change: (sqlite: BetterSqlite3.Database) => void = () => undefined,
) {
  const sqlite = connect(path);
  try {
    change(sqlite);
    return catchUp(sqlite, loaded)?.world;
  } finally {
    sqlite.close();
  }
}

const contentOf = (world: World) =>
  JSON.parse(JSON.stringify([takeCheckpoint(world), world.secrets.toArray()])) as unknown;

test("a world that was read is brought up to date with the events that its file has gained, and other rows", async () => {
  const { path, loaded, store } = await continuedWorld();
  expect(loaded.world.secrets.size).toBe(0);
  store.close();
  const world = catchUpAt(path, loaded);
  expect(world).toBe(loaded.world);
  const { world: expected, close } = openStore(path, { migrationsFolder: MIGRATIONS });
  onTestFinished(close);
  expect(world && contentOf(world)).toEqual(contentOf(expected));
  expect(expected.secrets.size).toBe(1);
});

test("a store that opens its file with such a world continues it", async () => {
  const { path, loaded, store } = await continuedWorld();
  store.close();
  const reopened = openStore(path, { migrationsFolder: MIGRATIONS, loaded });
  expect(reopened.world).toBe(loaded.world);
  const simulated = new SimulatedWorld().use(new Simulation(reopened.world, reopened.journal));
  simulated.run(after(5 * HOUR), { type: "UpdateBranch", ...DEV, name: "again" });
  const { seq } = reopened.world;
  reopened.close();
  const again = openStore(path, { migrationsFolder: MIGRATIONS });
  onTestFinished(again.close);
  expect([again.world.seq, again.world.branches.get(DEV.branchId)?.name]).toEqual([seq, "again"]);
});

test("the file of another history is read again", async () => {
  const { path, loaded, store } = await continuedWorld();
  store.close();
  expect(catchUpAt(path, { ...loaded, historyId: "another" })).toBeUndefined();
  expect(
    catchUpAt(path, { ...loaded, head: { ...loaded.head, chain: loaded.head.chain + 1 } }),
  ).toBeUndefined();
  expect(catchUpAt(path, { ...loaded, head: { ...loaded.head, seq: 1_000_000 } })).toBeUndefined();
  const { world, close } = openStore(path, {
    migrationsFolder: MIGRATIONS,
    loaded: { ...loaded, historyId: "another" },
  });
  onTestFinished(close);
  expect(world).not.toBe(loaded.world);
  expect(world.branches.get(DEV.branchId)?.name).toBe("renamed");
});

test.each([
  ["a changed row differs", "UPDATE branches SET name = 'other' WHERE name = 'renamed'"],
  ["a changed row is missing", "DELETE FROM usage WHERE id = 'br-main'"],
])("a file is read again if %s from the events", async (_, statement) => {
  const { path, loaded, store } = await continuedWorld();
  store.close();
  const world = catchUpAt(path, loaded, (sqlite) => {
    expect(sqlite.prepare(statement).run().changes).toBe(1);
    rewriteChecksums(sqlite);
  });
  expect(world).toBeUndefined();
});

test("a file whose tables are older than its journal is damaged", async () => {
  const { path, loaded, store } = await continuedWorld();
  store.close();
  expect(() =>
    catchUpAt(path, loaded, (sqlite) => {
      sqlite.exec("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)");
    }),
  ).toThrow(CorruptFile);
});

test("reading a world changes neither its file nor its log", async () => {
  const { path, store } = await continuedWorld();
  const copy = `${path}.copy.sqlite`;
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, copy + suffix);
  store.close();
  const bytes = () => ["", "-wal"].map((suffix) => readFileSync(copy + suffix).toString("base64"));
  const before = bytes();
  expect((await readLoadedWorld(copy, () => nextTurn()))?.head.seq).toBeGreaterThan(0);
  expect(bytes()).toEqual(before);
});

test("a world that has not been created yet is not read", async () => {
  const { path: directory, remove } = temporaryDirectory();
  onTestFinished(remove);
  const path = join(directory, "world.sqlite");
  openStore(path, { migrationsFolder: MIGRATIONS }).close();
  expect(await readLoadedWorld(path, () => nextTurn())).toBeUndefined();
});

const restart: Step = [{ type: "RestartCompute", ...MAIN_COMPUTE }, after(HOUR)];

test.each([
  ["deleted rows", [{ type: "DeleteBranch", ...DEV }, after(DAY)]],
  [
    "two rows that exchange a unique name",
    [
      { ...createDev, id: "br-other", name: "other", queue: true },
      after(HOUR),
      { type: "UpdateBranch", ...DEV, name: "third" },
      { type: "UpdateBranch", ...SHOP, branchId: "br-other", name: "renamed" },
      { type: "UpdateBranch", ...DEV, name: "other" },
    ],
  ],
  ["more events than are read at once", Array.from({ length: 120 }, () => restart)],
] as [string, Step[]][])("a world is brought up to date over %s", async (_, steps) => {
  const { path, loaded, store } = await continuedWorld(...steps);
  store.close();
  const world = catchUpAt(path, loaded);
  const { world: expected, close } = openStore(path, { migrationsFolder: MIGRATIONS });
  onTestFinished(close);
  expect(world && contentOf(world)).toEqual(contentOf(expected));
  expect(world?.changes.list).toEqual([]);
});

test.each([
  ["", []],
  [" and new rows", [createShop, after(HOUR), createDev]],
] as [string, Step[]][])("a world is brought up to date over a reset%s, or read again", async (_, steps) => {
  const { path, loaded, store } = await continuedWorld({ type: "ResetWorld" }, ...steps);
  store.close();
  const reopened = openStore(path, { migrationsFolder: MIGRATIONS, loaded });
  const { world: expected, close } = openStore(path, { migrationsFolder: MIGRATIONS });
  onTestFinished(() => {
    reopened.close();
    close();
  });
  expect(contentOf(reopened.world)).toEqual(contentOf(expected));
});

test("a world is brought up to date although its finished operations have been pruned meanwhile", async () => {
  const { path, loaded, store } = await continuedWorld(restart);
  store.close();
  const world = catchUpAt(path, loaded, (sqlite) => {
    expect(sqlite.prepare("DELETE FROM operations").run().changes).toBeGreaterThan(3);
  });
  expect(world?.branches.get(DEV.branchId)?.name).toBe("renamed");
});

test("a file whose history begins after the world that was read is read again", async () => {
  const { path, loaded, store } = await continuedWorld(restart);
  const { journal } = store;
  await journal.storeCheckpoint(takeCheckpoint(store.world));
  journal.truncate({ eventsUpTo: store.world.seq, operationsBefore: 0 });
  store.close();
  expect(catchUpAt(path, loaded)).toBeUndefined();
});

test("a file whose history begins with the world that was read is read up to its end", async () => {
  const { path, store, simulated } = await continuedWorld(restart);
  const { journal } = store;
  await journal.storeCheckpoint(takeCheckpoint(store.world));
  const loaded = (await readLoadedWorld(path, () => nextTurn())) as LoadedWorld;
  journal.truncate({ eventsUpTo: store.world.seq, operationsBefore: 0 });
  simulated.run({ type: "UpdateBranch", ...DEV, name: "later" });
  store.close();
  expect(catchUpAt(path, loaded)?.branches.get(DEV.branchId)?.name).toBe("later");
});

test("a file is read again if a changed operation that has not finished differs from the events", async () => {
  const { path, loaded, store } = await continuedWorld({ type: "RestartCompute", ...MAIN_COMPUTE });
  store.close();
  const world = catchUpAt(path, loaded, (sqlite) => {
    const update = "UPDATE operations SET duration_ms = 1 WHERE status = 'running'";
    expect(sqlite.prepare(update).run().changes).toBe(1);
    rewriteChecksums(sqlite);
  });
  expect(world).toBeUndefined();
});

test("a file with very many new events is read again, without reading them", async () => {
  for (const [count, isRead] of [
    [20_000, true],
    [20_001, false],
  ] as const) {
    const { path, loaded, store } = await continuedWorld();
    const { seq } = store.world;
    const added = loaded.head.seq + count - seq;
    store.close();
    const caughtUp = () =>
      catchUpAt(path, loaded, (sqlite) => {
        sqlite.exec(`
          WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${added})
          INSERT INTO events (seq, at, type, payload, decision, chain)
            SELECT ${seq} + number, 0, 'ActivityDropped', '{}', 0, 0 FROM numbers`);
        editWorldRow(sqlite, (row) => Object.assign(row, { seq: seq + added, chain: 0 }));
      });
    // The events are not those of a chain.
    if (isRead) expect(caughtUp).toThrow(CorruptFile);
    else expect(caughtUp()).toBeUndefined();
  }
});

test("a file whose world has been removed is not brought up to date", async () => {
  const { path, loaded, store } = await continuedWorld();
  store.close();
  expect(catchUpAt(path, loaded, (sqlite) => sqlite.exec("DELETE FROM world"))).toBeUndefined();
});

test.each(["settings", "numbers", "at"] as const)(
  "a file with another value in the world row is read again: %s",
  async (column) => {
    const { path, loaded, store } = await continuedWorld();
    store.close();
    const world = catchUpAt(path, loaded, (sqlite) =>
      editWorldRow(sqlite, (row) => {
        if (column === "at") row["at"] -= 1;
        else {
          const value = JSON.parse(row[column]);
          const field = column === "settings" ? "seed" : "project";
          row[column] = JSON.stringify({ ...value, [field]: value[field] + 1 });
        }
      }),
    );
    expect(world).toBeUndefined();
  },
);

test("a file of an older release is not read, and a damaged one is an error", async () => {
  const old = copyOf("test/replay/fixtures/0.4.0/world.sqlite");
  expect(await readLoadedWorld(old, () => nextTurn())).toBeUndefined();
  const { path, store } = await continuedWorld();
  store.close();
  inDatabase(path, (sqlite) => sqlite.exec("UPDATE world SET now = now + 1"));
  await expect(readLoadedWorld(path, () => nextTurn())).rejects.toThrow(
    new CorruptFile("the world row is damaged"),
  );
  inDatabase(path, (sqlite) => sqlite.exec("DROP TABLE records"));
  await expect(readLoadedWorld(path, () => nextTurn())).rejects.toThrow(CorruptFile);
});
