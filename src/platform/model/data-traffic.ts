import { addChildBranches, type ChildBranchUse, childBranchesSince } from "./child-branch-use.ts";
import { addSnapshotUse, type SnapshotUse, snapshotUseSince } from "./snapshot-use.ts";
import { addStorage, type StorageUse, storageSince } from "./storage-use.ts";

/** Data that the Postgres of computes has written and sent, in bytes. */
export type DataTraffic = {
  /** Log that Postgres has written. */
  readonly writtenBytes: number;
  /** Data sent to clients. */
  readonly transferredBytes: number;
};

export const NO_TRAFFIC: DataTraffic = { writtenBytes: 0, transferredBytes: 0 };

/** Traffic, plus storage, child branches and snapshots of the same interval. */
export type DataUse = DataTraffic & {
  /** Absent if nothing was stored, or if storage was not recorded. */
  readonly storage?: StorageUse;
  /** For projects only. Absent if there were no child branches, or if they were not recorded. */
  readonly children?: ChildBranchUse;
  /** For projects only. Absent if there were no charged snapshots, or if they were not recorded. */
  readonly snapshots?: SnapshotUse;
};

/** Totals that may have no data. */
type WithData = { readonly data?: DataUse };

/** The sum, as a property; absent if there is no data. */
export function sumOfData(one: WithData, other: WithData): WithData {
  if (one.data === undefined) return propertyOf(other.data);
  if (other.data === undefined) return propertyOf(one.data);
  return {
    data: {
      writtenBytes: one.data.writtenBytes + other.data.writtenBytes,
      transferredBytes: one.data.transferredBytes + other.data.transferredBytes,
      ...storageProperty(addStorage(one.data.storage, other.data.storage)),
      ...childrenProperty(addChildBranches(one.data.children, other.data.children)),
      ...snapshotsProperty(addSnapshotUse(one.data.snapshots, other.data.snapshots)),
    },
  };
}

/** The difference of `total` and `before`, as a property; absent if there is none. */
export function dataSince(total: WithData, before: WithData): WithData {
  if (total.data === undefined || before.data === undefined) return propertyOf(total.data);
  const data: DataUse = {
    writtenBytes: total.data.writtenBytes - before.data.writtenBytes,
    transferredBytes: total.data.transferredBytes - before.data.transferredBytes,
    ...storageProperty(storageSince(total.data.storage, before.data.storage)),
    ...childrenProperty(childBranchesSince(total.data.children, before.data.children)),
    ...snapshotsProperty(snapshotUseSince(total.data.snapshots, before.data.snapshots)),
  };
  const isIdle = data.writtenBytes === 0 && data.transferredBytes === 0;
  const { storage, children, snapshots } = data;
  const isNone = isIdle && [storage, children, snapshots].every((part) => part === undefined);
  return isNone ? {} : { data };
}

function propertyOf(data: DataUse | undefined): WithData {
  return data === undefined ? {} : { data };
}

function storageProperty(storage: StorageUse | undefined): { readonly storage?: StorageUse } {
  return storage === undefined ? {} : { storage };
}

function childrenProperty(children: ChildBranchUse | undefined): { readonly children?: ChildBranchUse } {
  return children === undefined ? {} : { children };
}

function snapshotsProperty(snapshots: SnapshotUse | undefined): { readonly snapshots?: SnapshotUse } {
  return snapshots === undefined ? {} : { snapshots };
}
