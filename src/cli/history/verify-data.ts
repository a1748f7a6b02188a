import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BranchData, DataReference } from "../../platform/model/branch-data.ts";
import { baseFor } from "../../postgres/data/branch-volumes.ts";
import { firstSegment, LOG_DIRECTORY } from "../../postgres/engine/log-files.ts";
import { parsePosition, segmentNumber, segmentOf } from "../../postgres/engine/log-position.ts";
import { checkPages } from "../../postgres/engine/page-checksums.ts";
import type { Volume } from "../../postgres/volumes/volume.ts";
import { MissingVolume } from "../../postgres/volumes/volume-origins.ts";
import { Volumes } from "../../postgres/volumes/volumes.ts";
import { prepareReader } from "../../store/tables/stored-tables.ts";
import { openWorldDatabase } from "./world-database.ts";

export type DataVerification = {
  /** Number of references of branches and snapshots to data. */
  readonly references: number;
  /** Number of stopped clusters whose pages were compared with their checksums, and of these pages. */
  readonly clusters: number;
  readonly pages: number;
  readonly differences: readonly { readonly where: string; readonly message: string }[];
};

/** Checks that all data that the world in a file refers to exists, and is not damaged. */
export async function verifyData(file: string, volumesDirectory: string): Promise<DataVerification> {
  const verification = await verifyOnce(file, volumesDirectory);
  // A server may have deleted data after its world did not refer to it any more.
  return verification.differences.length === 0 ? verification : verifyOnce(file, volumesDirectory);
}

async function verifyOnce(file: string, volumesDirectory: string): Promise<DataVerification> {
  const volumes = new Volumes(volumesDirectory, dirname(volumesDirectory));
  const differences: { where: string; message: string }[] = [];
  const stopped = new Set<string>();
  let references = 0;
  for (const { past = [], ...row } of readBranchData(file))
    for (const reference of [row, ...past]) {
      if (reference.volumeId === undefined) continue;
      references += 1;
      try {
        for (const cluster of requiredClusters(volumes.volume(reference.volumeId), reference))
          stopped.add(cluster);
      } catch (error) {
        if (!(error instanceof MissingVolume)) throw error;
        differences.push({ where: `data of ${row.id}`, message: error.message });
      }
    }
  let pages = 0;
  for (const cluster of stopped) {
    const checked = await checkPages(cluster);
    pages += checked.pages;
    for (const page of checked.damaged) differences.push({ where: cluster, message: `${page} is damaged` });
  }
  return { references, clusters: stopped.size, pages, differences };
}

export function readBranchData(file: string): readonly BranchData[] {
  const database = openWorldDatabase(file);
  try {
    return prepareReader<BranchData>(database.sqlite, "branchData")();
  } finally {
    database.close();
  }
}

/** The stopped clusters that the data is read from. Throws `MissingVolume` if the log up to it is not complete. */
function requiredClusters(volume: Volume, { at, lsn, writes }: DataReference): string[] {
  const position = lsn ?? volume.marks.find(at)?.lsn ?? volume.origin;
  const base = baseFor(volume, position);
  if (!existsSync(base.path)) throw new MissingVolume(`${base.path} is missing`);
  if (position !== undefined) checkLog(volume, firstSegment(base.path), parsePosition(position));
  if (writes !== true) return [base.path];
  if (!existsSync(volume.dataDirectory)) throw new MissingVolume(`${volume.dataDirectory} is missing`);
  // While an engine runs, its pages change.
  return volume.isOpen() ? [base.path] : [base.path, volume.dataDirectory];
}

function checkLog({ id, logDirectory, dataDirectory }: Volume, first: number, end: number): void {
  const stored = new Set(
    [logDirectory, join(dataDirectory, LOG_DIRECTORY)]
      .flatMap((directory) => (existsSync(directory) ? readdirSync(directory) : []))
      .flatMap((name) => segmentNumber(name) ?? []),
  );
  for (let segment = first; segment <= segmentOf(end - 1); segment += 1)
    if (!stored.has(segment)) throw new MissingVolume(`segment ${segment} of the log of ${id} is missing`);
}
