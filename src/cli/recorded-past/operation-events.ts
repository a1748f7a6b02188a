import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { OperationAction } from "../../platform/catalog/operation-actions.ts";
import type { Event } from "../../platform/model/events.ts";
import type { Operation, OperationState } from "../../platform/model/operation.ts";
import { nextNumber, type World } from "../../platform/world/world.ts";
import type { RecordedEnd } from "./operation-course.ts";

/** An operation of another server, with all that is known of it. */
export type RecordedOperation = {
  readonly id: string;
  readonly project: string;
  readonly branch: string | undefined;
  readonly endpoint?: string | undefined;
  readonly action: OperationAction;
  readonly end: RecordedEnd;
  readonly durationMs: DurationMs;
  /** Attempts that failed. */
  readonly failures: number;
};

export function operationScheduled(
  world: World,
  { id, project, branch, endpoint, action, end, durationMs, failures }: RecordedOperation,
  state: OperationState,
  at: SimTime,
): Event {
  const operation: Operation = {
    id,
    number: nextNumber(world, "operation"),
    projectId: project,
    ...(branch === undefined ? {} : { branchId: branch }),
    ...(endpoint === undefined ? {} : { endpointId: endpoint }),
    ...{ action, state, durationMs, cause: "recorded", thenStart: false },
    ...failuresOf(end, failures),
    ...{ createdAt: at, updatedAt: at },
  };
  return { type: "OperationScheduled", at, operation };
}

/** The attempts before the last one are counted at once, because the account does not show when each failed. */
function failuresOf(end: RecordedEnd, failures: number): Pick<Operation, "failures"> {
  if (end === "failed") {
    const times = Math.max(1, failures);
    return { failures: { times, ends: "failed", count: times - 1 } };
  }
  return failures === 0 ? {} : { failures: { times: failures, ends: "finished", count: failures } };
}

export function operationEnded(operationId: string, end: RecordedEnd, at: SimTime): Event {
  switch (end) {
    case "finished":
      return { type: "OperationFinished", at, operationId };
    case "failed":
      return { type: "OperationFailed", at, operationId };
    case "cancelled":
      return { type: "OperationCancelled", at, operationId };
    default:
      return end satisfies never;
  }
}
