import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { OperationAction } from "../catalog/operation-actions.ts";
import type { EventBase } from "./event-base.ts";

export type OperationState =
  | { readonly status: "scheduling" }
  | { readonly status: "running"; readonly startedAt: SimTime; readonly dueAt: SimTime }
  | { readonly status: "finished"; readonly startedAt: SimTime; readonly finishedAt: SimTime }
  | { readonly status: "failed"; readonly startedAt: SimTime; readonly failedAt: SimTime }
  | { readonly status: "cancelled"; readonly cancelledAt: SimTime };

/**
 * Work of the platform on one compute, on a branch with everything on it, or, without either id, on a
 * project.
 */
export type Operation = {
  readonly id: string;
  /** Orders operations as they were scheduled. */
  readonly number: number;
  readonly projectId: string;
  readonly branchId?: string;
  readonly endpointId?: string;
  readonly action: OperationAction;
  readonly state: OperationState;
  /** How long it runs once it has started. Drawn when it is scheduled, so that its end can be predicted. */
  readonly durationMs: DurationMs;
  /**
   * Why it was scheduled. `repeated_update`: an update that repeats the current values; it has no effect. `recorded`: another
   * server has run it, in the past of this world; why is not known.
   */
  readonly cause:
    | "request"
    | "activity"
    | "autosuspend"
    | "restart"
    | "quota"
    | "repeated_update"
    | "recorded";
  /** R: after an update, a compute that was active is started again. */
  readonly thenStart: boolean;
  /** Present if it will fail, or has failed: how often, and how many attempts have failed so far. */
  readonly failures?: OperationFailures;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

export type OperationFailures = {
  /** The fault that makes it fail; absent if that was drawn from the failures of a calibrated profile. */
  readonly fault?: string;
  /** The number of failing attempts. Afterwards it ends as `ends` says. */
  readonly times: number;
  readonly ends: "finished" | "failed";
  readonly count: number;
  /** S: "when the operation was last retried". */
  readonly retriedAt?: SimTime;
};

/** An operation to be scheduled. */
export type OperationRequest = {
  readonly action: OperationAction;
  readonly branchId?: string;
  readonly endpointId?: string;
  readonly cause?: Operation["cause"];
  readonly thenStart?: boolean;
  /** The operation waits for no earlier one; later operations wait for it. */
  readonly startsAtOnce?: boolean;
};

/** The branch of an operation that works on a branch or a compute. */
export function branchOf({ id, branchId }: Operation): string {
  if (branchId === undefined) throw new Error(`operation ${id} has no branch`);
  return branchId;
}

/** The compute of an operation that works on a compute, as every start and every suspend does. */
export function endpointOf({ id, endpointId }: Operation): string {
  if (endpointId === undefined) throw new Error(`operation ${id} has no compute`);
  return endpointId;
}

/** Whether it closes the connections of its compute and leaves it idle. */
export function suspendsCompute({ action, cause }: Operation): boolean {
  return action === "suspend_compute" && cause !== "repeated_update";
}

/** When the last operation of a compute will end if nothing else happens; `now` if it has none. */
export function expectedReadyAt(operations: readonly Operation[], computeId: string, now: SimTime): SimTime {
  const ends = expectedEnds(operations, now);
  return operations.reduce(
    (latest, { endpointId }, index) =>
      endpointId === computeId ? Math.max(latest, ends[index] as SimTime) : latest,
    now,
  );
}

/** When each of a project's unfinished operations will end if nothing else happens. */
export function expectedEnds(operations: readonly Operation[], now: SimTime): SimTime[] {
  const ends: SimTime[] = [];
  for (const operation of operations) {
    let startsAt = now;
    for (let earlier = 0; earlier < ends.length; earlier += 1) {
      if (conflicts(operations[earlier] as Operation, operation))
        startsAt = Math.max(startsAt, ends[earlier] as SimTime);
    }
    const firstEnd =
      operation.state.status === "running" ? operation.state.dueAt : startsAt + operation.durationMs;
    ends.push(firstEnd + retriesLeft(operation) * operation.durationMs);
  }
  return ends;
}

/** The number of attempts after the one in progress. */
export function retriesLeft({ failures }: Operation): number {
  return failures === undefined ? 0 : failures.times - failures.count - (failures.ends === "failed" ? 1 : 0);
}

/** The earlier operations that one waits for, because it must not run concurrently with them. */
export function blockersOf(operations: readonly Operation[], blocked: Operation): Operation[] {
  return operations.filter((operation) => operation.number < blocked.number && conflicts(operation, blocked));
}

/** The state of a compute after its unfinished operations; `undefined` if they do not change it. */
export function pendingStateOf(
  operations: Iterable<Operation>,
  computeId: string,
): "active" | "idle" | undefined {
  let pending: "active" | "idle" | undefined;
  for (const operation of operations) {
    if (operation.endpointId !== computeId) continue;
    if (operation.action === "start_compute") pending = "active";
    if (operation.action === "suspend_compute") pending = "idle";
  }
  return pending;
}

/**
 * Whether two operations must run one after the other: those of the same compute, and those of a branch or of
 * a project with everything in it.
 */
export function conflicts(one: OperationRequest, other: OperationRequest): boolean {
  if (one.branchId === undefined || other.branchId === undefined) return true;
  if (one.endpointId !== undefined && other.endpointId !== undefined)
    return one.endpointId === other.endpointId;
  return one.branchId === other.branchId;
}

/** Whether a compute is active after its unfinished operations, which are in the order of their numbers. */
export function isActiveAfter(
  operations: Iterable<Operation>,
  computeId: string,
  isActive: boolean,
): boolean {
  let isActiveThen = isActive;
  for (const operation of operations) {
    if (operation.endpointId !== computeId) continue;
    if (operation.action === "start_compute") isActiveThen = true;
    if (suspendsCompute(operation)) isActiveThen = operation.thenStart;
  }
  return isActiveThen;
}

export type OperationEvent =
  | (EventBase & { readonly type: "OperationScheduled"; readonly operation: Operation })
  | (EventBase & { readonly type: "OperationStarted"; readonly operationId: string; readonly dueAt: SimTime })
  | (EventBase & { readonly type: "OperationFinished"; readonly operationId: string })
  | (EventBase & { readonly type: "OperationRetried"; readonly operationId: string; readonly dueAt: SimTime })
  | (EventBase & { readonly type: "OperationFailed"; readonly operationId: string })
  | (EventBase & { readonly type: "OperationCancelled"; readonly operationId: string });
