import type { SimTime } from "../../kernel/time.ts";
import {
  type ArrivalParts,
  type ComputeArrivals,
  lowerBound,
  type Period,
  partsOf,
  rangeView,
  type Trace,
} from "../../traffic/recorded/trace/trace.ts";
import type { GapRow } from "./gap-row.ts";

/** Requests of many computes, in memory or in a file; can be read repeatedly. */
export interface Traffic {
  readonly period: Period;
  /** Ids of the computes. Elsewhere a compute is referred to by its index. */
  readonly computes: readonly string[];
  /** Names that `source` columns refer to. */
  readonly sources: readonly string[];
  /** Whether days without any request are known to be idle time, and not missing data. */
  readonly silenceIsIdle?: boolean | undefined;
  arrivals(compute: number): ArrivalParts;
  /** The gap rows of a compute by day. Present if only the gaps are known; `arrivals` then throws. */
  gapRows?(compute: number): Iterable<GapRow>;
}

/** `from` inclusive, `to` exclusive. */
export type PeriodBounds = { readonly from?: SimTime | undefined; readonly to?: SimTime | undefined };

/** Traffic of a trace in memory. */
export function trafficOf({ period, computes, sources = [] }: Trace): Traffic {
  return {
    period,
    sources,
    computes: computes.map(({ id }) => id),
    arrivals: (compute) => partsOf(computes[compute]?.arrivals ?? EMPTY_ARRIVALS),
  };
}

/**
 * The part of a recorded period within the given bounds; without bounds, all of it. Bounds beyond the
 * recorded period add idle time. `undefined` if the bounds do not overlap it.
 */
export function selectPeriod(
  recorded: Period,
  { from = recorded.startAt, to = recorded.endAt }: PeriodBounds,
): Period | undefined {
  return from < to && from < recorded.endAt && to > recorded.startAt
    ? { startAt: from, endAt: to }
    : undefined;
}

/** Requests that arrive within `period`. Requests that arrived before it and still run in it are dropped. */
export function trafficWithin(traffic: Traffic, period: Period): Traffic {
  return {
    ...traffic,
    period,
    arrivals(compute) {
      const parts = traffic.arrivals(compute);
      return {
        next() {
          for (let part = parts.next(); part !== undefined; part = parts.next()) {
            const [from, to] = [lowerBound(part.at, period.startAt), lowerBound(part.at, period.endAt)];
            if (from < to) return rangeView(part, from, to);
          }
          return undefined;
        },
      };
    },
  };
}

const EMPTY_ARRIVALS: ComputeArrivals = { at: new Float64Array(0), durationMs: new Float64Array(0) };
