import type { Random } from "../../../kernel/random-port.ts";
import { SECOND } from "../../../kernel/time.ts";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../../platform/catalog/sizes.ts";
import { cacheCapacity } from "../../../platform/model/cache.ts";
import { collectParts } from "../../../traffic/recorded/trace/trace.ts";
import { tooManyDays } from "../../held-out/day-statistics.ts";
import { LeftOutDays, noMarginsReason } from "../../held-out/left-out-days.ts";
import type { Question } from "../../input/question.ts";
import { type QuestionSummary, questionSummary } from "../../input/question-summary.ts";
import { sloSource } from "../../input/slo.ts";
import type { ReportLimits } from "../../page/page-layout.ts";
import { activeIntervals } from "../../replay/active-intervals.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { AFTER_TRACE_END, type TrafficSummary, trafficSummary } from "../../trace/traffic-summary.ts";
import { plural } from "../../units/number-format.ts";
import { type RecoveryBucket, readsLostToStarts, recoveredAfterMs } from "./cache-recovery.ts";
import { CacheSimulation } from "./cache-simulation.ts";
import { type CapacityAssumptions, type CapacityRow, CapacityTotals, demandOf } from "./capacity-totals.ts";
import { CurrentUse, type CurrentUseSummary } from "./current-use.ts";
import { LoadSensitivity, type SensitivityRow } from "./load-sensitivity.ts";
import { directConnections } from "./pool-connections.ts";
import { currentScalingSetting } from "./scaling-setting.ts";

export type CapacityReport = {
  readonly question: QuestionSummary;
  readonly traffic: TrafficSummary;
  readonly assumptions: CapacityAssumptions;
  /** The most requests that ran at once in one compute. */
  readonly peak_connections: number;
  /** Why there are no intervals; null if there are. */
  readonly no_margins: string | null;
  /** Whether the trace states the load of its requests; otherwise the assumed load decides the answer. */
  readonly loads: "recorded" | "assumed" | "partly recorded";
  readonly sizes: readonly CapacityRow[];
  /** The current sizes of a world, replayed and as metered; null for a trace. */
  readonly current_sizes: CurrentUseSummary | null;
  /** The sizes of the report under other loads. */
  readonly sensitivity: readonly SensitivityRow[];
  /** Hit ratios by time since a start; empty without a working set. */
  readonly cache_recovery: readonly RecoveryRow[];
  readonly limits: ReportLimits;
};

/**
 * Reads by the time since the last start: from `from_s` (inclusive) to `to_s` (exclusive), null for no end.
 */
type RecoveryRow = {
  readonly from_s: number;
  readonly to_s: number | null;
  /** An estimate where reads are sampled. */
  readonly reads: number;
  /** Hit ratios by size from 0 to 1, in the order of `sizes`. */
  readonly hit_ratios: readonly number[];
};

/** One row per range, in the given order. Yields the number of finished computes after each compute. */
export function* capacityReport(
  traffic: Traffic,
  ranges: readonly SizeRange[],
  profile: Profile,
  question: Question,
  assumptions: CapacityAssumptions,
  random: Random,
): Generator<number, CapacityReport> {
  const { period } = traffic;
  const noMargins = tooManyDays(period) ?? noMarginsReason(period) ?? null;
  const leftOut = noMargins === null ? new LeftOutDays(period) : undefined;
  const judged = sloSource(assumptions.slo, traffic.sources);
  const totals = ranges.map(
    (range) => new CapacityTotals(range, profile, assumptions, period, leftOut, judged),
  );
  const caches = totals.map(({ cacheCu }) => cacheCapacity(profile, cacheCu));
  const distances =
    assumptions.cache === undefined
      ? undefined
      : new CacheSimulation(traffic, caches, assumptions.cache, random);
  const sensitivity = new LoadSensitivity(ranges, profile, demandOf(assumptions), assumptions.slo, judged);
  const current = question.metered === undefined ? undefined : new CurrentUse(question, profile, assumptions);
  let [peak, arrivals, used, recorded] = [0, 0, 0, 0];
  for (const number of traffic.computes.keys()) {
    const own = collectParts(traffic.arrivals(number));
    arrivals += own.at.length;
    used += own.at.length > 0 ? 1 : 0;
    recorded += own.load === undefined ? 0 : 1;
    peak = Math.max(peak, directConnections(own).peak);
    const setting = currentScalingSetting(question, period, number, random);
    const needed = current === undefined ? own : current.add(own, setting, number);
    for (const total of totals) {
      total.addConnections(own, period);
      total.addScaling(needed, setting);
    }
    sensitivity.add(needed, setting);
    const { served, intervals: active } = activeIntervals(
      own,
      setting.period,
      setting.delay,
      setting.latencies,
    );
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
    // The active time depends on the size, so each row has a month base of its own.
    traffic: trafficSummary(traffic, used, arrivals, 0),
    assumptions,
    peak_connections: peak,
    no_margins: noMargins,
    loads: recorded === 0 ? "assumed" : recorded === used ? "recorded" : "partly recorded",
    sizes: totals.map((total, index) =>
      total.row(
        question.costs.pricePerCuHour,
        histogram,
        recoveredAfterMs(recovery, index),
        readsLostToStarts(recovery, index),
        used,
      ),
    ),
    sensitivity: sensitivity.rows(totals.map(({ rejected }) => rejected)),
    current_sizes: current?.summary() ?? null,
    cache_recovery: recovery.map(recoveryRow),
    limits: capacityLimits(assumptions, profile),
  };
}

function recoveryRow({ fromMs, toMs, reads, hitRatios }: RecoveryBucket): RecoveryRow {
  return {
    from_s: fromMs / SECOND,
    to_s: Number.isFinite(toMs) ? toMs / SECOND : null,
    reads,
    hit_ratios: hitRatios,
  };
}

function capacityLimits(
  { loadPerRequest, memoryGbPerRequest, reserved, poolBy, cache }: CapacityAssumptions,
  profile: Profile,
): ReportLimits {
  return {
    exact: [
      "Connections: every request holds one from its arrival to its end. When all are taken, a direct connection is rejected and not retried. A pooled one waits for up to two minutes; the pooler accepts as many clients as the platform's.",
    ],
    simulated: [
      `A range autoscales as on the platform: once in every 5 s to the largest size that the 1-minute load average, memory or cache needs, in steps of 0.25 CU, from the smallest size at each start. Each running request is assumed to use ${loadPerRequest} vCPU${memoryGbPerRequest === undefined ? "" : ` and ${memoryGbPerRequest} GB`} (--load-per-request, --memory-per-request), unless the journal of a world states its load. Computes suspend by the baseline delay. Requests that arrive during a start run, and are billed, from its end.`,
      "Throttled requests share the vCPUs of their compute and take longer. Durations of a trace count as unthrottled. Durations of a world contain the throttling of its own sizes where the journal states loads, so it is removed first.",
      ...(cache === undefined
        ? []
        : [
            `Block reads are synthetic: ${plural(cache.blocksPerRequest, "block")} per request out of ${cache.workingSetGb} GB, with skew ${cache.skew}. A start empties the cache. Reading a block from storage takes ${cache.storageReadMs} ms longer than from the cache (--storage-read). The working set is assumed to be known from the first reading after a start.`,
          ]),
    ],
    left_out: [
      "Intervals of peaks, percentiles and rejected connections: other days can be busier than the recorded ones.",
      "Longer connections: a request that waits for a start or is throttled holds its connection only for its recorded duration.",
      ...(memoryGbPerRequest === undefined
        ? ["Memory: set --memory-per-request to let it determine sizes."]
        : []),
      ...(cache === undefined
        ? ["The cache: set --working-set to let it determine sizes and to get hit ratios by size."]
        : []),
      `Pools per user and database: ${poolBy === "compute" ? "all requests of a compute share one pool" : "each source of a compute has its own pool"} (--pool-by). Limits are from profile ${profile.name}, less ${plural(reserved, "connection")} reserved for the platform (--reserved).`,
      AFTER_TRACE_END,
    ],
  };
}
