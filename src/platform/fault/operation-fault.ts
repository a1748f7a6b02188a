import type { Context } from "../core/context.ts";
import { drawOperationId } from "../core/ids.ts";
import type { DurationMs } from "../core/time.ts";
import type { World } from "../core/world.ts";
import type { Event } from "../events.ts";
import type { OperationFailures, OperationRequest } from "../operation/operation.ts";
import { type FaultCounts, meetFaults } from "./match-fault.ts";

/** What the faults that an operation meets make of it. */
type FaultyOperation = {
  readonly events: readonly Event[];
  readonly failures?: OperationFailures;
  /** How long it takes, in the place of this. */
  readonly slowed: (durationMs: DurationMs) => DurationMs;
};

/**
 * Faults are met when an operation is scheduled, so that its end can be foretold. What the platform records without anybody waiting
 * for it (an autosuspend, a quota) meets none.
 */
export function meetOperationFaults(
  world: World,
  projectId: string,
  { action, branchId, endpointId }: OperationRequest,
  number: number,
  context: Context,
  counts: FaultCounts,
): FaultyOperation {
  const place = { projectId, ...(branchId === undefined ? {} : { branchId }), ...(endpointId === undefined ? {} : { endpointId }) };
  const id = drawOperationId(context.chance, number);
  const { events, hits } = meetFaults(world, { kind: "operation", operationId: id, action, ...place }, context, counts);
  let failures: OperationFailures | undefined;
  let [factor, byMs] = [1, 0];
  for (const { fault, outcome } of hits) {
    // The first one that makes it fail decides how.
    if (outcome.kind === "operation_fails") failures ??= { fault, times: outcome.times, ends: outcome.ends, count: 0 };
    if (outcome.kind !== "start_slower") continue;
    factor *= outcome.factor;
    byMs += outcome.byMs;
  }
  return { events, ...(failures === undefined ? {} : { failures }), slowed: (durationMs) => Math.round(durationMs * factor) + byMs };
}
