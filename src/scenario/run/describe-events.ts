import { isoInstant } from "../../kernel/calendar.ts";
import type { AccessNoun, EventTypeOf, RecordedEvent } from "../../platform/model/events.ts";
import { nameOfTarget } from "../../platform/model/fault.ts";
import type { Labels } from "../file/labels.ts";
import type { Decision } from "../measure/event-causes.ts";

/** An event as a line of text: time, type, resource and cause. */
export function describeEvent(event: RecordedEvent, labels: Labels): string {
  return [isoInstant(event.at), event.type, ...detailsOf(event).map((detail) => labels.labelOf(detail))].join(
    " ",
  );
}

/**
 * What caused an event, nearest cause first: faults and activity of its decision, the operation that ended, what
 * scheduled that operation, and the call of a step.
 */
export function describeCauses(
  decision: Decision,
  event: RecordedEvent | undefined,
  labels: Labels,
): string[] {
  const lines: string[] = [];
  for (let level: Decision | undefined = decision; level !== undefined; level = level.scheduledBy) {
    const causes = level.events.filter(
      (other) =>
        other !== event && (isCause(other) || (level !== decision && other.type === "OperationScheduled")),
    );
    lines.push(...causes.map((cause) => describeEvent(cause, labels)));
    if (level.lastActivity !== undefined)
      lines.push(`last activity before: ${describeEvent(level.lastActivity, labels)}`);
    if (level.call !== undefined) lines.push(level.call);
  }
  return [...new Set(lines)];
}

function isCause({ type }: RecordedEvent): boolean {
  return type === "FaultHit" || type === "ActivityRecorded" || type === "OperationFailed";
}

function detailsOf(event: RecordedEvent): string[] {
  switch (event.type) {
    case "ActivityRecorded":
      return [
        event.activity.endpointId,
        event.activity.kind,
        ...(event.activity.source === undefined ? [] : [`from ${event.activity.source}`]),
        `waited ${event.waitedMs} ms`,
      ];
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
      return [fault, outcome.kind, nameOfTarget(target), ...(of === undefined ? [] : [of])];
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
type HasNoDetails =
  | EventTypeOf<AccessNoun | "world">
  | "SnapshotCreated"
  | "SnapshotRenamed"
  | "SnapshotDeleted"
  | "ActivityScheduled"
  | "FaultRemoved"
  | "FaultMatched";
