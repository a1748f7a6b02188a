import type { BranchRef, SnapshotRef } from "../core/object-refs.ts";
import type { SimTime } from "../core/time.ts";
import type { EventBase } from "../event-base.ts";
import type { BackupScheduleItem } from "./backup-schedule.ts";
import type { BranchContent } from "./branch-content.ts";

/** S: a branch as it was at one instant, kept apart from it. */
export type BranchSnapshot = {
  readonly id: string;
  readonly number: number;
  readonly projectId: string;
  readonly sourceBranchId: string;
  readonly name: string;
  /** The instant that it shows. */
  readonly timestamp: SimTime;
  readonly lsn?: string;
  /** Whether somebody asked for it; a schedule made the others. */
  readonly manual: boolean;
  readonly expiresAt?: SimTime;
  readonly content: BranchContent;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

export type CreateSnapshot = BranchRef & {
  readonly type: "CreateSnapshot";
  readonly name?: string | undefined;
  readonly timestamp?: SimTime | undefined;
  readonly lsn?: string | undefined;
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
  | (EventBase & { readonly type: "SnapshotCreated"; readonly snapshot: BranchSnapshot })
  | (EventBase & { readonly type: "SnapshotRenamed"; readonly snapshotId: string; readonly name: string })
  | (EventBase & { readonly type: "SnapshotDeleted"; readonly snapshotId: string })
  | (EventBase & {
      readonly type: "BackupScheduleSet";
      readonly branchId: string;
      readonly items: readonly BackupScheduleItem[];
    });
