import type { SimTime } from "../../kernel/time.ts";
import type { BackupScheduleItem } from "./backup-schedule.ts";
import type { BranchContent } from "./branch-content.ts";
import type { DataSource } from "./branch-data.ts";
import type { EventBase } from "./event-base.ts";
import type { BranchRef, SnapshotRef } from "./object-refs.ts";

/** S: the content of a branch at one instant, independent of the branch from then on. */
export type BranchSnapshot = {
  readonly id: string;
  readonly number: number;
  readonly projectId: string;
  readonly sourceBranchId: string;
  readonly name: string;
  /** The instant whose content it holds. */
  readonly timestamp: SimTime;
  readonly lsn?: string;
  /** False if a backup schedule created it. */
  readonly manual: boolean;
  readonly expiresAt?: SimTime;
  /** Absent in snapshots of releases up to 0.4, which are not charged. */
  readonly size?: SnapshotSize;
  readonly content: BranchContent;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

export type SnapshotSize = {
  /** The log that its branch had written when it was taken. */
  readonly writtenBytes: number;
  /** The part of it since the previous snapshot of the schedule. Absent: it is charged in full. */
  readonly changedBytes?: number;
  /** The databases of its branch. Absent: Postgres has not reported their size yet. */
  readonly logicalBytes?: number;
};

/** Charged size of a snapshot in bytes; `undefined` if its size is not known. */
export function chargedBytes(size: SnapshotSize | undefined): number | undefined {
  if (size?.logicalBytes === undefined) return undefined;
  return Math.min(size.logicalBytes, size.changedBytes ?? size.logicalBytes);
}

export type CreateSnapshot = BranchRef & {
  readonly type: "CreateSnapshot";
  readonly name?: string | undefined;
  readonly timestamp?: SimTime | undefined;
  readonly lsn?: string | undefined;
  /** When Postgres had written its log up to the LSN; absent: it has not. */
  readonly writtenAt?: SimTime | undefined;
  readonly expiresAt?: SimTime | undefined;
};
export type UpdateSnapshot = SnapshotRef & { readonly type: "UpdateSnapshot"; readonly name: string };
export type DeleteSnapshot = SnapshotRef & { readonly type: "DeleteSnapshot" };
export type SetBackupSchedule = BranchRef & {
  readonly type: "SetBackupSchedule";
  readonly items: readonly BackupScheduleItem[];
};

export type SnapshotCommand = CreateSnapshot | UpdateSnapshot | DeleteSnapshot | SetBackupSchedule;

export type SnapshotEvent =
  | (EventBase & {
      readonly type: "SnapshotCreated";
      readonly snapshot: BranchSnapshot;
      /** Absent: the data of its branch, at its timestamp. */
      readonly dataFrom?: DataSource;
    })
  | (EventBase & { readonly type: "SnapshotRenamed"; readonly snapshotId: string; readonly name: string })
  | (EventBase & { readonly type: "SnapshotDeleted"; readonly snapshotId: string })
  | (EventBase & {
      readonly type: "BackupScheduleSet";
      readonly branchId: string;
      readonly items: readonly BackupScheduleItem[];
    });
