import type { AccessNoun, ContentNoun, EventTypeOf, RecordedEvent } from "../platform/model/events.ts";
import type { Operation } from "../platform/model/operation.ts";
import { applyOperationEvent } from "../platform/rules/operation/evolve-operation.ts";

/** Applies an event to a table of all operations, including finished ones. */
export function foldOperation(operations: Map<string, Operation>, event: RecordedEvent): void {
  switch (event.type) {
    case "WorldReset":
      operations.clear();
      return;
    case "OperationScheduled":
      operations.set(event.operation.id, event.operation);
      return;
    case "OperationStarted":
    case "OperationFinished":
    case "OperationRetried":
    case "OperationFailed":
    case "OperationCancelled":
      operations.set(event.operationId, applyOperationEvent(operations.get(event.operationId), event));
      return;
    default:
      event.type satisfies ChangesNoOperation;
  }
}

/** Events that leave all operations as they are. */
type ChangesNoOperation =
  | EventTypeOf<AccessNoun | ContentNoun | "project" | "branch" | "compute" | "activity" | "span" | "fault">
  | "WorldCreated"
  | "WorldConfigured";

export function isTerminal({ status }: Operation["state"]): boolean {
  return status === "finished" || status === "failed" || status === "cancelled";
}
