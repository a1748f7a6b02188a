import type { Context } from "../core/context.ts";
import { drawDuration } from "../core/distribution.ts";
import { drawOperationId } from "../core/ids.ts";
import type { DurationMs, SimTime } from "../core/time.ts";
import { nextNumber, type World } from "../core/world.ts";
import type { Event } from "../events.ts";
import type { FaultCounts } from "../fault/match-fault.ts";
import { matchOperationFaults } from "../fault/operation-fault.ts";
import { type Refusal, refuse } from "../refusals.ts";

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

type OperationState =
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

/** The unfinished operations of a project, in the order in which they were scheduled. */
export function unfinishedOperations(world: World, projectId: string): Operation[] {
  return world.operations.by("project", projectId).toArray();
}

/** C, D: public clients retry exactly this sentence. */
export function refuseWhileBusy(world: World, projectId: string): Refusal | undefined {
  return world.operations.by("project", projectId).size === 0 ? undefined : refuseConflicts();
}

export function refuseConflicts(): Refusal {
  return refuse(
    "OPERATIONS_IN_PROGRESS",
    "project already has running conflicting operations, scheduling of new ones is prohibited",
  ).refusal;
}

/**
 * The events that schedule operations in order: what nothing stands in the way of runs at once, the rest is `scheduling`.
 * `finishing` names an operation that the same decision ends, so that nothing waits for it.
 */
export function scheduleOperations(
  world: World,
  projectId: string,
  requests: readonly OperationRequest[],
  context: Context,
  finishingId?: string,
): Event[] {
  const unfinished = unfinishedOperations(world, projectId);
  const preceding =
    finishingId === undefined ? unfinished : unfinished.filter((operation) => operation.id !== finishingId);
  const counts: FaultCounts | undefined = world.faults.size === 0 ? undefined : new Map();
  const [first] = requests;
  if (requests.length === 1 && first !== undefined)
    return scheduleOperation(world, projectId, first, 0, preceding, counts, context);
  const events: Event[] = [];
  for (const [index, request] of requests.entries()) {
    for (const event of scheduleOperation(world, projectId, request, index, preceding, counts, context)) {
      events.push(event);
      if (event.type === "OperationScheduled") preceding.push(event.operation);
    }
  }
  return events;
}

/** One of them, behind those that come `before`; `ahead` counts those that the same decision schedules before it. */
function scheduleOperation(
  world: World,
  projectId: string,
  request: OperationRequest,
  offset: number,
  preceding: readonly Operation[],
  counts: FaultCounts | undefined,
  context: Context,
): Event[] {
  const { now } = context;
  const number = nextNumber(world, "operation", offset);
  const baseMs = drawOperationDuration(world, request.action, number, context);
  const faults = counts && matchOperationFaults(world, projectId, request, number, context, counts);
  const durationMs = faults === undefined ? baseMs : faults.slowDown(baseMs);
  const isBlocked = preceding.length > 0 && preceding.some((earlier) => conflicts(earlier, request));
  const state: OperationState = isBlocked
    ? { status: "scheduling" }
    : { status: "running", startedAt: now, dueAt: now + durationMs };
  const base = buildOperation(projectId, request, number, durationMs, state, context);
  const operation = faults?.failures === undefined ? base : { ...base, failures: faults.failures };
  const scheduled: Event = { type: "OperationScheduled", at: now, operation };
  const consequences = isBlocked ? [] : consequencesOfStart(operation, now);
  if (faults === undefined && consequences.length === 0) return [scheduled];
  return [...(faults?.events ?? []), scheduled, ...consequences];
}

/**
 * R: "a suspend_compute operation is recorded": the platform did it at this instant and nobody had to wait for it (A). `ahead` counts
 * those that the same decision records before it.
 */
export function recordOperation(
  world: World,
  projectId: string,
  request: OperationRequest,
  context: Context,
  offset = 0,
): Event {
  const at = context.now;
  const state: OperationState = { status: "finished", startedAt: at, finishedAt: at };
  const operation = buildOperation(
    projectId,
    request,
    nextNumber(world, "operation", offset),
    0,
    state,
    context,
  );
  return { type: "OperationScheduled", at, operation };
}

function buildOperation(
  projectId: string,
  request: OperationRequest,
  number: number,
  durationMs: DurationMs,
  state: OperationState,
  { now, random }: Context,
): Operation {
  const { branchId, endpointId } = request;
  const id = drawOperationId(random, number);
  const { action, cause = "request", thenStart = false } = request;
  // Written out, for there are very many of these.
  if (branchId !== undefined && endpointId !== undefined)
    return {
      id,
      number,
      projectId,
      branchId,
      endpointId,
      action,
      state,
      durationMs,
      cause,
      thenStart,
      createdAt: now,
      updatedAt: now,
    };
  const common = { action, state, durationMs, cause, thenStart, createdAt: now, updatedAt: now };
  return branchId === undefined
    ? { id, number, projectId, ...common }
    : { id, number, projectId, branchId, ...common };
}

/** The operations that an end sets free, in order: each was waiting for nothing else. */
export function startUnblocked(world: World, finished: Operation, now: SimTime): Event[] {
  const events: Event[] = [];
  const preceding: Operation[] = [];
  for (const operation of unfinishedOperations(world, finished.projectId)) {
    if (operation.id === finished.id) continue;
    if (
      operation.state.status === "scheduling" &&
      !preceding.some((earlier) => conflicts(earlier, operation))
    ) {
      events.push({
        type: "OperationStarted",
        at: now,
        operationId: operation.id,
        dueAt: now + operation.durationMs,
      });
      events.push(...consequencesOfStart(operation, now));
    }
    preceding.push(operation);
  }
  return events;
}

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
function conflicts(one: OperationRequest, other: OperationRequest): boolean {
  if (one.branchId === undefined || other.branchId === undefined) return true;
  if (one.endpointId !== undefined && other.endpointId !== undefined)
    return one.endpointId === other.endpointId;
  return one.branchId === other.branchId;
}

/** D: a suspend closes the connections when it begins; the compute is idle when it ends. */
function consequencesOfStart(operation: Operation, now: SimTime): Event[] {
  if (operation.action !== "suspend_compute" || operation.endpointId === undefined) return [];
  return [{ type: "ComputeSuspending", at: now, endpointId: operation.endpointId }];
}

function drawOperationDuration(
  world: World,
  action: OperationAction,
  number: number,
  { random, profile }: Context,
): DurationMs {
  if (world.settings.operations === "immediate") return 0;
  const distribution =
    (action === "start_compute" ? world.settings.startDelay : undefined) ?? profile.durations[action];
  return drawDuration(distribution, () => random.stream("operation-duration", number));
}
