import { existsSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import { expectHolds } from "../../support/properties/properties.ts";

const OPTIONS = { migrationsFolder: "migrations" };
const CLOCK = { mode: "manual", factor: 1, simAnchor: 0, wallAnchor: 0 } as const;

/** A world, and another program that reads and checkpoints its file. */
function sharedWorld() {
  const { path: directory, remove } = temporaryDirectory();
  onTestFinished(remove);
  const path = join(directory, "world.sqlite");
  const store = openStore(path, OPTIONS);
  const simulation = new Simulation(store.world, store.journal);
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
  const other = new BetterSqlite3(path, { timeout: 0 });
  const end = () => {
    other.close();
    store.close();
  };
  return { directory, store, simulation, other, write, end };
}

type Shared = ReturnType<typeof sharedWorld>;

function run(step: string, { other, write, store }: Shared): void {
  if (step === "write") write();
  else if (step === "begin reading") {
    if (!other.inTransaction) other.exec("BEGIN; SELECT count(*) FROM history");
  } else if (step === "end reading") {
    if (other.inTransaction) other.exec("COMMIT");
  } else if (step === "checkpoint") store.checkpoint();
  else if (!other.inTransaction) other.pragma(`wal_checkpoint(${step})`);
}

const STEPS = [
  "write",
  "begin reading",
  "end reading",
  "checkpoint",
  "PASSIVE",
  "RESTART",
  "TRUNCATE",
] as const;

test("a copy ends with the last commit before it, whatever other programs read or checkpoint meanwhile", async () => {
  const steps = fc.array(fc.constantFrom(...STEPS), { maxLength: 12 });
  await expectHolds(
    fc.asyncProperty(steps, steps, steps, async (before, meanwhile, later) => {
      const shared = sharedWorld();
      const { directory, store, simulation } = shared;
      const path = join(directory, "copy.sqlite");
      for (const step of before) run(step, shared);
      const { seq } = simulation.world;
      const copied = store.copyTo(path);
      // The copy has begun when all microtasks have run.
      await new Promise<void>((resolve) => process.nextTick(resolve));
      for (const step of meanwhile) run(step, shared);
      await new Promise((resolve) => setImmediate(resolve));
      for (const step of later) run(step, shared);
      await copied;
      expect(existsSync(`${path}-wal`)).toBe(false);
      const copy = openStore(path, OPTIONS);
      expect(copy.world.seq).toBe(seq);
      copy.close();
      const file = new BetterSqlite3(path, { readonly: true });
      expect(file.pragma("integrity_check", { simple: true })).toBe("ok");
      file.close();
      shared.end();
    }),
    60,
  );
});

test("a copy does not wait for a program that reads the file", async () => {
  const shared = sharedWorld();
  const { directory, store, write, other } = shared;
  run("begin reading", shared);
  write();
  const before = performance.now();
  await store.copyTo(join(directory, "copy.sqlite"));
  // Less than the time for which SQLite waits for a reader.
  expect(performance.now() - before).toBeLessThan(95);
  expect(other.inTransaction).toBe(true);
  shared.end();
});
