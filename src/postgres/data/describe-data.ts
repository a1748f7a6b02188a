import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BranchData } from "../../platform/model/branch-data.ts";
import type { DataDescription } from "../../platform/model/data-description.ts";
import { sizeOnDisk } from "../volumes/volume-size.ts";
import type { Volumes } from "../volumes/volumes.ts";
import { clusterOf } from "./volume-versions.ts";

/** `undefined` if there is no data. Throws `MissingVolume` if it was deleted. */
export async function describeData(volumes: Volumes, row: BranchData): Promise<DataDescription | undefined> {
  const { volumeId, at, lsn, writes, since } = row;
  if (volumeId === undefined) return undefined;
  const volume = volumes.volume(volumeId);
  const pgVersion = Number(readFileSync(join(clusterOf(volume), "PG_VERSION"), "utf8"));
  if (writes !== true) {
    const mark = volume.marks.find(at);
    const isExact = lsn !== undefined || mark?.at === at;
    return { pgVersion, asOf: at, isExact, sizeBytes: 0, points: 1 };
  }
  const marks = volume.marks.all();
  return {
    pgVersion,
    asOf: marks.at(-1)?.at ?? at,
    isExact: !volume.isOpen(),
    sizeBytes: await sizeOnDisk(dirname(volume.dataDirectory)),
    points: marks.filter((mark) => mark.at >= (since ?? mark.at)).length,
    ...(since === undefined ? {} : { since }),
  };
}
