import type { Account } from "./account/account.ts";
import type { ApiKey } from "./account/api-key.ts";
import type { BackupScheduleItem } from "./branch/backup-schedule.ts";
import type { Branch, BranchChanges } from "./branch/branch.ts";
import type { BranchContent } from "./branch/branch-content.ts";
import type { BranchSnapshot } from "./branch/branch-snapshot.ts";
import type { Database, DatabaseChanges } from "./branch/database.ts";
import type { Role } from "./branch/role.ts";
import type { PlanName } from "./catalog/plan.ts";
import type { ActivityRecorded, ScheduledActivity } from "./compute/activity.ts";
import type { Compute, ComputeChanges } from "./compute/compute.ts";
import type { SimTime } from "./core/time.ts";
import type { SettingsChanges, WorldSettings } from "./core/world.ts";
import type { FaultDefinition, FaultTarget, RateWindow } from "./fault/fault.ts";
import type { FaultOutcome } from "./fault/match-fault.ts";
import type { Operation } from "./operation/operation.ts";
import type { Project, ProjectChanges } from "./project/project.ts";
import type { SettingsRecord } from "./project/settings-record.ts";

type EventBase = { readonly at: SimTime };
type ComputeEventBase = EventBase & { readonly endpointId: string };

/**
 * What has happened, in the past tense: the whole truth about a world. Events are never edited; a changed meaning gets a new
 * type. Instants end in `at`, `At` or `until`, and what callers may fill freely is under `settings` or `annotations`.
 */
export type Event =
  | (EventBase & { readonly type: "WorldCreated"; readonly world: WorldSettings })
  | (EventBase & { readonly type: "WorldConfigured"; readonly changes: SettingsChanges })
  | (EventBase & { readonly type: "WorldReset" })
  | (EventBase & { readonly type: "AccountCreated"; readonly account: Account })
  | (EventBase & { readonly type: "AccountPlanChanged"; readonly accountId: string; readonly plan: PlanName })
  | (EventBase & { readonly type: "ApiKeyCreated"; readonly apiKey: ApiKey })
  | (EventBase & { readonly type: "ApiKeyRevoked"; readonly keyId: number })
  | (EventBase & { readonly type: "ProjectCreated"; readonly project: Project })
  | (EventBase & {
      readonly type: "ProjectUpdated";
      readonly projectId: string;
      readonly changes: ProjectChanges;
    })
  | (EventBase & {
      readonly type: "ProjectDeleted";
      readonly projectId: string;
      readonly recoverableUntil?: SimTime;
    })
  | (EventBase & { readonly type: "ProjectRecovered"; readonly projectId: string })
  | (EventBase & { readonly type: "ProjectRemoved"; readonly projectId: string })
  | (EventBase & {
      readonly type: "ProjectTransferred";
      readonly projectId: string;
      readonly accountId: string;
    })
  | (EventBase & { readonly type: "RecordCreated"; readonly record: SettingsRecord })
  | (EventBase & {
      readonly type: "RecordUpdated";
      readonly recordId: string;
      readonly fields: SettingsRecord["fields"];
    })
  | (EventBase & { readonly type: "RecordDeleted"; readonly recordId: string })
  | (EventBase & { readonly type: "BranchCreated"; readonly branch: Branch })
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
    })
  | (EventBase & {
      readonly type: "BranchDeleted";
      readonly branchId: string;
      readonly recoverableUntil?: SimTime;
    })
  | (EventBase & { readonly type: "BranchRecovered"; readonly branchId: string })
  | (EventBase & { readonly type: "BranchRemoved"; readonly branchId: string })
  | (EventBase & { readonly type: "RoleCreated"; readonly branchId: string; readonly role: Role })
  | (EventBase & { readonly type: "RoleDeleted"; readonly branchId: string; readonly roleName: string })
  | (EventBase & {
      readonly type: "RolePasswordReset";
      readonly branchId: string;
      readonly roleName: string;
      readonly secretId: string;
    })
  | (EventBase & { readonly type: "DatabaseCreated"; readonly branchId: string; readonly database: Database })
  | (EventBase & {
      readonly type: "DatabaseUpdated";
      readonly branchId: string;
      readonly databaseId: number;
      readonly changes: DatabaseChanges;
    })
  | (EventBase & { readonly type: "DatabaseDeleted"; readonly branchId: string; readonly databaseId: number })
  | (EventBase & { readonly type: "SnapshotCreated"; readonly snapshot: BranchSnapshot })
  | (EventBase & { readonly type: "SnapshotRenamed"; readonly snapshotId: string; readonly name: string })
  | (EventBase & { readonly type: "SnapshotDeleted"; readonly snapshotId: string })
  | (EventBase & {
      readonly type: "BackupScheduleSet";
      readonly branchId: string;
      readonly items: readonly BackupScheduleItem[];
    })
  | (EventBase & { readonly type: "ComputeCreated"; readonly compute: Compute })
  | (ComputeEventBase & { readonly type: "ComputeUpdated"; readonly changes: ComputeChanges })
  | (ComputeEventBase & { readonly type: "ComputeDeleted" })
  | (ComputeEventBase & { readonly type: "ComputeActivated"; readonly release: number })
  | (ComputeEventBase & { readonly type: "ComputeSuspending" })
  | (ComputeEventBase & { readonly type: "ComputeSuspended"; readonly cause: Operation["cause"] })
  | (ComputeEventBase & { readonly type: "ComputeResized"; readonly sizeCu: number })
  | (ComputeEventBase & { readonly type: "ComputeStartFailed" })
  | (ComputeEventBase & { readonly type: "ComputeSuspendFailed" })
  | (EventBase & { readonly type: "OperationScheduled"; readonly operation: Operation })
  | (EventBase & { readonly type: "OperationStarted"; readonly operationId: string; readonly dueAt: SimTime })
  | (EventBase & { readonly type: "OperationFinished"; readonly operationId: string })
  | (EventBase & { readonly type: "OperationRetried"; readonly operationId: string; readonly dueAt: SimTime })
  | (EventBase & { readonly type: "OperationFailed"; readonly operationId: string })
  | (EventBase & { readonly type: "OperationCancelled"; readonly operationId: string })
  | (EventBase & { readonly type: "ActivityScheduled"; readonly scheduled: ScheduledActivity })
  | ActivityRecorded
  | (ComputeEventBase & {
      readonly type: "ActivityDropped";
      readonly scheduled: number;
      readonly reason: string;
    })
  | (EventBase & { readonly type: "FaultSet"; readonly definition: FaultDefinition })
  | (EventBase & { readonly type: "FaultRemoved"; readonly fault: string })
  | (FaultMatchBase & { readonly type: "FaultMatched"; readonly rate?: RateWindow })
  | (FaultMatchBase & { readonly type: "FaultHit"; readonly outcome: FaultOutcome });

/** The so-manieth meeting of a fault with what it applies to, and what was drawn for it. */
type FaultMatchBase = EventBase & {
  readonly fault: string;
  readonly number: number;
  readonly target: FaultTarget;
  readonly drawn?: number;
};

/**
 * An event with its place in history. `decision` is the sequence number of the first event of the decision that it came from: a
 * decision happens as a whole, so a point in history never lies within one.
 */
export type RecordedEvent = Event & { readonly seq: number; readonly decision: number };
