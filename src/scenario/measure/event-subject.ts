import type { RecordedEvent } from "../../platform/events.ts";

/** The id of the resource that an event concerns. */
export function subjectOf(
  event: RecordedEvent,
  resourceOfOperation: (operationId: string) => string | undefined,
): string | undefined {
  switch (event.type) {
    case "ActivityRecorded":
      return event.activity.endpointId;
    case "ActivityScheduled":
      return event.scheduled.activity.endpointId;
    case "OperationScheduled":
      return event.operation.endpointId ?? event.operation.branchId ?? event.operation.projectId;
    case "ProjectCreated":
      return event.project.id;
    case "BranchCreated":
      return event.branch.id;
    case "ComputeCreated":
      return event.compute.id;
    case "FaultHit":
      return event.target.endpointId ?? event.target.branchId ?? event.target.projectId;
    default:
      if ("endpointId" in event) return event.endpointId;
      if ("branchId" in event) return event.branchId;
      if ("projectId" in event) return event.projectId;
      if ("operationId" in event) return resourceOfOperation(event.operationId);
      event.type satisfies ConcernsNoResource;
      return undefined;
  }
}

/**
 * Excludes routine events from failure reports: steps of operations, operations that finished at once, and
 * faults that let a request pass.
 */
export function isInformative(event: RecordedEvent): boolean {
  switch (event.type) {
    case "OperationFinished":
    case "OperationStarted":
    case "FaultMatched":
      return false;
    case "OperationScheduled":
      return event.operation.state.status !== "finished";
    default:
      event.type satisfies AlwaysInformative;
      return true;
  }
}

/** Events that concern neither a project nor a resource in one. */
// biome-ignore format: as a packed list
type ConcernsNoResource =
  | "WorldCreated" | "WorldConfigured" | "WorldReset" | "AccountCreated" | "AccountPlanChanged"
  | "ApiKeyCreated" | "ApiKeyRevoked" | "ApiKeyRemoved" | "RecordCreated" | "RecordUpdated"
  | "RecordDeleted" | "SnapshotCreated" | "SnapshotRenamed" | "SnapshotDeleted" | "FaultSet"
  | "FaultRemoved" | "FaultMatched";

/** Events that a report always lists. */
// biome-ignore format: as a packed list
type AlwaysInformative =
  | "WorldCreated" | "WorldConfigured" | "WorldReset" | "AccountCreated" | "AccountPlanChanged"
  | "ApiKeyCreated" | "ApiKeyRevoked" | "ApiKeyRemoved" | "ProjectCreated" | "ProjectUpdated"
  | "ProjectDeleted" | "ProjectRecovered" | "ProjectRemoved" | "ProjectTransferred"
  | "RecordCreated" | "RecordUpdated" | "RecordDeleted" | "BranchCreated" | "BranchBecameReady"
  | "BranchUpdated" | "BranchSetAsDefault" | "BranchExpirationSet" | "BranchMoved"
  | "BranchRestored" | "BranchDeleted" | "BranchRecovered" | "BranchRemoved" | "RoleCreated"
  | "RoleDeleted" | "RolePasswordReset" | "DatabaseCreated" | "DatabaseUpdated" | "DatabaseDeleted"
  | "SnapshotCreated" | "SnapshotRenamed" | "SnapshotDeleted" | "BackupScheduleSet"
  | "ComputeCreated" | "ComputeUpdated" | "ComputeDeleted" | "ComputeActivated"
  | "ComputeSuspending" | "ComputeSuspended" | "ComputeResized" | "ComputeStartFailed"
  | "ComputeSuspendFailed" | "OperationRetried" | "OperationFailed" | "OperationCancelled"
  | "ActivityScheduled" | "ActivityRecorded" | "ActivityDropped" | "FaultSet" | "FaultRemoved"
  | "FaultHit"
  | "SpanBegan" | "SpanEnded";
