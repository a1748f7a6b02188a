import type { Branch, BranchEvent } from "../../model/branch.ts";
import type { DataSource } from "../../model/branch-data.ts";
import type { SnapshotEvent } from "../../model/branch-snapshot.ts";
import type { Evolvers } from "../../world/handlers.ts";
import { defaultBranchOf } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { addBranchData, replaceBranchData } from "../branch-data/evolve-branch-data.ts";
import { deleteBranchRecords } from "../settings/evolve-settings-record.ts";
import { deleteUsage } from "../usage/meter.ts";
import { beginChildBranches, meterChildBranches } from "../usage/meter-child-branches.ts";
import { beginSnapshots, meterSnapshots } from "../usage/meter-snapshots.ts";
import { beginStorage, meterStorage } from "../usage/meter-storage.ts";
import { expirationFrom } from "./branch-expiration.ts";
import { withContent } from "./content-history.ts";
import { advanceRoleNumber } from "./role.ts";

export const branchEvolvers = {
  BranchCreated(world, { at, branch, dataFrom = dataSourceOf(branch) }) {
    meterChildBranches(world, branch.projectId, at);
    world.numbers.branch = branch.number;
    world.numbers.database += branch.databases.length;
    advanceRoleNumber(world, branch.roles);
    world.branches.set(branch);
    if (dataFrom !== undefined)
      addBranchData(world, branch.id, dataFrom, branch.initSource === "schema-only");
    beginStorage(world, branch, branch.createdAt);
    beginChildBranches(world, branch.projectId, at);
  },
  BranchBecameReady(world, event) {
    const { at } = event;
    world.branches.set({ ...branchOf(world, event), state: "ready", stateChangedAt: at, updatedAt: at });
  },
  BranchUpdated(world, event) {
    world.branches.set({ ...branchOf(world, event), ...event.changes, updatedAt: event.at });
  },
  BranchExpirationSet(world, event) {
    const { at, expiresAt } = event;
    world.branches.set({
      ...withoutExpiration(branchOf(world, event)),
      ...expirationFrom(expiresAt, at),
      updatedAt: at,
    });
  },
  BranchSetAsDefault(world, event) {
    const { at, projectId } = event;
    const branch = branchOf(world, event);
    const previous = defaultBranchOf(world, projectId);
    if (previous !== undefined) world.branches.set({ ...previous, default: false, updatedAt: at });
    world.branches.set({ ...branch, default: true, updatedAt: at });
  },
  BranchMoved(world, event) {
    const branch = branchOf(world, event);
    meterStorage(world, branch.id, event.at);
    meterChildBranches(world, branch.projectId, event.at);
    world.branches.set({ ...branch, parentId: event.parentId, updatedAt: event.at });
    beginChildBranches(world, branch.projectId, event.at);
  },
  BranchRestored(world, event) {
    const { at, content, parentId, parentTimestamp } = event;
    const { dataFrom = { id: parentId, at: parentTimestamp } } = event;
    meterStorage(world, event.branchId, at);
    const branch = branchOf(world, event);
    meterChildBranches(world, branch.projectId, at);
    replaceBranchData(world, branch, dataFrom, at);
    const { parentLsn: _, ...rest } = withContent(world, branch, content, at);
    const lsn = event.parentLsn === undefined ? {} : { parentLsn: event.parentLsn };
    world.branches.set({
      ...rest,
      parentId,
      parentTimestamp,
      ...lsn,
      state: "resetting",
      stateChangedAt: at,
      lastResetAt: at,
    });
    beginChildBranches(world, branch.projectId, at);
  },
  BranchDeleted(world, event) {
    const { at, recoverableUntil } = event;
    const branch = branchOf(world, event);
    meterStorage(world, branch.id, at);
    meterChildBranches(world, branch.projectId, at);
    world.branches.set({
      ...branch,
      deletedAt: at,
      ...(recoverableUntil === undefined ? {} : { recoverableUntil }),
    });
  },
  BranchRecovered(world, event) {
    const { deletedAt: _, recoverableUntil: __, ...rest } = withoutExpiration(branchOf(world, event));
    const branch = { ...rest, updatedAt: event.at };
    meterChildBranches(world, branch.projectId, event.at);
    world.branches.set(branch);
    beginStorage(world, branch, event.at);
    beginChildBranches(world, branch.projectId, event.at);
  },
  BranchRemoved(world, event) {
    const { id, projectId } = branchOf(world, event);
    meterChildBranches(world, projectId, event.at);
    deleteBranchRecords(world, id);
    deleteUsage(world, id);
    world.branchData.delete(id);
    world.branches.delete(id);
  },
} satisfies Evolvers<BranchEvent>;

export const snapshotEvolvers = {
  SnapshotCreated(world, event) {
    const { at, snapshot } = event;
    const { dataFrom = { id: snapshot.sourceBranchId, at: snapshot.timestamp } } = event;
    meterSnapshots(world, snapshot.projectId, at);
    world.numbers.snapshot = snapshot.number;
    world.branchSnapshots.set(snapshot);
    beginSnapshots(world, snapshot.projectId, at);
    addBranchData(world, snapshot.id, dataFrom);
    const branch = snapshot.manual ? undefined : world.branches.get(snapshot.sourceBranchId);
    if (branch?.backupSchedule !== undefined) {
      world.branches.set({ ...branch, backupSchedule: { ...branch.backupSchedule, after: at } });
    }
  },
  SnapshotRenamed(world, { at, snapshotId, name }) {
    const snapshot = world.branchSnapshots.get(snapshotId);
    if (snapshot === undefined) throw new Error(`SnapshotRenamed: there is no snapshot ${snapshotId}`);
    world.branchSnapshots.set({ ...snapshot, name, updatedAt: at });
  },
  SnapshotDeleted(world, { at, snapshotId }) {
    const snapshot = world.branchSnapshots.get(snapshotId);
    if (snapshot !== undefined) meterSnapshots(world, snapshot.projectId, at);
    world.branchData.delete(snapshotId);
    world.branchSnapshots.delete(snapshotId);
  },
  BackupScheduleSet(world, event) {
    const { at, items } = event;
    world.branches.set({ ...branchOf(world, event), backupSchedule: { items, after: at } });
  },
} satisfies Evolvers<SnapshotEvent>;

function branchOf(
  world: World,
  { type, branchId }: { readonly type: string; readonly branchId: string },
): Branch {
  const branch = world.branches.get(branchId);
  if (branch === undefined) throw new Error(`${type}: there is no branch ${branchId}`);
  return branch;
}

function dataSourceOf({ parentId, parentTimestamp: at }: Branch): DataSource | undefined {
  return parentId === undefined || at === undefined ? undefined : { id: parentId, at };
}

function withoutExpiration({ expiresAt: _, ttlSeconds: __, ...branch }: Branch): Branch {
  return branch;
}
