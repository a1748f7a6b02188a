import type { SimTime } from "../../../kernel/time.ts";
import type { Branch } from "../../model/branch.ts";
import { type BranchSnapshot, chargedBytes, type SnapshotSize } from "../../model/branch-snapshot.ts";
import type { World } from "../../world/world.ts";
import { bookData } from "./book-data.ts";
import type { SnapshotInterval } from "./usage-periods.ts";

/**
 * The size of a snapshot that is taken now. S: at the time it was taken, also if its content is that of an earlier
 * instant. D: a manual snapshot is charged in full, as is the first one of a schedule; the others of the schedule for
 * what has changed since the one before. A: that is the log, and the snapshots of a schedule that were deleted are
 * not counted.
 */
export function snapshotSizeOf(
  world: World,
  { id, projectId, logicalSizeBytes }: Branch,
  manual: boolean,
): SnapshotSize {
  const writtenBytes = world.usage.get(id)?.data?.writtenBytes ?? 0;
  const previous = manual ? undefined : newestOfSchedule(world, projectId, id);
  return {
    writtenBytes,
    ...(previous === undefined ? {} : { changedBytes: writtenBytes - previous.writtenBytes }),
    ...(logicalSizeBytes === undefined ? {} : { logicalBytes: logicalSizeBytes }),
  };
}

function newestOfSchedule(world: World, projectId: string, branchId: string): SnapshotSize | undefined {
  let newest: BranchSnapshot | undefined;
  for (const snapshot of world.branchSnapshots.by("project", projectId).values()) {
    if (snapshot.manual || snapshot.sourceBranchId !== branchId || snapshot.size === undefined) continue;
    if (newest === undefined || snapshot.number > newest.number) newest = snapshot;
  }
  return newest?.size;
}

/** Current charged size of the snapshots of a project. A: a deleted project is not charged. */
function chargedSnapshotBytes(world: World, projectId: string): number {
  if (world.projects.get(projectId)?.deletedAt !== undefined) return 0;
  let sum = 0;
  for (const { size } of world.branchSnapshots.by("project", projectId).values())
    sum += chargedBytes(size) ?? 0;
  return sum;
}

/** Current charged size of all snapshots; `undefined` if the size of one is not known. */
export function snapshotBytes(world: World): number | undefined {
  let sum = 0;
  for (const { projectId, size } of world.branchSnapshots.values()) {
    if (world.projects.get(projectId)?.deletedAt !== undefined) continue;
    const bytes = chargedBytes(size);
    if (bytes === undefined) return undefined;
    sum += bytes;
  }
  return sum;
}

/** Books the snapshots of a project since the last booking. To be called before their sizes change. */
export function meterSnapshots(world: World, projectId: string, at: SimTime): void {
  for (const interval of unbookedSnapshots(world, projectId, at)) bookData(world, projectId, interval);
}

/** From this instant on, the snapshots of a project are recorded, if any is charged. */
export function beginSnapshots(world: World, projectId: string, at: SimTime): void {
  const use = world.usage.get(projectId)?.data?.snapshots;
  if (use?.until === at || (use === undefined && chargedSnapshotBytes(world, projectId) === 0)) return;
  bookData(world, projectId, { from: at, to: at, snapshotBytes: 0 });
}

/** Empty for a project without records, and for a branch. */
export function unbookedSnapshots(world: World, projectId: string, now: SimTime): SnapshotInterval[] {
  const from = world.usage.get(projectId)?.data?.snapshots?.until;
  if (from === undefined || from >= now) return [];
  return [{ from, to: now, snapshotBytes: chargedSnapshotBytes(world, projectId) }];
}

/**
 * Postgres has reported the size of a branch for the first time, so its snapshots until then have this size, too. Those
 * of earlier releases have none.
 */
export function sizeSnapshots(
  world: World,
  { id, projectId }: Branch,
  logicalBytes: number,
  at: SimTime,
): void {
  const unsized = world.branchSnapshots
    .by("project", projectId)
    .toArray()
    .filter(({ sourceBranchId, size }) => sourceBranchId === id && size?.logicalBytes === undefined);
  if (unsized.every(({ size }) => size === undefined)) return;
  meterSnapshots(world, projectId, at);
  for (const snapshot of unsized) {
    const { size } = snapshot;
    if (size !== undefined) world.branchSnapshots.set({ ...snapshot, size: { ...size, logicalBytes } });
  }
  beginSnapshots(world, projectId, at);
}
