import type { SimTime } from "../../../kernel/time.ts";
import type { Operation, OperationEvent, OperationFailures } from "../../model/operation.ts";
import type { Evolvers } from "../../world/handlers.ts";
import type { World } from "../../world/world.ts";

/** The table holds unfinished operations only; one that has ended is history. */
export const operationEvolvers = {
  OperationScheduled(world, { operation }) {
    world.numbers.operation = operation.number;
    storeOperation(world, operation);
  },
  OperationStarted: changeOperation,
  OperationFinished(world, event) {
    if (world.operations.isTracked) {
      changeOperation(world, event);
      return;
    }
    // Without a reader of the finished row, the row need not be built.
    if (!world.operations.evict(event.operationId))
      throw new Error(`${event.type}: operation ${event.operationId} is not unfinished`);
  },
  OperationRetried: changeOperation,
  OperationFailed: changeOperation,
  OperationCancelled: changeOperation,
} satisfies Evolvers<OperationEvent>;

function changeOperation(world: World, event: Exclude<OperationEvent, { type: "OperationScheduled" }>): void {
  storeOperation(world, applyOperationEvent(world.operations.get(event.operationId), event));
}

function storeOperation(world: World, operation: Operation): void {
  if (isUnfinished(operation)) world.operations.set(operation);
  else world.operations.retire(operation);
}

/** The operation after an event. */
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
