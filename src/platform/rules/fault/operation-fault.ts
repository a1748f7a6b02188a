import { drawOperationId } from "../../../kernel/ids.ts";
import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import type { DurationMs } from "../../../kernel/time.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { OperationFailures, OperationRequest } from "../../model/operation.ts";
import type { World } from "../../world/world.ts";
import { type FaultCounts, matchFaults } from "./match-fault.ts";

/** The combined effect of faults on an operation. */
type OperationFaults = {
  readonly events: readonly Event[];
  readonly failures?: OperationFailures;
  /** The duration with faults, given the one without. */
  readonly slowDown: (durationMs: DurationMs) => DurationMs;
};

/**
 * Faults are matched when an operation is scheduled, so that its end can be predicted. Operations that the
 * platform records after the fact (an autosuspend, a quota) match none.
 */
export function matchOperationFaults(
  world: World,
  projectId: string,
  { action, branchId, endpointId }: OperationRequest,
  number: number,
  context: Context,
  counts: FaultCounts,
): OperationFaults {
  const location = omitUndefined({ projectId, branchId, endpointId });
  const id = drawOperationId(context.random, number);
  const { events, hits } = matchFaults(
    world,
    { kind: "operation", operationId: id, action, ...location },
    context,
    counts,
  );
  let failures: OperationFailures | undefined;
  let [factor, byMs] = [1, 0];
  for (const { fault, outcome } of hits) {
    // The first fault that makes the operation fail decides how.
    if (outcome.kind === "operation_fails")
      failures ??= { fault, times: outcome.times, ends: outcome.ends, count: 0 };
    if (outcome.kind !== "start_slower") continue;
    factor *= outcome.factor;
    byMs += outcome.byMs;
  }
  return {
    events,
    ...(failures === undefined ? {} : { failures }),
    slowDown: (durationMs) => Math.round(durationMs * factor) + byMs,
  };
}
