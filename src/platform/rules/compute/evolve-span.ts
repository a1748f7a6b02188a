import { cacheCapacity, countBlocks } from "../../model/cache.ts";
import type { ActivePhase, Compute } from "../../model/compute.ts";
import type { SpanEvent } from "../../model/span.ts";
import type { Evolvers } from "../../world/handlers.ts";
import { profileOfWorld, type World } from "../../world/world.ts";
import { meterTraffic } from "../usage/meter.ts";
import { sizeSnapshots } from "../usage/meter-snapshots.ts";
import { beginStorage } from "../usage/meter-storage.ts";
import { endSpanLoad } from "./autoscaling/autoscaling.ts";

export const spanEvolvers = {
  SpanBegan(world, { at, endpointId }) {
    const { compute, phase } = activeCompute(world, endpointId);
    world.computes.set({ ...compute, phase: { ...phase, spanSince: at }, lastActiveAt: at });
  },
  SpanEnded(world, event) {
    const { at, endpointId, until, arrivals, blocks, data, continues } = event;
    const { compute, phase } = activeCompute(world, endpointId);
    const capacity = cacheCapacity(profileOfWorld(world), phase.sizeCu);
    world.computes.set({
      ...compute,
      phase: {
        ...phase,
        spanSince: continues === true ? until : undefined,
        scaling: phase.scaling && endSpanLoad(phase.startedAt, phase.scaling, event),
        queries: phase.queries + arrivals,
        cache: blocks === undefined ? phase.cache : countBlocks(phase.cache, blocks, capacity),
      },
      lastActiveAt: Math.max(compute.lastActiveAt ?? until, until),
    });
    if (data === undefined) return;
    meterTraffic(world, compute, data, at);
    const branch = world.branches.get(compute.branchId);
    if (branch === undefined) return;
    beginStorage(world, branch, at);
    const { logicalSizeBytes } = data;
    if (logicalSizeBytes === undefined || branch.logicalSizeBytes === logicalSizeBytes) return;
    if (branch.logicalSizeBytes === undefined) sizeSnapshots(world, branch, logicalSizeBytes, at);
    world.branches.set({ ...branch, logicalSizeBytes });
  },
} satisfies Evolvers<SpanEvent>;

function activeCompute(world: World, endpointId: string): { compute: Compute; phase: ActivePhase } {
  const compute = world.computes.get(endpointId);
  if (compute?.phase.state !== "active") throw new Error(`a span of ${endpointId}, which is not active`);
  return { compute, phase: compute.phase };
}
