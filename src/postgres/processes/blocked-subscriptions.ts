import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StartRequest } from "../engine/engine.ts";
import { blockedDirectory } from "../machine/socket-directories.ts";

/** The library that connects to publishers. Each process loads it by this name before it reads its subscription. */
const LIBRARY = "libpqwalreceiver";
const SUFFIXES = [".so", ".dylib"];

/**
 * Settings that keep the workers of subscriptions from connecting. While they are blocked, Postgres finds an empty file
 * instead of the library, so they end before they connect. No setting of Postgres can be ended without a restart.
 */
export function blockSubscriptions(
  subscriptions: StartRequest["subscriptions"],
  socketDirectory: string,
): Readonly<Record<string, string | number>> {
  if (subscriptions === "connect") return {};
  if (subscriptions === undefined) return { max_logical_replication_workers: 0 };
  const directory = blockedDirectory(socketDirectory);
  mkdirSync(directory);
  // The user of Postgres reads them, whatever the mask of this process is.
  chmodSync(directory, 0o755);
  for (const suffix of SUFFIXES) {
    const library = join(directory, `${LIBRARY}${suffix}`);
    writeFileSync(library, "", { flag: "wx" });
    chmodSync(library, 0o644);
  }
  return { dynamic_library_path: `${directory}:$libdir` };
}

export function unblockSubscriptions(socketDirectory: string): void {
  rmSync(blockedDirectory(socketDirectory), { recursive: true, force: true });
}
