import { join } from "node:path";
import type BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, expect } from "vitest";
import { openStore } from "../../../src/store/file/open-world.ts";
import { verifyFile } from "../../../src/store/file/verify-world.ts";
import { temporaryDirectory } from "../process/process.ts";
import { SimulatedWorld } from "../rules/simulated-world.ts";
import { inMemory, OPTIONS, writeWorldFile } from "./world-files.ts";

/** Files of one world, which are written before the tests of a file and removed after them. */
export function worldFiles() {
  const { path, remove } = temporaryDirectory();
  const files = {
    /** Rows in every table; two checkpoints. */
    complete: join(path, "complete.sqlite"),
    /** World whose history begins at the first checkpoint. */
    truncated: join(path, "truncated.sqlite"),
    /** A world that is not created yet. */
    empty: join(path, "empty.sqlite"),
    simulated: new SimulatedWorld(),
    /** The last event. */
    head: 0,
    /** The events that the checkpoints follow. */
    first: 0,
    second: 0,
  };
  beforeAll(async () => {
    files.simulated = await writeWorldFile(files.complete);
    await writeWorldFile(files.truncated, undefined, { truncated: true });
    openStore(files.empty, OPTIONS).close();
    files.head = files.simulated.world.seq;
    const sqlite = inMemory(files.complete);
    [files.first = 0, files.second = 0] = sqlite
      .prepare<[], number>("SELECT seq FROM checkpoints ORDER BY seq")
      .pluck()
      .all();
  });
  afterAll(remove);
  return files;
}

/** Differences that a verification finds in a copy of a file after a change. */
export async function differencesAfter(file: string, change: (sqlite: BetterSqlite3.Database) => void) {
  const sqlite = inMemory(file);
  change(sqlite);
  const { ok, differences } = await verifyFile(sqlite, async () => undefined);
  expect(ok).toBe(differences.length === 0);
  return differences;
}
