import { SECOND, type SimTime } from "../../../kernel/time.ts";
import { type BranchData, type DataSource, dataOf } from "../../model/branch-data.ts";
import type { World } from "../../world/world.ts";

/** A new branch or snapshot begins with the data of its source, if that has any. */
export function addBranchData(world: World, id: string, source: DataSource, schemaOnly = false): void {
  const row = world.branchData.get(source.id);
  if (row === undefined) return;
  const reference = dataOf(row, source);
  if (reference.volumeId === undefined) return;
  world.branchData.set({ id, ...reference, ...(schemaOnly ? { schemaOnly } : {}) });
}

/** The branch has the data of the source from now on. What it had stays available within the retention. */
export function replaceBranchData(
  world: World,
  { id, projectId }: { readonly id: string; readonly projectId: string },
  source: DataSource,
  now: SimTime,
): void {
  const previous = world.branchData.get(id);
  const row = world.branchData.get(source.id);
  if (previous === undefined && row === undefined) return;
  const retention = world.projects.get(projectId)?.historyRetentionSeconds ?? 0;
  world.branchData.set({
    id,
    ...(row === undefined ? { at: now } : dataOf(row, source)),
    past: replacedData(previous ?? { id, at: now }, now, retention),
  });
}

/** The previous references of a branch whose data is replaced now, as far as they are within the retention. */
export function replacedData(
  { id: _, past = [], ...replaced }: BranchData,
  now: SimTime,
  retentionSeconds: number,
): NonNullable<BranchData["past"]> {
  return [...past, { ...replaced, until: now }].filter(
    ({ until }) => until > now - retentionSeconds * SECOND,
  );
}

/** Whether the branch or snapshot of a row exists in this world. */
export function hasOwner(world: World, id: string): boolean {
  return world.branches.get(id) !== undefined || world.branchSnapshots.get(id) !== undefined;
}
