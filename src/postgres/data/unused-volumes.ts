import { volumesOf } from "../../platform/model/branch-data.ts";
import type { WorldsHandle } from "../../worlds/world-handle.ts";
import type { Volumes } from "../volumes/volumes.ts";

export type UnusedVolumes = {
  readonly removable: readonly string[];
  /** Something still works on these, or has just created them for a world. */
  readonly pinned: readonly string[];
};

/**
 * The volumes that no world and no snapshot of a world refers to, except those whose base another one needs.
 * None while a world cannot be read: each volume may belong to it.
 */
export async function findUnusedVolumes(volumes: Volumes, worlds: WorldsHandle): Promise<UnusedVolumes> {
  const none = { removable: [], pinned: [] };
  // Before the worlds are read: a volume that is created meanwhile is used.
  const stored = volumes.stored();
  if (stored.length === 0) return none;
  const data = await worlds.branchData();
  if (data === undefined) return none;
  const inUse = new Set(volumesOf(data).flatMap((id) => volumes.directoriesOf(id)));
  const unused = stored.filter((id) => !inUse.has(id));
  return {
    removable: unused.filter((id) => !volumes.isPinned(id)),
    pinned: unused.filter((id) => volumes.isPinned(id)),
  };
}
