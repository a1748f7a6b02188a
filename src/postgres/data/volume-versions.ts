import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Volumes } from "../volumes/volumes.ts";

/** The number of volumes whose data only this major version of Postgres can open. */
export function countVolumesOf(volumes: Volumes, major: number): number {
  return volumes.dataDirectories().filter((directory) => majorOf(directory) === major).length;
}

/** `undefined` for a volume that is deleted meanwhile. */
function majorOf(dataDirectory: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDirectory, "PG_VERSION"), "utf8"));
  } catch {
    return undefined;
  }
}
