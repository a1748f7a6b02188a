import type { SimTime } from "../../../kernel/time.ts";
import type { Profile } from "../../catalog/defaults-and-limits.ts";
import { type Activity, type PendingLoad, toPendingLoad } from "../../model/activity.ts";
import { type CacheStatistics, cacheCapacity, countBlocks, EMPTY_CACHE } from "../../model/cache.ts";
import type { ActivePhase, Compute, RunningLoad, ScalingState } from "../../model/compute.ts";
import { runtimeOf, withRuntime } from "../../model/compute.ts";
import type { ComputeEvent } from "../../model/compute-events.ts";
import { loadUnits } from "../../model/load-average.ts";
import type { Evolvers } from "../../world/handlers.ts";
import { profileOfWorld, type World } from "../../world/world.ts";
import { meter } from "../usage/meter.ts";
import { addLoad, endLoads, scales, startScaling } from "./autoscaling/autoscaling.ts";
import { addReading, sizeForReadings } from "./autoscaling/load-readings.ts";
import { closeConnections, serveWaitingConnections } from "./open-connections.ts";

const IDLE = { state: "idle" } as const;

export const computeEvolvers = {
  ComputeCreated(world, { compute }) {
    world.numbers.endpoint = compute.number;
    world.computes.set(compute);
  },
  ComputeUpdated(world, event) {
    const { at, changes } = event;
    const compute = computeOf(world, event);
    meter(world, compute, at);
    world.computes.set({ ...compute, ...changes, phase: meteredPhase(compute, at), updatedAt: at });
  },
  ComputeDeleted(world, event) {
    const compute = computeOf(world, event);
    meter(world, compute, event.at);
    world.connections.deleteForCompute(compute.id);
    for (const key of [...world.scheduledActivities.by("endpoint", compute.id).keys()])
      world.scheduledActivities.delete(key);
    world.computes.delete(compute.id);
  },
  ComputeActivated(world, event) {
    const compute = computeOf(world, event);
    // After a failed suspend the compute is still active, and its use up to now has to be booked.
    meter(world, compute, event.at);
    world.computes.set(activate(world, compute, event));
  },
  ComputeSuspending(world, event) {
    const compute = computeOf(world, event);
    if (compute.phase.state !== "active") return;
    closeConnections(world, compute.id);
    world.computes.set(
      withRuntime(compute, {
        ...runtimeOf(compute),
        phase: {
          ...compute.phase,
          scaling: withoutLoads(compute.phase, event.at),
          suspending: true,
          openTransactions: 0,
          readings: [],
          spanSince: undefined,
        },
        lastActiveAt: endOfLastActivity(compute, event.at),
      }),
    );
  },
  ComputeSuspended(world, event) {
    const compute = computeOf(world, event);
    meter(world, compute, event.at);
    closeConnections(world, compute.id);
    // Arrivals during the suspend keep waiting, and the latest of them stays the last activity.
    world.computes.set(suspended(compute, event.at));
  },
  ComputeResized(world, event) {
    world.computes.set(resized(world, computeOf(world, event), event.sizeCu, event.at));
  },
  ComputeStartFailed(world, event) {
    const { at } = event;
    const compute = computeOf(world, event);
    meter(world, compute, at);
    world.connections.deleteForCompute(compute.id);
    const lastActiveAt = endOfLastActivity(compute, at);
    world.computes.set(
      withRuntime(compute, {
        ...runtimeOf(compute),
        phase: IDLE,
        waiting: undefined,
        lastActiveAt,
        updatedAt: at,
      }),
    );
  },
  ComputeSuspendFailed(world, event) {
    const compute = computeOf(world, event);
    const { phase } = compute;
    if (phase.state !== "active") return;
    // Readings during the failed suspend resize nothing.
    const scaling = phase.scaling && { ...phase.scaling, resizedAt: event.at };
    world.computes.set({
      ...compute,
      phase: { ...phase, scaling, suspending: false },
      updatedAt: event.at,
    });
  },
} satisfies Evolvers<ComputeEvent>;

function computeOf(
  world: World,
  { type, endpointId }: Exclude<ComputeEvent, { type: "ComputeCreated" }>,
): Compute {
  const compute = world.computes.get(endpointId);
  if (compute === undefined) throw new Error(`${type}: there is no endpoint ${endpointId}`);
  return compute;
}

/**
 * R: cache statistics start at zero, the compute takes the newest release, and waiting arrivals are served.
 */
function activate(
  world: World,
  compute: Compute,
  { release, at, readingSeed }: Extract<ComputeEvent, { type: "ComputeActivated" }>,
): Compute {
  const { waiting } = compute;
  const profile = profileOfWorld(world);
  const { range } = compute;
  const scaling =
    world.settings.loadAverage === true && scales(range)
      ? startScaling(at, waiting === undefined ? [] : waitingLoads(waiting, at), readingSeed)
      : undefined;
  const readings =
    waiting?.load === undefined || scaling !== undefined
      ? []
      : [{ load: waiting.load, until: at + waiting.longestMs + profile.loadReadingMs }];
  // A: it starts with its smallest size, because its load average starts at zero.
  const sizeCu = scaling === undefined ? sizeForReadings(profile, range, readings, at) : range.minCu;
  const cache =
    waiting === undefined ? EMPTY_CACHE : countPendingBlocks(EMPTY_CACHE, waiting, profile, sizeCu);
  const openTransactions = serveWaitingConnections(world, compute.id, at);
  const phase: ActivePhase = {
    state: "active",
    startedAt: at,
    range,
    sizeCu,
    meteredAt: at,
    release,
    openTransactions,
    queries: waiting?.queries ?? 0,
    scaling,
    readings,
    cache,
    suspending: false,
  };
  const lastActiveAt = waiting === undefined ? compute.lastActiveAt : at + waiting.longestMs;
  return withRuntime(compute, {
    phase,
    waiting: undefined,
    lastActiveAt,
    startedAt: at,
    suspendedAt: compute.suspendedAt,
    updatedAt: at,
  });
}

/** Arrivals that waited; a world of an earlier release knows only their highest load. */
function waitingLoads({ loads, load, longestMs }: PendingLoad, at: SimTime): RunningLoad[] {
  const runs = loads ?? (load === undefined ? [] : [{ load: loadUnits(load), durationMs: longestMs }]);
  return runs.map(({ durationMs, ...run }) => ({ ...run, until: at + durationMs }));
}

/** When its connections close, nothing runs any more. */
function withoutLoads({ startedAt, scaling }: ActivePhase, at: SimTime): ScalingState | undefined {
  return scaling && endLoads(startedAt, scaling, at);
}

function resized(world: World, compute: Compute, sizeCu: number, at: SimTime): Compute {
  const { phase } = compute;
  if (phase.state !== "active") return compute;
  meter(world, compute, at);
  // A smaller compute has a smaller cache, and evicts what no longer fits.
  const cache = countBlocks(
    phase.cache,
    { hits: 0, misses: 0, writes: 0 },
    cacheCapacity(profileOfWorld(world), sizeCu),
  );
  return {
    ...compute,
    phase: {
      ...phase,
      scaling: phase.scaling && { ...phase.scaling, resizedAt: at },
      sizeCu,
      meteredAt: at,
      cache,
      readings: phase.readings.filter(({ until }) => until > at),
    },
  };
}

/** The active compute after serving an activity. */
export function serveActivity(
  world: World,
  compute: Compute,
  phase: ActivePhase,
  activity: Activity,
  opensTransaction: boolean,
  at: SimTime,
): Compute {
  const pending = toPendingLoad(activity);
  const until = at + pending.longestMs;
  const profile = profileOfWorld(world);
  const { load, queries } = pending;
  const { startedAt, range, sizeCu, meteredAt, release, suspending } = phase;
  const nextPhase: ActivePhase = {
    state: "active",
    startedAt,
    range,
    sizeCu,
    meteredAt,
    release,
    openTransactions: phase.openTransactions + (opensTransaction ? 1 : 0),
    queries: phase.queries + queries,
    scaling: scalingWith(phase, activity, until, at),
    readings:
      load === undefined || phase.scaling !== undefined
        ? phase.readings
        : addReading(phase.readings, { load, until: until + profile.loadReadingMs }, at),
    cache: countPendingBlocks(phase.cache, pending, profile, sizeCu),
    spanSince: phase.spanSince,
    suspending,
  };
  const { waiting, suspendedAt, updatedAt } = compute;
  const lastActiveAt = Math.max(compute.lastActiveAt ?? 0, until);
  return withRuntime(compute, {
    phase: nextPhase,
    waiting,
    lastActiveAt,
    startedAt: compute.startedAt,
    suspendedAt,
    updatedAt,
  });
}

function scalingWith(
  { startedAt, scaling }: ActivePhase,
  { load, connectionId }: Activity,
  until: SimTime,
  at: SimTime,
): ScalingState | undefined {
  if (scaling === undefined || load === undefined) return scaling;
  const own = connectionId === undefined ? {} : { connectionId };
  return addLoad(startedAt, scaling, { load: loadUnits(load), until, ...own }, at);
}

function countPendingBlocks(
  cache: CacheStatistics,
  { blocks }: PendingLoad,
  profile: Profile,
  sizeCu: number,
): CacheStatistics {
  const hasBlocks = blocks.hits !== 0 || blocks.misses !== 0 || blocks.writes !== 0;
  return hasBlocks ? countBlocks(cache, blocks, cacheCapacity(profile, sizeCu)) : cache;
}

function suspended(compute: Compute, at: SimTime): Compute {
  const { waiting, startedAt } = compute;
  return withRuntime(compute, {
    phase: IDLE,
    waiting,
    lastActiveAt: endOfLastActivity(compute, at),
    startedAt,
    suspendedAt: at,
    updatedAt: at,
  });
}

/** When the connections close, whatever was running ends, and so does the last activity. */
function endOfLastActivity({ phase, lastActiveAt }: Compute, at: SimTime): SimTime | undefined {
  if (lastActiveAt === undefined) return undefined;
  const running = phase.state === "active" && (phase.openTransactions > 0 || phase.spanSince !== undefined);
  return running ? at : Math.min(lastActiveAt, at);
}

function meteredPhase(compute: Compute, at: SimTime): Compute["phase"] {
  return compute.phase.state === "active" ? { ...compute.phase, meteredAt: at } : compute.phase;
}
