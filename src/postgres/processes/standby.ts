import { renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeClusterFile } from "../engine/cluster-files.ts";
import type { EngineAddress } from "../engine/engine.ts";

/** Makes Postgres replay the log of another cluster until it is stopped. */
const STANDBY_SIGNAL = "standby.signal";

/** Name of the link in the directory of a standby's socket to the directory of its primary's socket. */
const PRIMARY = "primary";

export const STANDBY_SETTINGS = {
  hot_standby: "on",
  archive_mode: "off",
  // Restores log that the primary has removed since the copy. The archive is next to the data directory.
  restore_command: "test -f ../wal/%f && cp ../wal/%f %p",
};

export function writeStandbySignal(dataDirectory: string): void {
  writeClusterFile(join(dataDirectory, STANDBY_SIGNAL), "");
}

/**
 * Links to the directory of the primary's socket, and returns the link. It is replaced when the primary has another
 * socket, so that the standby's settings stay the same.
 */
export function linkPrimary(socketDirectory: string, primary: EngineAddress): string {
  const link = join(socketDirectory, PRIMARY);
  const unfinished = `${link}.unfinished`;
  rmSync(unfinished, { force: true });
  symlinkSync(dirname(primary.path), unfinished);
  renameSync(unfinished, link);
  return link;
}
