import type { BranchData } from "../../platform/branch-data/branch-data.ts";
import type { Volumes } from "../../volumes/volumes.ts";
import type { WorldsHandle } from "../../worlds/world-handle.ts";

/**
 * The volumes that no world and no snapshot of a world refers to, and the bases of none of the others. None while one of them cannot be read: each
 * volume may belong to it.
 */
export async function findUnusedVolumes(volumes: Volumes, worlds: WorldsHandle): Promise<string[]> {
  // Before the worlds are read: a volume that is created meanwhile is used.
  const stored = volumes.stored();
  if (stored.length === 0) return [];
  const data = await worlds.branchData();
  if (data === undefined) return [];
  const inUse = new Set(volumesOf(data).flatMap((id) => volumes.directoriesOf(id)));
  return stored.filter((id) => !inUse.has(id) && !volumes.isPinned(id));
}

/** Also of the previous data of restored branches. */
function volumesOf(data: readonly BranchData[]): string[] {
  return data.flatMap(({ volumeId, past = [] }) =>
    [volumeId, ...past.map((previous) => previous.volumeId)].filter((id) => id !== undefined),
  );
}
