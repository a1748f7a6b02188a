import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { NeededLog } from "./engine.ts";
import { segmentNumber, segmentOf } from "./log-position.ts";

/** The directory of the log within a cluster. */
export const LOG_DIRECTORY = "pg_wal";

/** Number of the first segment of the log that a stopped cluster needs. */
export function firstSegment(cluster: string): number {
  const numbers = readdirSync(join(cluster, LOG_DIRECTORY)).flatMap((name) => segmentNumber(name) ?? []);
  return Math.min(...numbers);
}

/** Deletes the segments of an archive that no cluster needs. The short files of timelines stay. */
export async function trimLog(archive: string, needed: readonly NeededLog[]): Promise<void> {
  const ranges = needed.map(({ base, until }) => ({
    first: firstSegment(base),
    last: segmentOf(until),
  }));
  for (const name of readdirSync(archive)) {
    const number = segmentNumber(name);
    if (number === undefined) continue;
    if (!ranges.some(({ first, last }) => number >= first && number <= last)) await rm(join(archive, name));
  }
}

/** Deletes the segments of a cluster that was stopped, except the last one: its checkpoint is in that. */
export async function dropLog(cluster: string): Promise<void> {
  const directory = join(cluster, LOG_DIRECTORY);
  const names = readdirSync(directory).filter((name) => segmentNumber(name) !== undefined);
  const last = Math.max(...names.map((name) => segmentNumber(name) ?? 0));
  for (const name of names) if (segmentNumber(name) !== last) await rm(join(directory, name));
}
