import { copyFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { World } from "../../../src/platform/world/world.ts";
import { takeCheckpoint } from "../../../src/simulation/checkpoint.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
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
function open(change: (sqlite: BetterSqlite3.Database) => void = () => undefined): World {
  copies += 1;
  const path = join(directory, `copy-${copies}.sqlite`);
  copyFileSync(original, path);
  const sqlite = new BetterSqlite3(path);
  change(sqlite);
  sqlite.close();
  const store = openStore(path, { migrationsFolder: MIGRATIONS, fullCheckMaxBytes: 0 });
  onTestFinished(() => store.close());
  return store.world;
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
