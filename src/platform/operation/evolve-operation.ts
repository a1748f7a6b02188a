import type { SimTime } from "../core/time.ts";
import type { World } from "../core/world.ts";
import type { Event } from "../events.ts";
import type { Operation, OperationFailures } from "./operation.ts";

type OperationEvent = Extract<
  Event,
  {
    type:
      | "OperationScheduled"
      | "OperationStarted"
      | "OperationFinished"
      | "OperationRetried"
      | "OperationFailed"
      | "OperationCancelled";
  }
>;

/** Folds what happened to an operation into the world; what is over is history. */
export function evolveOperation(world: World, event: OperationEvent): void {
  if (event.type === "OperationFinished" && !world.operations.isTracked) {
    // Nobody wants to know what it was: it need not be put together.
    if (!world.operations.evict(event.operationId))
      throw new Error(`${event.type}: operation ${event.operationId} is not unfinished`);
    return;
  }
  const previous = event.type === "OperationScheduled" ? undefined : world.operations.get(event.operationId);
  const operation = applyOperationEvent(previous, event);
  if (event.type === "OperationScheduled") world.numbers.operation = operation.number;
  if (isUnfinished(operation)) world.operations.set(operation);
  else world.operations.retire(operation);
}

/** The operation as an event leaves it; `before` is what it was, if it was. */
export function applyOperationEvent(previous: Operation | undefined, event: OperationEvent): Operation {
  if (event.type === "OperationScheduled") return event.operation;
  if (previous === undefined)
    throw new Error(`${event.type}: operation ${event.operationId} is not unfinished`);
  const { at } = event;
  switch (event.type) {
    case "OperationStarted":
      return { ...previous, state: { status: "running", startedAt: at, dueAt: event.dueAt }, updatedAt: at };
    case "OperationFinished":
      return {
        ...previous,
        state: { status: "finished", startedAt: startedAtOf(previous, at), finishedAt: at },
        updatedAt: at,
      };
    case "OperationRetried": {
      const state = { status: "running", startedAt: startedAtOf(previous, at), dueAt: event.dueAt } as const;
      return { ...previous, ...countFailure(previous, { retriedAt: at }), state, updatedAt: at };
    }
    case "OperationFailed": {
      const state = { status: "failed", startedAt: startedAtOf(previous, at), failedAt: at } as const;
      return { ...previous, ...countFailure(previous), state, updatedAt: at };
    }
    case "OperationCancelled":
      return { ...previous, state: { status: "cancelled", cancelledAt: at }, updatedAt: at };
    default:
      return event satisfies never;
  }
}

function startedAtOf({ state }: Operation, at: SimTime): SimTime {
  return state.status === "running" ? state.startedAt : at;
}

function countFailure(
  { failures }: Operation,
  changes: Pick<OperationFailures, "retriedAt"> = {},
): Pick<Operation, "failures"> {
  return failures === undefined ? {} : { failures: { ...failures, count: failures.count + 1, ...changes } };
}

function isUnfinished({ state }: Operation): boolean {
  return state.status === "scheduling" || state.status === "running";
}
