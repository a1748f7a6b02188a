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
import type { InertRecord } from "./project/settings-record.ts";

type At = { readonly at: SimTime };
type OfEndpoint = At & { readonly endpointId: string };

/**
 * What has happened, in the past tense: the whole truth about a world. Events are never edited; a changed meaning gets a new
 * type. Instants end in `at`, `At` or `until`, and what callers may fill freely is under `settings` or `annotations`.
 */
export type Event =
  | (At & { readonly type: "WorldCreated"; readonly world: WorldSettings })
  | (At & { readonly type: "WorldConfigured"; readonly changes: SettingsChanges })
  | (At & { readonly type: "WorldReset" })
  | (At & { readonly type: "AccountCreated"; readonly account: Account })
  | (At & { readonly type: "AccountPlanChanged"; readonly accountId: string; readonly plan: PlanName })
  | (At & { readonly type: "ApiKeyCreated"; readonly apiKey: ApiKey })
  | (At & { readonly type: "ApiKeyRevoked"; readonly keyId: number })
  | (At & { readonly type: "ProjectCreated"; readonly project: Project })
  | (At & { readonly type: "ProjectUpdated"; readonly projectId: string; readonly changes: ProjectChanges })
  | (At & { readonly type: "ProjectDeleted"; readonly projectId: string; readonly recoverableUntil?: SimTime })
  | (At & { readonly type: "ProjectRecovered"; readonly projectId: string })
  | (At & { readonly type: "ProjectRemoved"; readonly projectId: string })
  | (At & { readonly type: "ProjectTransferred"; readonly projectId: string; readonly accountId: string })
  | (At & { readonly type: "RecordCreated"; readonly record: InertRecord })
  | (At & { readonly type: "RecordUpdated"; readonly recordId: string; readonly fields: InertRecord["fields"] })
  | (At & { readonly type: "RecordDeleted"; readonly recordId: string })
  | (At & { readonly type: "BranchCreated"; readonly branch: Branch })
  | (At & { readonly type: "BranchBecameReady"; readonly branchId: string })
  | (At & { readonly type: "BranchUpdated"; readonly branchId: string; readonly changes: BranchChanges })
  | (At & { readonly type: "BranchSetAsDefault"; readonly projectId: string; readonly branchId: string })
  | (At & { readonly type: "BranchExpirationSet"; readonly branchId: string; readonly expiresAt?: SimTime })
  | (At & { readonly type: "BranchMoved"; readonly branchId: string; readonly parentId: string })
  | (At & {
      readonly type: "BranchRestored";
      readonly branchId: string;
      readonly content: BranchContent;
      readonly parentId: string;
      readonly parentTimestamp: SimTime;
      readonly parentLsn?: string;
    })
  | (At & { readonly type: "BranchDeleted"; readonly branchId: string; readonly recoverableUntil?: SimTime })
  | (At & { readonly type: "BranchRecovered"; readonly branchId: string })
  | (At & { readonly type: "BranchRemoved"; readonly branchId: string })
  | (At & { readonly type: "RoleCreated"; readonly branchId: string; readonly role: Role })
  | (At & { readonly type: "RoleDeleted"; readonly branchId: string; readonly roleName: string })
  | (At & { readonly type: "RolePasswordReset"; readonly branchId: string; readonly roleName: string; readonly secretId: string })
  | (At & { readonly type: "DatabaseCreated"; readonly branchId: string; readonly database: Database })
  | (At & { readonly type: "DatabaseUpdated"; readonly branchId: string; readonly databaseId: number; readonly changes: DatabaseChanges })
  | (At & { readonly type: "DatabaseDeleted"; readonly branchId: string; readonly databaseId: number })
  | (At & { readonly type: "SnapshotCreated"; readonly snapshot: BranchSnapshot })
  | (At & { readonly type: "SnapshotRenamed"; readonly snapshotId: string; readonly name: string })
  | (At & { readonly type: "SnapshotDeleted"; readonly snapshotId: string })
  | (At & { readonly type: "BackupScheduleSet"; readonly branchId: string; readonly items: readonly BackupScheduleItem[] })
  | (At & { readonly type: "ComputeCreated"; readonly compute: Compute })
  | (OfEndpoint & { readonly type: "ComputeUpdated"; readonly changes: ComputeChanges })
  | (OfEndpoint & { readonly type: "ComputeDeleted" })
  | (OfEndpoint & { readonly type: "ComputeActivated"; readonly release: number })
  | (OfEndpoint & { readonly type: "ComputeSuspending" })
  | (OfEndpoint & { readonly type: "ComputeSuspended"; readonly cause: Operation["cause"] })
  | (OfEndpoint & { readonly type: "ComputeResized"; readonly sizeCu: number })
  | (OfEndpoint & { readonly type: "ComputeStartFailed" })
  | (OfEndpoint & { readonly type: "ComputeSuspendFailed" })
  | (At & { readonly type: "OperationScheduled"; readonly operation: Operation })
  | (At & { readonly type: "OperationStarted"; readonly operationId: string; readonly dueAt: SimTime })
  | (At & { readonly type: "OperationFinished"; readonly operationId: string })
  | (At & { readonly type: "OperationRetried"; readonly operationId: string; readonly dueAt: SimTime })
  | (At & { readonly type: "OperationFailed"; readonly operationId: string })
  | (At & { readonly type: "OperationCancelled"; readonly operationId: string })
  | (At & { readonly type: "ActivityScheduled"; readonly scheduled: ScheduledActivity })
  | ActivityRecorded
  | (OfEndpoint & { readonly type: "ActivityDropped"; readonly scheduled: number; readonly reason: string })
  | (At & { readonly type: "FaultSet"; readonly definition: FaultDefinition })
  | (At & { readonly type: "FaultRemoved"; readonly fault: string })
  | (MetFault & { readonly type: "FaultMatched"; readonly rate?: RateWindow })
  | (MetFault & { readonly type: "FaultHit"; readonly outcome: FaultOutcome });

/** The so-manieth meeting of a fault with what it applies to, and what was drawn for it. */
type MetFault = At & { readonly fault: string; readonly number: number; readonly target: FaultTarget; readonly drawn?: number };

/**
 * An event with its place in history. `decision` is the sequence number of the first event of the decision that it came from: a
 * decision happens as a whole, so a point in history never lies within one.
 */
export type RecordedEvent = Event & { readonly seq: number; readonly decision: number };
