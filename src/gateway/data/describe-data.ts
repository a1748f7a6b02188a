import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BranchData } from "../../platform/branch-data/branch-data.ts";
import type { SimTime } from "../../platform/core/time.ts";
import { sizeOnDisk } from "../../volumes/volume-size.ts";
import type { Volumes } from "../../volumes/volumes.ts";

export type DataDescription = {
  /** The major version of Postgres that wrote the data. */
  readonly pgVersion: number;
  /** The latest instant whose data is known to be stored. */
  readonly asOf: SimTime;
  /** Whether nothing was written after `asOf`. */
  readonly isExact: boolean;
  /** On disk; 0 if the branch only refers to the data of another one. */
  readonly sizeBytes: number;
  /** Number of positions that are known by their instant, since `since`. */
  readonly points: number;
  /** Absent: since the volume exists. */
  readonly since?: SimTime;
};

/** `undefined` if there is no data. Throws `MissingVolume` if it was deleted. */
export async function describeData(volumes: Volumes, row: BranchData): Promise<DataDescription | undefined> {
  const { volumeId, at, lsn, writes, since } = row;
  if (volumeId === undefined) return undefined;
  const volume = volumes.volume(volumeId);
  const [base] = volume.bases;
  const cluster = existsSync(volume.dataDirectory) ? volume.dataDirectory : (base?.path ?? "");
  const pgVersion = Number(readFileSync(join(cluster, "PG_VERSION"), "utf8"));
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
