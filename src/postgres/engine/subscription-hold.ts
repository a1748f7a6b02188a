import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { heldDirectory } from "../machine/socket-directories.ts";
import type { StartRequest } from "./engine.ts";

/** The library that connects to publishers. Each process loads it by this name before it reads its subscription. */
const LIBRARY = "libpqwalreceiver";
const SUFFIXES = [".so", ".dylib"];

/**
 * Settings for the workers of subscriptions. While they are held, Postgres finds an empty file in the place of the library, so
 * that they end before they connect. In contrast to settings of Postgres with this effect, the hold ends without a restart.
 */
export function holdSubscriptions(
  subscriptions: StartRequest["subscriptions"],
  socketDirectory: string,
): Readonly<Record<string, string | number>> {
  if (subscriptions === "connect") return {};
  if (subscriptions === undefined) return { max_logical_replication_workers: 0 };
  const directory = heldDirectory(socketDirectory);
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

export function releaseSubscriptions(socketDirectory: string): void {
  rmSync(heldDirectory(socketDirectory), { recursive: true, force: true });
}
