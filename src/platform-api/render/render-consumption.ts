import type * as public_ from "@neondatabase/api-client";
import { timestamp } from "../../http/timestamps.ts";
import { monthStart, nextMonthStart } from "../../kernel/calendar.ts";
import { uuidOf } from "../../kernel/ids.ts";
import { HOUR, type SimTime } from "../../kernel/time.ts";
import { NO_STORAGE, storedBytes } from "../../platform/model/storage-use.ts";
import { addTotals, type UsageTotals, ZERO_USAGE } from "../../platform/model/usage-totals.ts";
import type { Timeframe } from "../../platform/rules/usage/consumption.ts";
import { OPTIONAL_METRICS, PROJECT_METRICS } from "./consumption-metrics.ts";

/**
 * S: consumption by billing period. A: a period is a calendar month in UTC. The current period has no end.
 */
export function billingPeriods<F extends { readonly start: SimTime }, T>(
  plan: string,
  consumerId: string,
  frames: readonly F[],
  now: SimTime,
  render: (frame: F) => T,
) {
  const byMonth = new Map<SimTime, T[]>();
  for (const frame of frames) {
    const month = monthStart(frame.start);
    const consumption = byMonth.get(month);
    if (consumption === undefined) byMonth.set(month, [render(frame)]);
    else consumption.push(render(frame));
  }
  return [...byMonth].map(([start, consumption]) => ({
    period_id: uuidOf(`${consumerId}/${start}`),
    period_plan: plan,
    period_start: timestamp(start),
    ...(nextMonthStart(start) > now ? {} : { period_end: timestamp(nextMonthStart(start)) }),
    consumption,
  }));
}

/** The usage of several projects together. */
export class SumByStart {
  readonly #sums = new Map<SimTime, Timeframe>();

  /** The usage of one project. */
  add(timeframes: readonly Timeframe[]): void {
    for (const { start, end, use, activeSeconds, computeSeconds } of timeframes) {
      const sum = this.#sums.get(start);
      if (sum !== undefined && use === ZERO_USAGE) continue;
      this.#sums.set(start, {
        start,
        end,
        use: addTotals(sum?.use ?? ZERO_USAGE, use),
        activeSeconds: (sum?.activeSeconds ?? 0) + activeSeconds,
        computeSeconds: (sum?.computeSeconds ?? 0) + computeSeconds,
      });
    }
  }

  /** Oldest first. */
  timeframes(): Timeframe[] {
    return [...this.#sums.values()].sort((a, b) => a.start - b.start);
  }
}

export function renderV1Frame(frame: Timeframe, optionalMetrics: readonly string[], now: SimTime) {
  const { storage = NO_STORAGE } = frame.use.data ?? {};
  const elapsedMs = Math.max(1, Math.min(frame.end, now) - frame.start);
  // A: the sizes of a timeframe are averages.
  const values: Readonly<Record<(typeof OPTIONAL_METRICS)[number], number>> = {
    data_storage_bytes_hour: storedByteHours(frame.use),
    logical_size_bytes: Math.round(storage.logical / elapsedMs),
    logical_size_bytes_hour: byteHours(storage.logical),
  };
  return {
    timeframe_start: timestamp(frame.start),
    timeframe_end: timestamp(frame.end),
    active_time_seconds: frame.activeSeconds,
    compute_time_seconds: frame.computeSeconds,
    written_data_bytes: frame.use.data?.writtenBytes ?? 0,
    synthetic_storage_size_bytes: Math.round(storedBytes(storage) / elapsedMs),
    ...Object.fromEntries(
      OPTIONAL_METRICS.filter((name) => optionalMetrics.includes(name)).map((name) => [name, values[name]]),
    ),
  };
}

/** Storage in a period, in bytes × hours. */
export function storedByteHours({ data }: UsageTotals): number {
  return byteHours(storedBytes(data?.storage ?? NO_STORAGE));
}

function byteHours(byteMs: number): number {
  return Math.round(byteMs / HOUR);
}

/** Metrics in the order of the document, each once. A: all traffic uses the public network. */
export function renderFrame({ start, end, use, computeSeconds }: Timeframe, metrics: readonly string[]) {
  const { storage = NO_STORAGE } = use.data ?? {};
  const values: Readonly<Record<string, number | undefined>> = {
    compute_unit_seconds: computeSeconds,
    public_network_transfer_bytes: use.data?.transferredBytes,
    // S: byte-hours, despite their names.
    root_branch_bytes_month: byteHours(storage.root),
    child_branch_bytes_month: byteHours(storage.child),
    instant_restore_bytes_month: byteHours(storage.history),
    snapshot_storage_bytes_month: byteHours(use.data?.snapshots?.byteMs ?? 0),
    // D: branch-hours of all child branches; the bill subtracts those that the plan includes.
    extra_branches_month: Math.round((use.data?.children?.branchMs ?? 0) / HOUR),
  };
  return {
    timeframe_start: timestamp(start),
    timeframe_end: timestamp(end),
    metrics: PROJECT_METRICS.filter((name) => metrics.includes(name)).map((name) => ({
      metric_name: name,
      value: values[name] ?? 0,
    })),
  } satisfies public_.ConsumptionHistoryPerTimeframeV2;
}
