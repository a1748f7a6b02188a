import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/** Lists the descriptors that are synced from now on, until the end of the test. */
export function countSyncs(): number[] {
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
