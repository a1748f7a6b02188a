import type { SimTime } from "../../kernel/time.ts";
import type { BackupSchedule } from "./backup-schedule.ts";
import type { BranchContent, Database, Role } from "./branch-content.ts";
import type { DataSource } from "./branch-data.ts";
import type { ComputeOptions, ComputeType } from "./compute.ts";
import type { EventBase } from "./event-base.ts";
import type { BranchRef } from "./object-refs.ts";
import type { NewServiceRecord } from "./service-record.ts";

/** A branch of a project's data, with its roles and databases. Clients reach it only through its computes. */
export type Branch = {
  readonly id: string;
  readonly number: number;
  readonly projectId: string;
  readonly parentId?: string;
  readonly parentTimestamp?: SimTime;
  readonly parentLsn?: string;
  readonly name: string;
  /** S: `resetting` while it is restored. */
  readonly state: "init" | "ready" | "resetting";
  readonly stateChangedAt: SimTime;
  readonly default: boolean;
  readonly protected: boolean;
  readonly initSource: "parent-data" | "schema-only";
  readonly roles: readonly Role[];
  readonly databases: readonly Database[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
  /** S: when the platform deletes it, and how far ahead that was when it was set. */
  readonly expiresAt?: SimTime;
  readonly ttlSeconds?: number;
  readonly lastResetAt?: SimTime;
  /** Id of the snapshot that it was restored from, and of the branch that it will replace or has replaced. */
  readonly restoredFrom?: string;
  readonly restoredAs?: string;
  readonly restoreStatus?: "restored" | "finalized";
  readonly backupSchedule?: BackupSchedule;
  /** The size of its databases after the last work of clients; absent: no Postgres has reported it. */
  readonly logicalSizeBytes?: number;
  /**
   * Its previous content, oldest first, as far back as the project's history retention. `until` is exclusive.
   */
  readonly past?: readonly (BranchContent & { readonly until: SimTime })[];
  /** Set when it is deleted. From then on it appears only in lists of what can be recovered. */
  readonly deletedAt?: SimTime;
  /** S: until when it can be recovered; absent if it cannot. */
  readonly recoverableUntil?: SimTime;
};

export type CreateBranch = {
  readonly type: "CreateBranch";
  readonly accountId: string;
  readonly projectId: string;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly parentId?: string | undefined;
  readonly parentTimestamp?: SimTime | undefined;
  readonly parentLsn?: string | undefined;
  /** When Postgres had written its log up to the LSN; absent: it has not. */
  readonly parentWrittenAt?: SimTime | undefined;
  readonly protected?: boolean | undefined;
  readonly initSource?: Branch["initSource"] | undefined;
  readonly expiresAt?: SimTime | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Service records that the branch begins with, in addition to copies of those of its parent. */
  readonly services?: readonly NewServiceRecord[] | undefined;
  /** Scheduled after the operations that are in progress, instead of being rejected because of them. */
  readonly queue?: true;
  readonly computes?:
    | readonly {
        readonly id?: string | undefined;
        readonly computeType: ComputeType;
        readonly options: ComputeOptions;
      }[]
    | undefined;
};
export type UpdateBranch = BranchRef & {
  readonly type: "UpdateBranch";
  readonly name?: string | undefined;
  readonly protected?: boolean | undefined;
  /** `null` ends the expiration. */
  readonly expiresAt?: SimTime | null | undefined;
};
export type DeleteBranch = BranchRef & {
  readonly type: "DeleteBranch";
  /** S: delete at once, without a recovery period. */
  readonly hard?: boolean | undefined;
};
export type SetDefaultBranch = BranchRef & { readonly type: "SetDefaultBranch" };

export type BranchChanges = Partial<Pick<Branch, "name" | "protected" | "restoreStatus">>;

export type BranchCommand = CreateBranch | UpdateBranch | DeleteBranch | SetDefaultBranch;

export type BranchEvent =
  | (EventBase & {
      readonly type: "BranchCreated";
      readonly branch: Branch;
      /** Start of its data; absent if that is the data of its parent at `parentTimestamp`. */
      readonly dataFrom?: DataSource;
    })
  | (EventBase & { readonly type: "BranchBecameReady"; readonly branchId: string })
  | (EventBase & {
      readonly type: "BranchUpdated";
      readonly branchId: string;
      readonly changes: BranchChanges;
    })
  | (EventBase & {
      readonly type: "BranchSetAsDefault";
      readonly projectId: string;
      readonly branchId: string;
    })
  | (EventBase & {
      readonly type: "BranchExpirationSet";
      readonly branchId: string;
      readonly expiresAt?: SimTime;
    })
  | (EventBase & { readonly type: "BranchMoved"; readonly branchId: string; readonly parentId: string })
  | (EventBase & {
      readonly type: "BranchRestored";
      readonly branchId: string;
      readonly content: BranchContent;
      readonly parentId: string;
      readonly parentTimestamp: SimTime;
      readonly parentLsn?: string;
      /** Absent if the data is the parent's at `parentTimestamp`. */
      readonly dataFrom?: DataSource;
    })
  | (EventBase & {
      readonly type: "BranchDeleted";
      readonly branchId: string;
      readonly recoverableUntil?: SimTime;
    })
  | (EventBase & { readonly type: "BranchRecovered"; readonly branchId: string })
  | (EventBase & { readonly type: "BranchRemoved"; readonly branchId: string });
