import { isoInstant } from "../../platform/core/calendar.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import type { Labels } from "../file/labels.ts";

/** Events as lines of text: time, type, resource and cause. */
export function describeEvents(events: readonly RecordedEvent[], labels: Labels): string[] {
  return events.map((event) =>
    [isoInstant(event.at), event.type, ...detailsOf(event).map((detail) => labels.labelOf(detail))].join(" "),
  );
}

function detailsOf(event: RecordedEvent): string[] {
  switch (event.type) {
    case "ActivityRecorded":
      return [event.activity.endpointId, event.activity.kind, `waited ${event.waitedMs} ms`];
    case "OperationScheduled": {
      const { action, cause, endpointId, branchId, projectId } = event.operation;
      return [action, endpointId ?? branchId ?? projectId, `by ${cause}`];
    }
    case "ComputeSuspended":
      return [event.endpointId, `by ${event.cause}`];
    case "ComputeCreated":
      return [event.compute.id];
    case "BranchCreated":
      return [event.branch.id, event.branch.name];
    case "ProjectCreated":
      return [event.project.id];
    case "ActivityDropped":
      return [event.endpointId, event.reason];
    case "FaultSet":
      return [event.definition.name];
    case "FaultHit": {
      const { fault, outcome, target } = event;
      const of = target.endpointId ?? target.branchId ?? target.projectId;
      return [
        fault,
        outcome.kind,
        target.kind === "operation" ? target.action : (target.operation ?? target.method),
        ...(of === undefined ? [] : [of]),
      ];
    }
    default:
      if ("endpointId" in event) return [event.endpointId];
      if ("branchId" in event) return [event.branchId];
      if ("projectId" in event) return [event.projectId];
      if ("operationId" in event) return [event.operationId];
      event.type satisfies HasNoDetails;
      return [];
  }
}

/** Events that are described by their type alone. */
// biome-ignore format: as a packed list
type HasNoDetails =
  | "WorldCreated" | "WorldConfigured" | "WorldReset" | "AccountCreated" | "AccountPlanChanged"
  | "ApiKeyCreated" | "ApiKeyRevoked" | "ApiKeyRemoved" | "RecordCreated" | "RecordUpdated"
  | "RecordDeleted" | "SnapshotCreated" | "SnapshotRenamed" | "SnapshotDeleted" | "FaultRemoved"
  | "FaultMatched" | "ActivityScheduled";
