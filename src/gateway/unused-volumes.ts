import type { StoredVolume, Volumes } from "../volumes/volumes.ts";
import type { WorldsHandle, WorldView } from "../worlds/world-handle.ts";

/**
 * The volumes of deleted worlds, of histories that a restore has replaced, and of branches that were removed
 * or reset. Worlds that are closed are not opened: all branches of theirs count as used.
 */
export async function findUnusedVolumes(volumes: Volumes, worlds: WorldsHandle): Promise<StoredVolume[]> {
  // Before the worlds are listed: the volumes of a world that is created meanwhile are used.
  const stored = volumes.stored();
  if (stored.length === 0) return [];
  const listed = worlds.list();
  const mayBeUsed = new Map<StoredVolume, boolean>();
  // While one history is unknown, because its file cannot be read, each volume may belong to it.
  const isAllKnown = listed.every(({ historyId }) => historyId !== "");
  for (const volume of stored) mayBeUsed.set(volume, !isAllKnown);
  for (const { name, historyId, isOpen } of listed) {
    const ofHistory = stored.filter((volume) => volume.historyId === historyId);
    if (ofHistory.length === 0) continue;
    const world = isOpen ? worlds.world(name) : undefined;
    const used =
      world?.ok === true
        ? await world.value.transact((view) => ofHistory.filter((volume) => isOfBranch(view, volume)))
        : ofHistory;
    for (const volume of used) mayBeUsed.set(volume, true);
  }
  return stored.filter((volume) => mayBeUsed.get(volume) === false);
}

/** More branches are not created from one branch within the retained history. */
const MAX_CREATED_BRANCHES = 100_000;

/** The event that created the branch; `undefined` if it is truncated. Branches created from it mention it, too. */
export function branchSeqOf(view: WorldView, branchId: string): number | undefined {
  return view
    .eventsAbout(branchId, MAX_CREATED_BRANCHES, "BranchCreated")
    .find((event) => event.type === "BranchCreated" && event.branch.id === branchId)?.seq;
}

/** A branch that can be recovered is in its table until the recovery period ends. */
function isOfBranch(view: WorldView, { branchId, branchSeq }: StoredVolume): boolean {
  if (view.world.branches.get(branchId) === undefined) return false;
  const seq = branchSeqOf(view, branchId);
  return seq === undefined || branchSeq === undefined || seq === branchSeq;
}
