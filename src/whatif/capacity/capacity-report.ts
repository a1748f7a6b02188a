import type { Profile } from "../../platform/catalog/profile.ts";
import { computeResources, maxConnections, type SizeRange } from "../../platform/catalog/sizes.ts";
import { cacheCapacity } from "../../platform/compute/cache.ts";
import type { Random } from "../../platform/core/random-port.ts";
import { uniform } from "../../platform/core/random-port.ts";
import { type DurationMs, HOUR, SECOND } from "../../platform/core/time.ts";
import {
  type ComputeArrivals,
  collectParts,
  eachPart,
  type Period,
  rangeView,
  untilDeleted,
} from "../../recordings/trace/trace.ts";
import { activeIntervals } from "../replay/active-intervals.ts";
import { StartLatencies } from "../replay/start-latency.ts";
import { WaitHistogram } from "../replay/wait-histogram.ts";
import type { ReportLimits } from "../report/page-layout.ts";
import { effectiveDelay, type Question, type QuestionSummary, questionSummary } from "../report/question.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { AFTER_TRACE_END, type TrafficSummary, trafficSummary } from "../trace/traffic-summary.ts";
import { CacheRecovery, type RecoveryBucket, recoveredAfterMs } from "./cache-recovery.ts";
import { erlangB, erlangC, meanWait } from "./erlang.ts";
import { directConnections, directLimit, POOL_WAIT_LIMIT_MS, pooledConnections } from "./pool-connections.ts";
import { type Demand, replayScaling, sizeFor } from "./scaling-replay.ts";
import { type DistanceHistogram, hitRatioOf, StackDistances } from "./stack-distance.ts";

/** What a trace does not tell, and capacity depends on. */
export type CapacityAssumptions = {
  /** vCPUs that a request keeps busy while it runs. */
  readonly loadPerRequest: number;
  /** Memory that a request takes while it runs, in GB; absent: memory asks for no size. */
  readonly memoryGbPerRequest?: number | undefined;
  /** Connections that the platform keeps back. */
  readonly reserved: number;
  /** Who shares server connections of the pooler: all of a compute, or those of one source. */
  readonly poolBy: PoolBy;
  /** What requests read from, in GB, and how many blocks each; absent: nothing is said of the cache. */
  readonly cache?:
    | { readonly workingSetGb: number; readonly blocksPerRequest: number; readonly skew: number }
    | undefined;
};

export type PoolBy = "compute" | "source";

export type CapacityRow = {
  readonly min_cu: number;
  readonly max_cu: number;
  readonly cu_hours: number;
  readonly cost: number | null;
  /** While awake: time in which what runs needs more vCPUs than the size has. */
  readonly throttled_s: number;
  readonly scale_events: number;
  readonly max_connections: number;
  /** Of these, what is left when the platform has kept its own back. */
  readonly direct_limit: number;
  readonly direct_refused: number;
  /** By Erlang's loss formula from the mean load, were arrivals without memory. */
  readonly direct_refused_share_erlang: number;
  readonly pool_size: number;
  /** Clients that the pooler takes at once, those that wait included. */
  readonly pool_clients: number;
  readonly pooled_refused: number;
  readonly pool_waited: number;
  /** By Erlang's delay formula from the mean load, were arrivals and lengths without memory and callers patient; the mean is null where it has none. */
  readonly pool_waited_share_erlang: number;
  readonly pool_wait_mean_erlang_ms: number | null;
  /** Of those that got a server: who is refused has no wait. */
  readonly pool_wait_p50_ms: number;
  readonly pool_wait_p99_ms: number;
  /** Of the size that the working set asks for: of a range that may be more than its minimum. */
  readonly cache_gb: number;
  /** 0 to 1; null where no working set was given. */
  readonly cache_hit_ratio: number | null;
  /** So long after a start reads are answered nearly as well as at any time; null where nothing can be said. */
  readonly cache_recovered_after_s: number | null;
};

export type CapacityReport = {
  readonly question: QuestionSummary;
  readonly traffic: TrafficSummary;
  readonly assumptions: CapacityAssumptions;
  /** The most requests that ran at once in one compute. */
  readonly peak_connections: number;
  readonly sizes: readonly CapacityRow[];
  /** How the cache fills again after a start; empty where no working set was given. */
  readonly cache_recovery: readonly RecoveryRow[];
  readonly limits: ReportLimits;
};

/** Reads by the time since the start before them; `to_s` is null of the last stretch, which has no end. */
type RecoveryRow = {
  readonly from_s: number;
  readonly to_s: number | null;
  /** Estimated, where reads are so many that they are sampled. */
  readonly reads: number;
  /** By size, in the order of `sizes`; 0 to 1. */
  readonly hit_ratios: readonly number[];
};

const BLOCK_BYTES = 8_192;
/** Each pool of a user and a database may have 90 % of max_connections, those included that are kept back (D: connection pooling). */
const POOL_SHARE = 0.9;
/**
 * More uses of blocks are sampled. Out of 262,144 blocks, with any skew from 0 to 0.8, hit ratios are then off by 0.4 points at most (root of the mean
 * square over twelve samples); without the blocks that are read most, which are followed always, by up to 6.7.
 */
const MAX_EXACT_ACCESSES = 2_000_000;
const SAMPLE_SHARE = 0.05;
const ALWAYS_TRACKED = 4_096;

/** Every size alone, and the range from the first to the last. Tells after each compute how many are done. */
export function* capacityReport(
  traffic: Traffic,
  ranges: readonly SizeRange[],
  profile: Profile,
  question: Question,
  assumptions: CapacityAssumptions,
  random: Random,
): Generator<number, CapacityReport> {
  const { period } = traffic;
  const totals = ranges.map((range) => new CapacityTotals(range, profile, assumptions));
  const caches = totals.map(({ cacheCu }) => cacheCapacity(profile, cacheCu));
  const distances =
    assumptions.cache === undefined
      ? undefined
      : new CacheSimulation(traffic, caches, assumptions.cache, random);
  let [peak, arrivals, used] = [0, 0, 0];
  for (const number of traffic.computes.keys()) {
    const own = collectParts(traffic.arrivals(number));
    arrivals += own.at.length;
    used += own.at.length > 0 ? 1 : 0;
    peak = Math.max(peak, directConnections(own).peak);
    const latencies = new StartLatencies(question.latency, random, number);
    const { served, intervals: active } = activeIntervals(
      own,
      untilDeleted(period, question.deletedAt?.[number]),
      effectiveDelay(question, question.currentDelay, number),
      latencies,
    );
    for (const total of totals) {
      total.addConnections(own, period);
      for (const { from, to, period: time } of active) total.addScaling(rangeView(served, from, to), time);
    }
    distances?.add(
      served,
      number,
      active.map(({ from }) => from),
    );
    yield number + 1;
  }
  const histogram = distances?.histogram();
  const recovery = distances?.recovery() ?? [];
  return {
    question: questionSummary(question),
    traffic: trafficSummary(traffic, used, arrivals),
    assumptions,
    peak_connections: peak,
    sizes: totals.map((total, index) =>
      total.row(question.costs.pricePerCuHour, histogram, recoveredAfterMs(recovery, index)),
    ),
    cache_recovery: recovery.map(({ fromMs, toMs, reads, hitRatios }) => ({
      from_s: fromMs / SECOND,
      to_s: Number.isFinite(toMs) ? toMs / SECOND : null,
      reads,
      hit_ratios: hitRatios,
    })),
    limits: capacityLimits(assumptions, profile),
  };
}

class CapacityTotals {
  readonly range: SizeRange;
  readonly #profile: Profile;
  readonly #demand: Demand;
  readonly #poolBy: PoolBy;
  readonly #limit: number;
  readonly #waits = new WaitHistogram();
  #sessions = 0;
  #directRefused = 0;
  #erlangRefused = 0;
  #erlangWaited = 0;
  #erlangWaitMs = 0;
  #pooledRefused = 0;
  #cuMs = 0;
  #throttledS = 0;
  #scaleEvents = 0;

  constructor(
    range: SizeRange,
    profile: Profile,
    { loadPerRequest, memoryGbPerRequest, cache, poolBy, reserved }: CapacityAssumptions,
  ) {
    this.range = range;
    this.#poolBy = poolBy;
    this.#profile = profile;
    this.#demand = { loadPerRequest, memoryGbPerRequest, workingSetGb: cache?.workingSetGb };
    this.#limit = directLimit(profile, range, reserved);
  }

  /** While it is awake it never has less than the working set asks for, so the cache is that of this size at least. */
  get cacheCu(): number {
    return sizeFor(0, this.#demand, this.range, this.#profile);
  }

  get #maxConnections(): number {
    return maxConnections(this.#profile, this.range);
  }

  get #poolSize(): number {
    return Math.max(1, Math.floor(this.#maxConnections * POOL_SHARE));
  }

  addConnections(arrivals: ComputeArrivals, period: Period): void {
    const { at, durationMs, source } = arrivals;
    const pools = { at, durationMs, source: this.#poolBy === "source" ? source : undefined };
    const { sessions, refused } = directConnections(arrivals, this.#limit);
    const [poolSize, ceiling] = [this.#poolSize, Math.max(1, this.#limit)];
    const pooled = pooledConnections(pools, {
      poolSize,
      ceiling,
      clients: this.#profile.pooledConnections,
      waitLimitMs: POOL_WAIT_LIMIT_MS,
    });
    this.#sessions += sessions;
    this.#directRefused += refused;
    const servers = Math.min(poolSize, ceiling);
    let offered = 0;
    for (const { sessions: own, busyMs, load } of poolLoads(pools, period)) {
      offered += load;
      this.#erlangWaited += erlangC(servers, load) * own;
      // In times of service, of which all of them together are the busy time.
      if (busyMs > 0) this.#erlangWaitMs += meanWait(servers, load) * busyMs;
    }
    this.#erlangRefused += erlangB(this.#limit, offered) * sessions;
    this.#pooledRefused += pooled.refused;
    this.#waits.merge(pooled.waits);
  }

  addScaling(arrivals: ComputeArrivals, active: Period): void {
    const { cuMs, throttledS, scaleEvents } = replayScaling(
      arrivals,
      this.#demand,
      active,
      this.range,
      this.#profile,
    );
    this.#cuMs += cuMs;
    this.#throttledS += throttledS;
    this.#scaleEvents += scaleEvents;
  }

  row(
    price: number | undefined,
    histogram: DistanceHistogram | undefined,
    recoveredAfter: DurationMs | undefined,
  ): CapacityRow {
    const { minCu, maxCu } = this.range;
    const cuHours = this.#cuMs / HOUR;
    const sessions = this.#sessions;
    return {
      min_cu: minCu,
      max_cu: maxCu,
      cu_hours: cuHours,
      cost: price === undefined ? null : cuHours * price,
      throttled_s: this.#throttledS,
      scale_events: this.#scaleEvents,
      max_connections: this.#maxConnections,
      direct_limit: this.#limit,
      direct_refused: this.#directRefused,
      direct_refused_share_erlang: sessions === 0 ? 0 : this.#erlangRefused / sessions,
      pool_size: this.#poolSize,
      pool_clients: this.#profile.pooledConnections,
      pooled_refused: this.#pooledRefused,
      pool_waited: this.#waits.waited,
      pool_waited_share_erlang: sessions === 0 ? 0 : this.#erlangWaited / sessions,
      pool_wait_mean_erlang_ms: Number.isFinite(this.#erlangWaitMs)
        ? this.#erlangWaitMs / Math.max(1, sessions)
        : null,
      pool_wait_p50_ms: this.#waits.quantile(0.5, sessions - this.#pooledRefused),
      pool_wait_p99_ms: this.#waits.quantile(0.99, sessions - this.#pooledRefused),
      cache_gb: computeResources(this.#profile, this.cacheCu).fileCacheGb,
      cache_hit_ratio:
        histogram === undefined ? null : hitRatioOf(histogram, cacheCapacity(this.#profile, this.cacheCu)),
      cache_recovered_after_s: recoveredAfter === undefined ? null : recoveredAfter / SECOND,
    };
  }
}

/** What comes to each pool. `load`: how many of them run on average, within the period. */
type PoolLoad = { sessions: number; busyMs: DurationMs; load: number };

function poolLoads(
  { at, durationMs, source }: ComputeArrivals,
  { startAt, endAt }: Period,
): readonly PoolLoad[] {
  const loads = new Map<number, PoolLoad>();
  for (let i = 0; i < durationMs.length; i += 1) {
    const pool = source?.[i] ?? 0;
    const own = loads.get(pool) ?? { sessions: 0, busyMs: 0, load: 0 };
    own.sessions += 1;
    own.busyMs += durationMs[i] as number;
    own.load += Math.min(durationMs[i] as number, endAt - (at[i] as number)) / (endAt - startAt);
    loads.set(pool, own);
  }
  return [...loads.values()];
}

/** Blocks that requests read, made up: each draws from the working set, small numbers more often. */
class CacheSimulation {
  readonly #blocks: number;
  readonly #blocksPerRequest: number;
  readonly #exponent: number;
  readonly #random: Random;
  readonly #distances: StackDistances;
  readonly #recovery: CacheRecovery;

  constructor(
    traffic: Traffic,
    capacities: readonly number[],
    { workingSetGb, blocksPerRequest, skew }: NonNullable<CapacityAssumptions["cache"]>,
    random: Random,
  ) {
    let accesses = 0;
    for (const number of traffic.computes.keys()) {
      eachPart(traffic.arrivals(number), ({ at }) => {
        accesses += at.length * blocksPerRequest;
      });
    }
    this.#blocks = Math.max(1, Math.round((workingSetGb * 1024 ** 3) / BLOCK_BYTES));
    this.#blocksPerRequest = blocksPerRequest;
    this.#exponent = 1 / (1 - skew);
    this.#random = random;
    this.#distances = new StackDistances(accesses > MAX_EXACT_ACCESSES ? SAMPLE_SHARE : 1, ALWAYS_TRACKED);
    this.#recovery = new CacheRecovery(capacities);
  }

  /** `starts`: the requests that found the compute asleep, and its cache empty. */
  add({ at }: ComputeArrivals, compute: number, starts: readonly number[]): void {
    const stream = this.#random.stream("whatif-blocks", compute);
    const coldStarts = new Set(starts);
    let startedAt = 0;
    for (let i = 0; i < at.length; i += 1) {
      if (coldStarts.has(i)) {
        this.#distances.restart();
        startedAt = at[i] as number;
      }
      // The inverse of the cumulative distribution of a power law: few blocks are used most.
      for (let block = 0; block < this.#blocksPerRequest; block += 1) {
        const read = Math.floor(this.#blocks * uniform(stream) ** this.#exponent);
        const distance = this.#distances.access(read);
        if (distance !== undefined)
          this.#recovery.add((at[i] as number) - startedAt, distance, this.#distances.weightOf(read));
      }
    }
  }

  histogram(): DistanceHistogram {
    return this.#distances.histogram();
  }

  recovery(): RecoveryBucket[] {
    return this.#recovery.buckets();
  }
}

function capacityLimits(
  { loadPerRequest, memoryGbPerRequest, reserved, poolBy, cache }: CapacityAssumptions,
  profile: Profile,
): ReportLimits {
  return {
    exact: [
      "Connections: every request holds one from its arrival to its end; who finds all taken is refused and does not come again, or waits in the pool for up to two minutes, where the pooler takes no more clients than the platform does.",
    ],
    simulated: [
      `A range follows the platform's goal function, the largest of load, memory and cache, with ${loadPerRequest} vCPU busy${memoryGbPerRequest === undefined ? "" : ` and ${memoryGbPerRequest} GB taken`} for each request that runs (--load-per-request, --memory-per-request): traces do not tell it. A compute sleeps by the present delay; who arrives during a start is served from its end, and so is its size counted.`,
      ...(cache === undefined
        ? []
        : [
            `Blocks are made up: ${cache.blocksPerRequest} reads a request out of ${cache.workingSetGb} GB, skewed by ${cache.skew}; a start empties the cache.`,
          ]),
    ],
    left_out: [
      "A throttled request is not slowed down: it ends when it ended.",
      "Connections are held as they were recorded: not for longer, where a request waits for a start.",
      ...(memoryGbPerRequest === undefined
        ? ["Memory: give --memory-per-request to have it ask for sizes."]
        : []),
      ...(cache === undefined
        ? ["The cache: give --working-set to have it ask for sizes, and hit ratios by size."]
        : []),
      `${poolBy === "compute" ? "All requests of a compute go through one pool" : "Each source of a compute has a pool of its own"}, where the platform has one for a user and a database (--pool-by); limits are those of profile ${profile.name}, less ${reserved} connections that the platform keeps for itself (--reserved).`,
      AFTER_TRACE_END,
    ],
  };
}
