import { DAY, type DurationMs, HOUR, SECOND } from "../../../kernel/time.ts";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import { computeResources, maxConnections, type SizeRange } from "../../../platform/catalog/sizes.ts";
import { cacheCapacity } from "../../../platform/model/cache.ts";
import type { ComputeArrivals, Period } from "../../../traffic/recorded/trace/trace.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import { sumOfDays } from "../../held-out/day-totals.ts";
import type { LeftOutDays } from "../../held-out/left-out-days.ts";
import type { Slo } from "../../input/slo.ts";
import { WaitHistogram } from "../../replay/wait-histogram.ts";
import { monthBaseMs } from "../../trace/month-base.ts";
import type { CacheAssumptions } from "./cache-simulation.ts";
import { erlangB, erlangC, meanWait } from "./erlang.ts";
import { missedShare } from "./missed-share.ts";
import {
  directConnections,
  directLimit,
  type IsJudged,
  POOL_WAIT_LIMIT_MS,
  pooledConnections,
  poolLoads,
} from "./pool-connections.ts";
import { emptyScalingDays } from "./scaling-days.ts";
import { type CountedWaits, emptyScalingOutcome, type ScalingOutcome } from "./scaling-outcome.ts";
import { replayScaling, smallestSizeCu } from "./scaling-replay.ts";
import type { Demand, ScalingSetting } from "./scaling-setting.ts";
import { type DistanceHistogram, hitRatioOf } from "./stack-distance.ts";

/** Assumptions about what a trace does not contain. */
export type CapacityAssumptions = {
  /** vCPUs that a request keeps busy while it runs. */
  readonly loadPerRequest: number;
  /** Memory that a request takes while it runs, in GB; absent: memory is not considered. */
  readonly memoryGbPerRequest?: number | undefined;
  /** The share of the active time that may be throttled, and of requests that may be rejected. */
  readonly tolerate?: number | undefined;
  /** Criterion for a sufficient size; replaces `tolerate`. */
  readonly slo?: Slo | undefined;
  /** The share of its duration in which a request keeps its vCPUs busy. */
  readonly cpuShare?: number | undefined;
  /** Connections that the platform reserves for itself. */
  readonly reserved: number;
  /** Which requests share one pool: all of a compute, or those of one source. */
  readonly poolBy: PoolBy;
  /** Absent: the cache is not considered. */
  readonly cache?: CacheAssumptions | undefined;
};

export type PoolBy = "compute" | "source";

export type CapacityRow = {
  readonly min_cu: number;
  readonly max_cu: number;
  readonly cu_hours: number;
  readonly cost: number | null;
  /** CU-hours of a month of 730 hours, in which a size that falls behind is always active. */
  readonly cu_hours_per_month: number;
  readonly cost_per_month: number | null;
  /** Active time in which the running requests need more vCPUs than the size has. */
  readonly throttled_s: number;
  /** Throttled share of the active time, from 0 to 1. */
  readonly throttled_share: number;
  /** Mean time that throttling adds, over all requests. */
  readonly added_wait_mean_ms: number;
  readonly added_wait_p99_ms: number;
  /**
   * Share of requests that violate the SLO, because throttling adds more wait or because they are rejected; null
   * without an SLO.
   */
  readonly slo_missed_share: number | null;
  readonly scale_events: number;
  readonly starts: number;
  readonly max_connections: number;
  /** `max_connections` less those that the platform reserves. */
  readonly direct_limit: number;
  readonly direct_refused: number;
  /** Erlang's loss formula (B) for the mean load; assumes Poisson arrivals. */
  readonly direct_refused_share_erlang: number;
  readonly pool_size: number;
  /** Clients connected to the pooler at once, waiting ones included. */
  readonly pool_clients: number;
  readonly pooled_refused: number;
  readonly pool_waited: number;
  /**
   * Erlang's delay formula (C) for the mean load; assumes Poisson arrivals, exponential durations and clients
   * that never give up. The mean wait is null where it is infinite.
   */
  readonly pool_waited_share_erlang: number;
  readonly pool_wait_mean_erlang_ms: number | null;
  /** Waits of served requests; a rejected request has none. */
  readonly pool_wait_p50_ms: number;
  readonly pool_wait_p99_ms: number;
  /** Cache size in GB at the size that the working set needs, which may exceed the minimum of a range. */
  readonly cache_gb: number;
  /** Cache hit ratio from 0 to 1; null without a working set. */
  readonly cache_hit_ratio: number | null;
  /** Per start: blocks read from storage because the cache is empty, and the time that takes; null if unknown. */
  readonly cold_cache_reads: number | null;
  readonly cold_cache_s: number | null;
  /** Time since a start after which the hit ratio is close to its best; null if unknown. */
  readonly cache_recovered_after_s: number | null;
  /** Half the width of the 95 % interval of each, for these computes on other days; null without intervals. */
  readonly margin_95: CapacityMargins | null;
};

type CapacityMargins = { readonly cost_per_month: number | null; readonly throttled_share: number };

/** Size of a pool as a share of max_connections, reserved ones included (D: connection pooling). */
const POOL_SHARE = 0.9;

/** Totals of one size, or of one range of sizes, over the computes of a fleet. */
export class CapacityTotals {
  readonly range: SizeRange;
  readonly #periodMs: DurationMs;
  readonly #profile: Profile;
  readonly #demand: Demand;
  readonly #poolBy: PoolBy;
  readonly #limit: number;
  readonly #storageReadMs: DurationMs;
  readonly #waits = new WaitHistogram();
  #sessions = 0;
  #directRefused = 0;
  #judgedRefused = 0;
  #erlangRefused = 0;
  #erlangWaited = 0;
  #erlangWaitMs = 0;
  #pooledRefused = 0;
  readonly #scaling: ScalingOutcome;
  readonly #leftOut: LeftOutDays | undefined;
  readonly #slo: Slo | undefined;
  /** Position of the source that the SLO applies to; undefined: all requests. */
  readonly #judgedSource: number | undefined;

  /**
   * `leftOut`: undefined without intervals. `judgedSource`: source that the SLO applies to; undefined: all requests.
   */
  constructor(
    range: SizeRange,
    profile: Profile,
    assumptions: CapacityAssumptions,
    period: Period,
    leftOut: LeftOutDays | undefined,
    judgedSource?: number,
    waits?: CountedWaits,
  ) {
    const { cache, poolBy, reserved, slo } = assumptions;
    this.#slo = slo;
    this.#judgedSource = judgedSource;
    this.range = range;
    this.#periodMs = period.endAt - period.startAt;
    this.#leftOut = leftOut;
    this.#scaling = emptyScalingOutcome(
      leftOut === undefined ? undefined : emptyScalingDays(period),
      judgedSource,
      waits,
    );
    this.#poolBy = poolBy;
    this.#profile = profile;
    this.#demand = demandOf(assumptions);
    this.#limit = directLimit(profile, range, reserved);
    this.#storageReadMs = cache?.storageReadMs ?? 0;
  }

  /**
   * An active compute is never smaller than its working set needs, so this is the size that determines its
   * cache.
   */
  get cacheCu(): number {
    return smallestSizeCu(this.#demand, this.range, this.#profile);
  }

  get #maxConnections(): number {
    return maxConnections(this.#profile, this.range);
  }

  get #poolSize(): number {
    return Math.max(1, Math.floor(this.#maxConnections * POOL_SHARE));
  }

  /** Number of requests that the SLO applies to and that get no connection, directly or through the pool. */
  get rejected(): number {
    return this.#judgedRefused;
  }

  get outcome(): Readonly<ScalingOutcome> {
    return this.#scaling;
  }

  addConnections(arrivals: ComputeArrivals, period: Period): void {
    const { at, durationMs, source } = arrivals;
    const pools = { at, durationMs, source: this.#poolBy === "source" ? source : undefined };
    const judged = this.#judgedSource;
    const isJudged: IsJudged = (index) => judged === undefined || (source?.[index] ?? 0) === judged;
    const { sessions, refused, judgedRefused } = directConnections(arrivals, this.#limit, isJudged);
    const [poolSize, ceiling] = [this.#poolSize, Math.max(1, this.#limit)];
    const rules = {
      poolSize,
      ceiling,
      clients: this.#profile.pooledConnections,
      waitLimitMs: POOL_WAIT_LIMIT_MS,
    };
    const pooled = pooledConnections(pools, rules, isJudged);
    this.#judgedRefused += judgedRefused + pooled.judgedRefused;
    this.#sessions += sessions;
    this.#directRefused += refused;
    const servers = Math.min(poolSize, ceiling);
    let offered = 0;
    for (const { sessions: own, busyMs, load } of poolLoads(pools, period)) {
      offered += load;
      this.#erlangWaited += erlangC(servers, load) * own;
      // `meanWait` is in service times, and the service times of all sessions add up to the busy time.
      if (busyMs > 0) this.#erlangWaitMs += meanWait(servers, load) * busyMs;
    }
    this.#erlangRefused += erlangB(this.#limit, offered) * sessions;
    this.#pooledRefused += pooled.refused;
    this.#waits.merge(pooled.waits);
  }

  addScaling(arrivals: ComputeArrivals, setting: ScalingSetting): void {
    replayScaling(arrivals, this.#demand, setting, this.range, this.#profile, this.#scaling);
  }

  /** `computes`: number of computes with requests. */
  row(
    price: number | undefined,
    histogram: DistanceHistogram | undefined,
    recoveredAfter: DurationMs | undefined,
    lostReads: number | undefined,
    computes: number,
  ): CapacityRow {
    const { minCu, maxCu } = this.range;
    const { cuMs, activeMs, throttledMs, addedWaits, scaleEvents, starts, requests } = this.#scaling;
    const cuHours = cuMs / HOUR;
    const coldReads = lostReads === undefined || starts === 0 ? undefined : lostReads / starts;
    const sessions = this.#sessions;
    // Each size has a month base of its own: a size that falls behind is active for longer than others.
    const monthMs = monthBaseMs(this.#periodMs, activeMs, computes);
    return {
      min_cu: minCu,
      max_cu: maxCu,
      cu_hours: cuHours,
      cost: price === undefined ? null : cuHours * price,
      cu_hours_per_month: perMonth(cuHours, monthMs),
      cost_per_month: price === undefined ? null : perMonth(cuHours * price, monthMs),
      throttled_s: throttledMs / SECOND,
      throttled_share: activeMs === 0 ? 0 : throttledMs / activeMs,
      added_wait_mean_ms: addedWaits.mean(requests),
      added_wait_p99_ms: addedWaits.quantile(0.99, requests),
      slo_missed_share: this.#slo === undefined ? null : missedShare(this.#slo, this.#scaling, this.rejected),
      scale_events: scaleEvents,
      starts,
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
      cold_cache_reads: coldReads ?? null,
      cold_cache_s: coldReads === undefined ? null : (coldReads * this.#storageReadMs) / SECOND,
      cache_recovered_after_s: recoveredAfter === undefined ? null : recoveredAfter / SECOND,
      margin_95: this.#margins(price),
    };
  }

  #margins(price: number | undefined): CapacityMargins | null {
    const { days } = this.#scaling;
    const leftOut = this.#leftOut;
    if (days === undefined || leftOut === undefined) return null;
    const monthly = (used: readonly number[]) =>
      perMonth((sumOfDays(days.cuMs, used) / HOUR) * (price ?? 0), used.length * DAY);
    const share = (used: readonly number[]) => {
      const active = sumOfDays(days.activeMs, used);
      return active === 0 ? 0 : sumOfDays(days.throttledMs, used) / active;
    };
    return {
      cost_per_month: price === undefined ? null : leftOut.margin(leftOut.samples(monthly)),
      throttled_share: leftOut.margin(leftOut.samples(share)),
    };
  }
}

export function demandOf({
  loadPerRequest,
  cpuShare,
  memoryGbPerRequest,
  cache,
}: CapacityAssumptions): Demand {
  return { loadPerRequest, loadFactor: cpuShare, memoryGbPerRequest, workingSetGb: cache?.workingSetGb };
}
