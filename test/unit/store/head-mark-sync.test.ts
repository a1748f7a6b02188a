import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { HeadMark, readHeadMark } from "../../../src/store/file/head-mark.ts";
import { testDirectory } from "../../support/world-files.ts";

/** Counts the files that are synced from now on, by their number. */
function countSyncs(): number[] {
  const original = fs.fsyncSync;
  const synced: number[] = [];
  fs.fsyncSync = (file) => {
    synced.push(file);
    original(file);
  };
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.fsyncSync = original;
    syncBuiltinESMExports();
  });
  return synced;
}

test("a mark is written without a sync, and a sync writes its file to disk", () => {
  const path = join(testDirectory(), "world.sqlite");
  const mark = new HeadMark(path);
  const synced = countSyncs();
  mark.write({ historyId: "history", seq: 1, chain: 2, now: 3 });
  expect(readHeadMark(path)).toMatchObject({ seq: 1 });
  expect(synced).toEqual([]);
  mark.sync();
  expect(synced).toHaveLength(1);
  mark.close();
});
