import { isoInstant } from "../../kernel/calendar.ts";
import { DAY, type DurationMs } from "../../kernel/time.ts";
import type { Period } from "../../traffic/recorded/trace/trace.ts";
import { monthBaseMs } from "./month-base.ts";

/** The traffic that a report covers. */
export type TrafficSummary = {
  readonly computes: number;
  readonly computes_used: number;
  readonly requests: number;
  readonly from: string;
  readonly to: string;
  readonly days: number;
  /** Days from which monthly figures are extrapolated: more than `days` if requests run long after the end. */
  readonly month_base_days: number;
};

/** Traffic that was already replayed, as far as a report needs it. */
export type CoveredTraffic = { readonly period: Period; readonly computes: { readonly length: number } };

/** `activeMs`: active time of all used computes together, the longest under any setting of the report. */
export function trafficSummary(
  { period, computes }: CoveredTraffic,
  used: number,
  requests: number,
  activeMs: DurationMs,
): TrafficSummary {
  const { startAt, endAt } = period;
  return {
    computes: computes.length,
    computes_used: used,
    requests,
    from: isoInstant(startAt),
    to: isoInstant(endAt),
    days: (endAt - startAt) / DAY,
    month_base_days: monthBaseMs(endAt - startAt, activeMs, used) / DAY,
  };
}

/** A limit of every report whose figures end with the trace. */
export const AFTER_TRACE_END =
  "Time after the trace: a compute that is busy when the trace ends is billed until it is idle, but not for the suspend delay that follows. A later end (--to) extends the trace with idle time. In figures for a month, a trace of less than an hour counts as an hour.";
