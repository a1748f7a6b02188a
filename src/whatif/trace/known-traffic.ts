import type { SimTime } from "../../platform/core/time.ts";
import {
  type ArrivalParts,
  type ComputeArrivals,
  lowerBound,
  type Period,
  partsOf,
  rangeView,
  type Trace,
} from "../../recordings/trace/trace.ts";

/** Requests of many computes that can be read again and again: at hand, or in a file. */
export interface Traffic {
  readonly period: Period;
  /** Their ids; a compute is named by its index. */
  readonly computes: readonly string[];
  /** Names that `source` columns refer to. */
  readonly sources: readonly string[];
  arrivals(compute: number): ArrivalParts;
}

/** The first instant that is looked at, and the first that is not any more. */
export type PeriodBounds = { readonly from?: SimTime | undefined; readonly to?: SimTime | undefined };

/** A trace that is at hand. */
export function trafficOf({ period, computes, sources = [] }: Trace): Traffic {
  return {
    period,
    sources,
    computes: computes.map(({ id }) => id),
    arrivals: (compute) => partsOf(computes[compute]?.arrivals ?? EMPTY_ARRIVALS),
  };
}

/**
 * The part of a trace that somebody asks for by its bounds, and all of it without any. One who says that it ends later, or begins earlier, knows
 * that nothing came there. `undefined` where nothing of what is known is left.
 */
export function selectPeriod(
  recorded: Period,
  { from = recorded.startAt, to = recorded.endAt }: PeriodBounds,
): Period | undefined {
  return from < to && from < recorded.endAt && to > recorded.startAt
    ? { startAt: from, endAt: to }
    : undefined;
}

/** What arrives within `period`. What arrived before it and still runs in it is not seen. */
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
