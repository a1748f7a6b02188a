import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { checkSchema } from "../../../src/store/file/check-schema.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import { expectHolds } from "../../support/properties/properties.ts";

const MIGRATIONS = "migrations";
const OPTIONS = { migrationsFolder: MIGRATIONS, leavesLog: true };
const CLOCK = { mode: "manual", factor: 1, simAnchor: 0, wallAnchor: 0 } as const;

/** A world whose log another program checkpoints, and that program's connection. */
function replicatedWorld() {
  const { path: directory, remove } = temporaryDirectory();
  onTestFinished(remove);
  const path = join(directory, "world.sqlite");
  const store = openStore(path, OPTIONS);
  const simulation = new Simulation(store.world, store.journal);
  const replicator = new BetterSqlite3(path, { timeout: 0 });
  replicator.exec("PRAGMA wal_autocheckpoint = 0");
  replicator.exec("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
  onTestFinished(() => {
    replicator.close();
  });
  simulation.execute(
    {
      type: "CreateWorld",
      settings: { seed: 1, profile: "2026", plan: "paid", operations: "timed", startAt: 0 },
    },
    0,
  );
  const write = () => {
    simulation.execute({ type: "CreateAccount", name: "team" }, 0);
    simulation.commit(CLOCK, 0);
  };
  write();
  return { directory, path, store, simulation, replicator, write };
}

test("the log stays until the other program has copied it, also when the world is closed", () => {
  const { path, store, replicator, write } = replicatedWorld();
  const log = () => statSync(`${path}-wal`).size;
  for (let index = 0; index < 400; index += 1) write();
  const before = log();
  // More than SQLite moves into the file by itself.
  expect(before).toBeGreaterThan(1_000 * 4_096);
  store.checkpoint();
  expect(log()).toBe(before);
  store.close();
  expect(log()).toBe(before);
  expect(replicator.pragma("wal_checkpoint(TRUNCATE)")).toMatchObject([{ busy: 0 }]);
  expect(log()).toBe(0);
});

test("a copy has every commit, whatever the other program moves into the file meanwhile", async () => {
  const action = fc.constantFrom("write", "copy", "PASSIVE", "RESTART", "TRUNCATE", "read", "end read");
  await expectHolds(
    fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
      const { directory, store, simulation, replicator, write } = replicatedWorld();
      let copies = 0;
      let isReading = false;
      for (const step of actions) {
        if (step === "write") write();
        else if (step === "copy") {
          const path = join(directory, `copy-${copies++}.sqlite`);
          const { seq } = simulation.world;
          const copied = store.copyTo(path);
          write();
          if (!isReading) replicator.pragma("wal_checkpoint(PASSIVE)");
          await copied;
          const copy = openStore(path, { migrationsFolder: MIGRATIONS });
          expect(copy.world.seq).toBeGreaterThanOrEqual(seq);
          copy.close();
          expect(existsSync(`${path}-wal`)).toBe(false);
        } else if (step === "read" || step === "end read") {
          if (isReading !== (step === "read"))
            replicator.exec(isReading ? "COMMIT" : "BEGIN; SELECT count(*) FROM events");
          isReading = step === "read";
        } else if (!isReading) replicator.pragma(`wal_checkpoint(${step})`);
      }
      if (isReading) replicator.exec("COMMIT");
      store.close();
    }),
    25,
  );
});

test("a file that Litestream has restored is that of a world", () => {
  const { path, store } = replicatedWorld();
  store.close();
  expect(() => checkSchema(path, MIGRATIONS)).not.toThrow();
});
