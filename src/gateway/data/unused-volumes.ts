import type { Volumes } from "../../volumes/volumes.ts";
import type { WorldsHandle } from "../../worlds/world-handle.ts";

/**
 * The volumes that no world and no snapshot of a world refers to. None while one of them cannot be read: each
 * volume may belong to it.
 */
export async function findUnusedVolumes(volumes: Volumes, worlds: WorldsHandle): Promise<string[]> {
  // Before the worlds are read: a volume that is created meanwhile is used.
  const stored = volumes.stored();
  if (stored.length === 0) return [];
  const inUse = await worlds.volumesInUse();
  if (inUse === undefined) return [];
  return stored.filter((id) => !inUse.has(id) && !volumes.isPinned(id));
}
