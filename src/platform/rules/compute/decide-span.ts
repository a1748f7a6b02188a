import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { ActivePhase, Compute } from "../../model/compute.ts";
import type { Event } from "../../model/events.ts";
import type { SpanCommand } from "../../model/span.ts";
import type { Deciders } from "../../world/handlers.ts";
import type { World } from "../../world/world.ts";
import { findReachableCompute } from "./decide-activity.ts";

export const spanDeciders = {
  BeginSpan(world, { endpointId }, { now }) {
    const active = findActive(world, endpointId);
    if (!active.ok) return active;
    if (active.value.phase.spanSince !== undefined)
      return refuse("SPAN_EXISTS", `endpoint "${endpointId}" has an open span`);
    return accept([{ type: "SpanBegan", at: now, endpointId }]);
  },
  EndSpan(world, { endpointId, beganAt, until, arrivals, blocks, load, data, continues }, { now }) {
    const active = findActive(world, endpointId);
    if (!active.ok) return active;
    if (active.value.phase.spanSince !== beganAt)
      return refuse("SPAN_NOT_FOUND", `endpoint "${endpointId}" has no span that began at ${beganAt}`);
    const event: Event = {
      type: "SpanEnded",
      at: now,
      endpointId,
      beganAt,
      until: Math.min(until, now),
      arrivals,
      ...(blocks === undefined ? {} : { blocks }),
      ...(load === undefined ? {} : { load }),
      ...(data === undefined ? {} : { data }),
      ...(continues === true ? { continues } : {}),
    };
    return accept([event]);
  },
} satisfies Deciders<SpanCommand>;

function findActive(world: World, endpointId: string): Result<Compute & { readonly phase: ActivePhase }> {
  const reachable = findReachableCompute(world, endpointId);
  if (!reachable.ok) return reachable;
  const { phase } = reachable.value;
  if (phase.state !== "active" || phase.suspending)
    return refuse("ENDPOINT_NOT_ACTIVE", `endpoint "${endpointId}" is not active`);
  return accept({ ...reachable.value, phase });
}
