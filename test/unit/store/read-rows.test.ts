import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readStoredRows } from "../../../src/platform/world/stored-rows.ts";
import type { World } from "../../../src/platform/world/world.ts";
import { takeCheckpoint } from "../../../src/simulation/checkpoint.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { CorruptFile } from "../../../src/store/tables/journal-checksum.ts";
import { rewriteChecksums } from "../../../src/store/tables/row-checksums.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import { DEV, MAIN, worldWithBranch } from "../../support/rules/rule-worlds.ts";
import { after, HOUR } from "../../support/rules/rules.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";

const MIGRATIONS = "migrations";
const { path: directory, remove } = temporaryDirectory();
const original = join(directory, "original.sqlite");
const simulated = new SimulatedWorld();
let copies = 0;

/** Two branches, one with a compute that is active for three hours. */
beforeAll(() => {
  const store = openStore(original, { migrationsFolder: MIGRATIONS });
  simulated.use(new Simulation(store.world, store.journal));
  simulated.run(
    worldWithBranch(),
    { type: "RecordActivity", activity: { endpointId: "ep-main", kind: "query", durationMs: 3 * HOUR } },
    after(4 * HOUR),
    { type: "UpdateBranch", ...DEV, name: 'J\u00fcrgen "J" \\ \u0001\u007f\u2028' },
  );
  store.close();
});
afterAll(remove);

/** Opens a copy as a large file, of which some tables are read when they are needed. */
function open(change?: (sqlite: BetterSqlite3.Database) => void): World {
  return openFile(change).world;
}

function openFile(change: (sqlite: BetterSqlite3.Database) => void = () => undefined) {
  copies += 1;
  const path = join(directory, `copy-${copies}.sqlite`);
  copyFileSync(original, path);
  const sqlite = new BetterSqlite3(path);
  change(sqlite);
  sqlite.close();
  const store = openStore(path, { migrationsFolder: MIGRATIONS, fullCheckMaxBytes: 0 });
  onTestFinished(() => store.close());
  return { ...store, path };
}

/** Rows by key: usage is in the order in which it is read. */
function rowsOf(world: World): unknown {
  const { tables, ...head } = takeCheckpoint(world);
  return [
    JSON.parse(JSON.stringify(head)),
    Object.entries(tables).map(([name, rows]) => [
      name,
      Array.from(rows, (row) => JSON.stringify(row, Object.keys(row as object).sort())).sort(),
    ]),
  ];
}

test("a large file gives the same world as a small one", () => {
  const world = open();
  const { size } = simulated.world.hourlyUsage;
  expect([world.hourlyUsage.size, world.hourlyUsage.rowsOf(MAIN.branchId)]).toEqual([
    size,
    simulated.world.hourlyUsage.rowsOf(MAIN.branchId),
  ]);
  expect(world.hourlyUsage.rowsOf(MAIN.branchId).length).toBeGreaterThan(2);
  expect(rowsOf(world)).toEqual(rowsOf(simulated.world));
  expect(world.hourlyUsage.size).toBe(size);
});

test("rows are in the order of their numbers, whatever their order in the file", () => {
  const world = open((sqlite) => sqlite.exec("UPDATE branches SET rowid = 1000 - rowid"));
  expect(Array.from(world.branches.values(), ({ id }) => id)).toEqual([MAIN.branchId, DEV.branchId]);
});

test("a row is intact even if SQLite writes one of its values in another way than JavaScript", () => {
  const size = 1e21;
  const world = open((sqlite) => {
    expect(sqlite.prepare("SELECT json_array(?)").pluck().get(size)).not.toBe(JSON.stringify([size]));
    sqlite.prepare("UPDATE branches SET logical_size_bytes = ? WHERE id = ?").run(size, DEV.branchId);
    rewriteChecksums(sqlite);
  });
  expect(world.branches.get(DEV.branchId)).toMatchObject({ logicalSizeBytes: size });
});

test.each([
  [
    "changed text",
    "UPDATE branches SET name = 'x' WHERE id = 'br-dev'",
    /row "br-dev" of branches is damaged/,
  ],
  ["a text that is a blob", "UPDATE branches SET name = x'78' WHERE id = 'br-dev'", /JSON cannot hold BLOB/],
  [
    "a changed number",
    "UPDATE usage SET cu_ms = 1 WHERE id = 'br-main'",
    /row "br-main" of usage is damaged/,
  ],
])("%s is damage", (_, sql, message) => {
  expect(() => open((sqlite) => sqlite.exec(sql))).toThrow(message);
});

test("damaged usage of a branch is found when it is needed", () => {
  const world = open((sqlite) => sqlite.exec("UPDATE hourly_usage SET active_ms = 1 WHERE hour > 0"));
  for (let attempt = 0; attempt < 2; attempt += 1)
    expect(() => world.hourlyUsage.rowsOf(MAIN.branchId)).toThrow(
      /row "br-main.*" of hourly_usage is damaged/,
    );
});

describe("rows at rest", () => {
  const idsOf = (rows: Iterable<{ readonly id: string }>) => Array.from(rows, ({ id }) => id);

  test("stay in a large file until they are used", () => {
    const world = open();
    const { projects, branches, usage } = world;
    for (const table of [projects, branches, usage]) expect([...table.loaded()]).toEqual([]);
    expect(branches.get(DEV.branchId)).toEqual(simulated.world.branches.get(DEV.branchId));
    expect(idsOf(branches.loaded())).toEqual([DEV.branchId]);
    expect(branches.toArray()).toEqual(simulated.world.branches.toArray());
    while (!readStoredRows(world));
    expect(idsOf(branches.loaded())).toEqual([MAIN.branchId, DEV.branchId]);
  });

  test("of other accounts stay stored when the plan of an account changes", () => {
    const { world, journal } = openFile();
    const simulation = new Simulation(world, journal);
    for (const command of [
      { type: "CreateAccount", id: "other", name: "other", plan: "paid" },
      { type: "ChangePlan", accountId: "other", plan: "free" },
    ] as const)
      expect(simulation.execute(command, world.at)).toMatchObject({ ok: true });
    expect([...world.projects.loaded()]).toEqual([]);
  });

  test("are all in memory in a small file", () => {
    const store = openStore(original, { migrationsFolder: MIGRATIONS });
    onTestFinished(() => store.close());
    expect(idsOf(store.world.branches.loaded())).toEqual([MAIN.branchId, DEV.branchId]);
  });

  test.each([
    ["projects", "UPDATE projects SET recoverable_until = 1"],
    ["projects", "UPDATE projects SET deleted_at = 1"],
    ["projects", `UPDATE projects SET settings = '{"quota":{"active_time_seconds":1}}'`],
    ["branches", "UPDATE branches SET recoverable_until = 1"],
    ["branches", "UPDATE branches SET deleted_at = 1"],
    ["branches", "UPDATE branches SET expires_at = 1"],
    ["branches", `UPDATE branches SET backup_schedule = '{"items":[],"after":0}'`],
    ["computes", `UPDATE computes SET phase = '{"state":"init"}'`],
    ["computes", `UPDATE computes SET waiting = '[]'`],
  ] as const)("are not %s of which something may be due: %s", (name, sql) => {
    const world = open((sqlite) => {
      sqlite.exec(sql);
      rewriteChecksums(sqlite);
    });
    expect([...world[name].loaded()]).toEqual(world[name].toArray());
    expect(world[name].size).toBeGreaterThan(0);
  });

  test.each([
    ["changed", "UPDATE branches SET name = 'x' WHERE id = 'br-dev'", /row "br-dev" of branches is damaged/],
    ["lost", "DELETE FROM branches WHERE id = 'br-dev'", /row "br-dev" of branches is missing/],
  ])("that are %s while the file is open are found when they are used", (_, sql, message) => {
    const { world, path } = openFile();
    const sqlite = new BetterSqlite3(path);
    sqlite.exec(sql);
    sqlite.close();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(() => world.branches.get(DEV.branchId)).toThrow(message);
      expect(() => world.branches.toArray()).toThrow(message);
      expect(() => world.branches.readStored(9)).toThrow(message);
    }
    expect(world.branches.get(MAIN.branchId)).toBeDefined();
  });

  /** Opens a copy after a change of the root page of an index, which is the only one. */
  function openWithIndex(index: string, change: (page: Buffer) => void): World {
    const { path } = openFile();
    const sqlite = new BetterSqlite3(path);
    const select = sqlite.prepare<[string], number>("SELECT rootpage FROM sqlite_schema WHERE name = ?");
    const page = select.pluck().get(index) ?? 1;
    sqlite.pragma("wal_checkpoint(TRUNCATE)");
    sqlite.close();
    const bytes = readFileSync(path);
    change(bytes.subarray((page - 1) * PAGE_SIZE, page * PAGE_SIZE));
    const copy = `${path}-index`;
    writeFileSync(copy, bytes);
    const store = openStore(copy, { migrationsFolder: MIGRATIONS, fullCheckMaxBytes: 0 });
    onTestFinished(() => store.close());
    return store.world;
  }
  const PAGE_SIZE = 4_096;
  const removeEntry = (page: Buffer) => page.writeUInt16BE(page.readUInt16BE(3) - 1, 3);

  test.each([
    ["sqlite_autoindex_branches_1", "branches has 2 rows, but the index of its keys has 1"],
    ["branches_name", "the index branches_name of branches has 1 entries, but must have 2"],
    ["branches_default", "the index branches_default of branches has 0 entries, but must have 1"],
    ["computes_primary", /the index computes_primary of computes has \d entries, but must have \d/],
  ])("are damaged if the index %s has fewer entries than rows", (index, message) => {
    expect(() => openWithIndex(index, removeEntry)).toThrow(message);
  });

  test.each(["sqlite_autoindex_usage_1", "branches_name", "branches_default", "computes_primary"])(
    "are damaged if the page of the index %s cannot be read",
    (index) => {
      expect(() => openWithIndex(index, (page) => page.fill(0))).toThrow(CorruptFile);
    },
  );

  test.each([
    ["another key", "br-dew"],
    ["the key of another row", "br-mai"],
  ])("are damaged if the index of their keys has %s", (_, key) => {
    const change = (page: Buffer) => void page.write(key, page.indexOf(DEV.branchId));
    expect(() => openWithIndex("sqlite_autoindex_branches_1", change)).toThrow(
      "the index of the keys of branches has other keys than its rows",
    );
  });
});
