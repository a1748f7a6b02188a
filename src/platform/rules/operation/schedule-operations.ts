import { drawDuration } from "../../../kernel/distribution.ts";
import { drawOperationId } from "../../../kernel/ids.ts";
import { uniform } from "../../../kernel/random-port.ts";
import type { DurationMs, SimTime } from "../../../kernel/time.ts";
import type { OperationAction } from "../../catalog/operation-actions.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import {
  conflicts,
  endpointOf,
  type Operation,
  type OperationFailures,
  type OperationRequest,
  type OperationState,
  suspendsCompute,
} from "../../model/operation.ts";
import { nextNumber, type World } from "../../world/world.ts";
import type { FaultCounts } from "../fault/match-fault.ts";
import { matchOperationFaults } from "../fault/operation-fault.ts";
import { durationOfOperation, failedShareOfOperation } from "./operation-duration.ts";

/**
 * The events that schedule operations, in order. An operation without conflicts runs at once; the others are
 * `scheduling`. `endedIds`: operations that the same decision ends, so that no operation waits for them.
 */
export function scheduleOperations(
  world: World,
  projectId: string,
  requests: readonly OperationRequest[],
  context: Context,
  endedIds: readonly string[] = [],
): Event[] {
  const unfinished = unfinishedOperations(world, projectId);
  const preceding =
    endedIds.length === 0 ? unfinished : unfinished.filter(({ id }) => !endedIds.includes(id));
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

/**
 * `preceding`: the operations it may have to wait for. `offset`: those that the same decision schedules
 * before it.
 */
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
  const isBlocked = request.startsAtOnce !== true && preceding.some((earlier) => conflicts(earlier, request));
  const state: OperationState = isBlocked
    ? { status: "scheduling" }
    : { status: "running", startedAt: now, dueAt: now + durationMs };
  const base = buildOperation(projectId, request, number, durationMs, state, context);
  const failures = faults?.failures ?? drawFailure(world, request.action, number, context);
  const operation = failures === undefined ? base : { ...base, failures };
  const scheduled: Event = { type: "OperationScheduled", at: now, operation };
  const events = faults === undefined ? [scheduled] : [...faults.events, scheduled];
  if (!isBlocked && suspendsCompute(operation)) events.push(suspending(operation, now));
  return events;
}

/**
 * R: "a suspend_compute operation is recorded". A: it is finished at once, so nothing waits for it. `offset`:
 * operations that the same decision records before it.
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
  // Written out field by field, because this case is by far the most frequent.
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

/** Starts the operations, in order, that were waiting only for `finished`. */
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
      if (suspendsCompute(operation)) events.push(suspending(operation, now));
    }
    preceding.push(operation);
  }
  return events;
}

/** D: a suspend closes connections when it starts; the compute is idle when it ends. */
function suspending(suspend: Operation, at: SimTime): Event {
  return { type: "ComputeSuspending", at, endpointId: endpointOf(suspend) };
}

function drawOperationDuration(
  world: World,
  action: OperationAction,
  number: number,
  { random, profile }: Context,
): DurationMs {
  const distribution = durationOfOperation(action, world.settings, profile);
  return drawDuration(distribution, () => random.stream("operation-duration", number));
}

/** A failure by the share of a calibrated profile. It is drawn with the duration, so that the end can be predicted. */
function drawFailure(
  world: World,
  action: OperationAction,
  number: number,
  { random }: Context,
): OperationFailures | undefined {
  const share = failedShareOfOperation(action, world.settings);
  if (share === 0 || uniform(random.stream("operation-failure", number)) >= share) return undefined;
  return { times: 1, ends: "failed", count: 0 };
}

/** The unfinished operations of a project, in the order in which they were scheduled. */
export function unfinishedOperations(world: World, projectId: string): Operation[] {
  return world.operations.by("project", projectId).toArray();
}
