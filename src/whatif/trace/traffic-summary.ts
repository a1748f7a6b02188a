import { isoInstant } from "../../platform/core/calendar.ts";
import { DAY } from "../../platform/core/time.ts";
import type { Traffic } from "./known-traffic.ts";

/** What a report has looked at. */
export type TrafficSummary = {
  readonly computes: number;
  readonly computes_used: number;
  readonly requests: number;
  readonly from: string;
  readonly to: string;
  readonly days: number;
};

export function trafficSummary(
  { period, computes }: Traffic,
  used: number,
  requests: number,
): TrafficSummary {
  const { startAt, endAt } = period;
  return {
    computes: computes.length,
    computes_used: used,
    requests,
    from: isoInstant(startAt),
    to: isoInstant(endAt),
    days: (endAt - startAt) / DAY,
  };
}

/** For the limits of reports whose figures end with the trace. */
export const AFTER_TRACE_END =
  "What comes behind the end of the trace: a compute that is busy there is charged until it is idle, and not for the rest of its delay. A later end (--to) means that nothing came until then.";
