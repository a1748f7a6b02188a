import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeDirectory } from "../../../src/store/file/atomic-file.ts";
import { countSyncs } from "../../support/store/count-syncs.ts";
import { testDirectory } from "../../support/store/world-files.ts";

test("the names of a directory are synced when it is created, and not again", () => {
  const path = join(testDirectory(), "a", "b", "c", "d");
  const synced = countSyncs();
  makeDirectory(path);
  expect(statSync(path).isDirectory()).toBe(true);
  // Those of the four new directories.
  expect(synced.length).toBeGreaterThanOrEqual(4);
  synced.length = 0;
  makeDirectory(path);
  expect(synced).toEqual([]);
});

test("the name of a directory that an earlier process may have left without a sync is synced once", () => {
  const path = join(testDirectory(), "snapshots", "shop");
  mkdirSync(path, { recursive: true });
  const synced = countSyncs();
  makeDirectory(path);
  expect(synced.length).toBeGreaterThanOrEqual(2);
  synced.length = 0;
  makeDirectory(path);
  expect(synced).toEqual([]);
  rmSync(path, { recursive: true });
  makeDirectory(path);
  expect(synced.length).toBeGreaterThanOrEqual(1);
});
