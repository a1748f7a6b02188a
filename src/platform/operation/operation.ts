import type { DurationMs, SimTime } from "../core/time.ts";
import type { EventBase } from "../event-base.ts";

/** R: start_compute, apply_config, suspend_compute; S: the others. Those that this platform's rules schedule. */
export const OPERATION_ACTIONS = [
  "create_timeline",
  "create_branch",
  "start_compute",
  "suspend_compute",
  "apply_config",
  "delete_timeline",
] as const;
export type OperationAction = (typeof OPERATION_ACTIONS)[number];

export type OperationState =
  | { readonly status: "scheduling" }
  | { readonly status: "running"; readonly startedAt: SimTime; readonly dueAt: SimTime }
  | { readonly status: "finished"; readonly startedAt: SimTime; readonly finishedAt: SimTime }
  | { readonly status: "failed"; readonly startedAt: SimTime; readonly failedAt: SimTime }
  | { readonly status: "cancelled"; readonly cancelledAt: SimTime };

/** A piece of the platform's work. It concerns one compute, or a branch and all on it, or (neither id) the whole project. */
export type Operation = {
  readonly id: string;
  /** Orders operations as they were scheduled. */
  readonly number: number;
  readonly projectId: string;
  readonly branchId?: string;
  readonly endpointId?: string;
  readonly action: OperationAction;
  readonly state: OperationState;
  /** How long it runs once it runs: drawn when it is scheduled, so that its end can be foretold. */
  readonly durationMs: DurationMs;
  /** What asked for it. */
  readonly cause: "request" | "activity" | "autosuspend" | "restart" | "quota";
  /** R: after an update, a compute that was active starts again by itself. */
  readonly thenStart: boolean;
  /** It meets a fault: how often it fails, and what has come of that so far. */
  readonly failures?: OperationFailures;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

export type OperationFailures = {
  readonly fault: string;
  /** So often it fails; then it finishes, or is failed for good. */
  readonly times: number;
  readonly ends: "finished" | "failed";
  readonly count: number;
  /** S: "when the operation was last retried". */
  readonly retriedAt?: SimTime;
};

/** What a decision wants scheduled. */
export type OperationRequest = {
  readonly action: OperationAction;
  readonly branchId?: string;
  readonly endpointId?: string;
  readonly cause?: Operation["cause"];
  readonly thenStart?: boolean;
};

/** When everything will be over that is scheduled for a compute, if nothing else comes; `now` where there is nothing. */
export function expectedReadyAt(operations: readonly Operation[], computeId: string, now: SimTime): SimTime {
  const ends = expectedEnds(operations, now);
  let latest = now;
  for (let index = 0; index < ends.length; index += 1) {
    if (operations[index]?.endpointId === computeId) latest = Math.max(latest, ends[index] as SimTime);
  }
  return latest;
}

/** When each of a project's unfinished operations will be over, if nothing else comes. */
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

/** How often an operation will be tried once more, behind the try that is under way. */
export function retriesLeft({ failures }: Operation): number {
  return failures === undefined ? 0 : failures.times - failures.count - (failures.ends === "failed" ? 1 : 0);
}

/** The operations that one waits for: earlier ones that it must not run beside. */
export function blockersOf(operations: readonly Operation[], blocked: Operation): Operation[] {
  return operations.filter((operation) => operation.number < blocked.number && conflicts(operation, blocked));
}

/** Where a compute's unfinished operations lead; `undefined` where they leave it as it is. */
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
 * "One compute's operations run in order"; what concerns a branch waits for, and is waited for by, all on that branch, and
 * likewise what concerns the whole project.
 */
export function conflicts(one: OperationRequest, other: OperationRequest): boolean {
  if (one.branchId === undefined || other.branchId === undefined) return true;
  if (one.endpointId !== undefined && other.endpointId !== undefined)
    return one.endpointId === other.endpointId;
  return one.branchId === other.branchId;
}

export type OperationEvent =
  | (EventBase & { readonly type: "OperationScheduled"; readonly operation: Operation })
  | (EventBase & { readonly type: "OperationStarted"; readonly operationId: string; readonly dueAt: SimTime })
  | (EventBase & { readonly type: "OperationFinished"; readonly operationId: string })
  | (EventBase & { readonly type: "OperationRetried"; readonly operationId: string; readonly dueAt: SimTime })
  | (EventBase & { readonly type: "OperationFailed"; readonly operationId: string })
  | (EventBase & { readonly type: "OperationCancelled"; readonly operationId: string });
