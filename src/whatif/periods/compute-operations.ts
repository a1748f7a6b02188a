import type { SimTime } from "../../kernel/time.ts";

/**
 * Which operations start and end activity. R: `start_compute` and `suspend_compute` are recorded for each start and
 * suspend. S: an update schedules `apply_config` with a suspend, and a restart a suspend with a start. Other actions
 * (`create_branch`, `check_availability` and so on) are not about activity.
 */
export const ACTIVITY_ACTIONS: readonly string[] = ["start_compute", "suspend_compute", "apply_config"];
export const STARTS = ACTIVITY_ACTIONS.indexOf("start_compute");
const SUSPENDS = ACTIVITY_ACTIONS.indexOf("suspend_compute");
export const CONFIGURES = ACTIVITY_ACTIONS.indexOf("apply_config");

const FINISHED = "finished";

/**
 * Statuses of operations that took effect, the most frequent first, because a reader compares in this order. An
 * operation with another final status changed nothing.
 */
export const DECISIVE_STATUSES: readonly string[] = [
  FINISHED,
  "cancelled",
  "cancelling",
  "failed",
  "error",
  "skipped",
];

/** The operations of one compute in columns, oldest first. Operations of one second are in any order. */
export type ComputeOperations = {
  /** The whole second in which each was scheduled. */
  readonly createdAt: Float64Array;
  readonly durationMs: Float64Array;
  /** The position in `ACTIVITY_ACTIONS`, or its length for other actions. */
  readonly action: Uint8Array;
  /** The position in `DECISIVE_STATUSES`, or its length for the statuses of operations that have not ended. */
  readonly status: Uint8Array;
};

export function isWithoutEffect(status: number): boolean {
  return status < DECISIVE_STATUSES.length && DECISIVE_STATUSES[status] !== FINISHED;
}

export function isStartOrSuspend(action: number): boolean {
  return action === STARTS || action === SUSPENDS;
}

/** Positions of operations, with the starts and suspends of one second ordered so that they alternate, if they can. */
export function plausibleOrder({ createdAt, action }: ComputeOperations): Uint32Array {
  const order = new Uint32Array(action.length);
  let isActive: boolean | undefined;
  for (let from = 0, to = 0; from < order.length; from = to) {
    to = from + 1;
    while (to < order.length && createdAt[to] === createdAt[from]) to += 1;
    if (to === from + 1) order[from] = from;
    else order.set(alternating(action, from, to, isActive), from);
    for (let place = from; place < to; place += 1) {
      const own = action[order[place] as number] as number;
      if (isStartOrSuspend(own)) isActive = own === STARTS;
    }
  }
  return order;
}

/**
 * The positions from `from` (inclusive) to `to` (exclusive), ordered so that starts and suspends alternate if possible.
 */
function alternating(
  action: ComputeOperations["action"],
  from: number,
  to: number,
  isActiveBefore: boolean | undefined,
): readonly number[] {
  const rest = Array.from({ length: to - from }, (_, index) => from + index);
  const order: number[] = [];
  let isActive = isActiveBefore;
  while (rest.length > 0) {
    const expected = isActive === false ? STARTS : SUSPENDS;
    const found = rest.findIndex((index) => action[index] === expected);
    const [next] = rest.splice(Math.max(0, found), 1) as [number];
    const own = action[next] as number;
    if (isStartOrSuspend(own)) isActive = own === STARTS;
    order.push(next);
  }
  return order;
}

/** When settings of the compute were changed, oldest first. */
export function changesOf({ createdAt, action }: ComputeOperations): SimTime[] {
  const changes: SimTime[] = [];
  for (let index = 0; index < action.length; index += 1)
    if (action[index] === CONFIGURES) changes.push(createdAt[index] as number);
  return changes;
}
