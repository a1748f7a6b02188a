import type * as public_ from "@neondatabase/api-client";
import { timestamp } from "../../http/timestamps.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { Operation } from "../../platform/model/operation.ts";
import { CachedJson } from "./cached-json.ts";
import { type AllowUndefined, optionalTimestamp } from "./render-common.ts";

const OPERATION_ERROR = "the operation failed and will not be retried"; // A

export function renderOperation(operation: Operation, now: SimTime) {
  const { state, failures } = operation;
  return {
    id: operation.id,
    project_id: operation.projectId,
    branch_id: operation.branchId,
    endpoint_id: operation.endpointId,
    action: operation.action as public_.OperationAction,
    status: state.status as public_.OperationStatus,
    error: state.status === "failed" ? OPERATION_ERROR : undefined,
    failures_count: failures?.count ?? 0,
    retry_at: optionalTimestamp(failures?.retriedAt),
    created_at: timestamp(operation.createdAt),
    updated_at: timestamp(operation.updatedAt),
    total_duration_ms: (operationEnd(state) ?? now) - operation.createdAt,
  } satisfies AllowUndefined<public_.Operation>;
}

const listTexts = new CachedJson<Operation>();

/** The operation as lists show it, as JSON. */
export function listedOperation(operation: Operation, now: SimTime): string {
  const end = operationEnd(operation.state) ?? now;
  return listTexts.text(operation, [end], () => renderOperation(operation, now));
}

function operationEnd(state: Operation["state"]): SimTime | undefined {
  switch (state.status) {
    case "finished":
      return state.finishedAt;
    case "failed":
      return state.failedAt;
    case "cancelled":
      return state.cancelledAt;
    default:
      return undefined;
  }
}

/** The operations that a call scheduled, as of the answer. */
export function renderScheduledOperations(events: readonly RecordedEvent[], now: SimTime) {
  return events.flatMap((event) =>
    event.type === "OperationScheduled" ? [renderOperation(event.operation, now)] : [],
  );
}
