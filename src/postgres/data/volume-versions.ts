import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BranchData } from "../../platform/model/branch-data.ts";
import type { Volume } from "../volumes/volume.ts";
import type { Volumes } from "../volumes/volumes.ts";

/** The number of volumes whose data only this major version of Postgres can open. */
export function countVolumesOf(volumes: Volumes, major: number): number {
  return volumes.dataDirectories().filter((directory) => versionIn(directory) === major).length;
}

/** The major version of Postgres that runs for the data of a branch; `undefined` if there is no data. */
export function versionOfData(volumes: Volumes, { volumeId }: BranchData): number | undefined {
  if (volumeId === undefined || !volumes.has(volumeId)) return undefined;
  return versionIn(clusterOf(volumes.volume(volumeId)));
}

/** The data directory of a volume, or of what it begins with. */
export function clusterOf({ dataDirectory, bases }: Pick<Volume, "dataDirectory" | "bases">): string {
  return existsSync(dataDirectory) ? dataDirectory : (bases[0]?.path ?? "");
}

/** `undefined` for data that is deleted in the meantime. */
function versionIn(cluster: string): number | undefined {
  try {
    return Number(readFileSync(join(cluster, "PG_VERSION"), "utf8"));
  } catch {
    return undefined;
  }
}
