import type * as public_ from "@neondatabase/api-client";
import { timestamp } from "../../http/timestamps.ts";
import { monthStart, nextMonthStart } from "../../kernel/calendar.ts";
import { uuidOf } from "../../kernel/ids.ts";
import type { SimTime } from "../../kernel/time.ts";
import { addTotals, ZERO_USAGE } from "../../platform/model/usage-totals.ts";
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

/** The usage of several projects together, oldest first. */
export function sumByStart(byProject: readonly (readonly Timeframe[])[]): Timeframe[] {
  const sums = new Map<SimTime, Timeframe>();
  for (const { start, end, use, activeSeconds, computeSeconds } of byProject.flat()) {
    const sum = sums.get(start);
    sums.set(start, {
      start,
      end,
      use: addTotals(sum?.use ?? ZERO_USAGE, use),
      activeSeconds: (sum?.activeSeconds ?? 0) + activeSeconds,
      computeSeconds: (sum?.computeSeconds ?? 0) + computeSeconds,
    });
  }
  return [...sums.values()].sort((a, b) => a.start - b.start);
}

export function renderV1Frame(frame: Timeframe, optionalMetrics: readonly string[]) {
  return {
    timeframe_start: timestamp(frame.start),
    timeframe_end: timestamp(frame.end),
    active_time_seconds: frame.activeSeconds,
    compute_time_seconds: frame.computeSeconds,
    written_data_bytes: frame.use.data?.writtenBytes ?? 0,
    synthetic_storage_size_bytes: 0,
    ...Object.fromEntries(
      OPTIONAL_METRICS.filter((name) => optionalMetrics.includes(name)).map((name) => [name, 0]),
    ),
  };
}

/** Metrics in the order of the document, each once. A: all traffic uses the public network. */
export function renderFrame({ start, end, use, computeSeconds }: Timeframe, metrics: readonly string[]) {
  const values: Readonly<Record<string, number | undefined>> = {
    compute_unit_seconds: computeSeconds,
    public_network_transfer_bytes: use.data?.transferredBytes,
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
