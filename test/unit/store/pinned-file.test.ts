import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { temporaryDirectory } from "../../support/process.ts";

const OPTIONS = { migrationsFolder: "migrations" };
const CLOCK = { mode: "manual", factor: 1, simAnchor: 0, wallAnchor: 0 } as const;

test("a world that is closed while its file is pinned leaves file and log as they are, and loses nothing", async () => {
  const { path: directory, remove } = temporaryDirectory();
  onTestFinished(remove);
  const path = join(directory, "world.sqlite");
  const store = openStore(path, OPTIONS);
  const simulation = new Simulation(store.world, store.journal);
  const settings = { seed: 1, profile: "2026", plan: "paid", operations: "timed", startAt: 0 } as const;
  simulation.execute({ type: "CreateWorld", settings }, 0);
  const write = () => {
    simulation.execute({ type: "CreateAccount", name: "team" }, 0);
    simulation.commit(CLOCK, 0);
  };
  write();
  await store.whilePinned(async () => {
    const file = readFileSync(path);
    write();
    const log = store.walBytes();
    store.close();
    expect(readFileSync(path).equals(file)).toBe(true);
    expect(statSync(`${path}-wal`).size).toBe(log);
    expect(log).toBeGreaterThan(0);
  });
  const reopened = openStore(path, OPTIONS);
  expect([reopened.world.seq, reopened.world.accounts.size]).toEqual([simulation.world.seq, 2]);
  reopened.close();
});
