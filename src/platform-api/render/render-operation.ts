import type * as public_ from "@neondatabase/api-client";
import { timestamp } from "../../http/timestamps.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { Operation } from "../../platform/model/operation.ts";
import type { World } from "../../platform/world/world.ts";
import { CachedJson, type ListedRow } from "./cached-json.ts";
import { type AllowUndefined, optionalTimestamp } from "./render-common.ts";

const OPERATION_ERROR = "the operation failed and will not be retried"; // A

export function renderOperation(operation: Operation, now: SimTime) {
  return renderWith(operation, operationEnd(operation.state) ?? now);
}

function renderWith(operation: Operation, end: SimTime) {
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
    total_duration_ms: end - operation.createdAt,
  } satisfies AllowUndefined<public_.Operation>;
}

const cached = new CachedJson(
  (_world: World, { state }: Operation, now: SimTime) => {
    const end = operationEnd(state);
    // The time that it has taken so far is shown in milliseconds.
    return end === undefined ? { end: now, until: now + 1 } : { end, until: Number.POSITIVE_INFINITY };
  },
  (_world, operation, { end }) => renderWith(operation, end),
);

/** JSON of `renderOperation`. */
export function listedOperation(world: World, operation: Operation, now: SimTime): ListedRow {
  return cached.listed(world, operation, now);
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
