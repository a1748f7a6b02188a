import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

type SyncResult = NodeJS.ErrnoException | null;

export const IO_ERROR: NodeJS.ErrnoException = new Error("EIO: i/o error, fdatasync");

/** Holds syncs of the thread pool until the test ends them, and fails those that block while `failsAtOnce` is set. */
export function holdSyncs() {
  const { fdatasync, fdatasyncSync, fsyncSync } = fs;
  const held: ((result: SyncResult) => void)[] = [];
  const syncs = {
    failsAtOnce: false,
    /** The number of syncs that are under way. */
    get held() {
      return held.length;
    },
    /** The descriptor of the last one. */
    file: -1,
    /** Ends the first sync that is under way. */
    end(result: SyncResult = null) {
      held.shift()?.(result);
    },
    /** Ends the one that began last. */
    endLast() {
      held.pop()?.(null);
    },
  };
  const unlessFailing =
    (sync: (file: number) => void): ((file: number) => void) =>
    (file) => {
      if (syncs.failsAtOnce) throw IO_ERROR;
      sync(file);
    };
  const hold = (file: number, callback: (result: SyncResult) => void) => {
    syncs.file = file;
    held.push(callback);
  };
  Object.assign(fs, {
    fdatasync: hold,
    fdatasyncSync: unlessFailing(fdatasyncSync),
    fsyncSync: unlessFailing(fsyncSync),
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    while (held.length > 0) syncs.end();
    Object.assign(fs, { fdatasync, fdatasyncSync, fsyncSync });
    syncBuiltinESMExports();
  });
  return syncs;
}
