import { DAY, type SimTime } from "../../kernel/time.ts";
import type { ComputeArrivals, Period } from "../../traffic/recorded/trace/trace.ts";
import type { Traffic } from "./traffic.ts";

const WEEK = 7 * DAY;

/**
 * The whole weeks to omit for a silence, so that workdays remain workdays. They begin with the first silent day, or
 * earlier if the period would end before they do. Undefined if the period is too short.
 */
export function weeksAround({ startAt, endAt }: Period, period: Period): Period | undefined {
  const length = Math.ceil((endAt - startAt) / WEEK) * WEEK;
  const latestStart = Math.floor(period.endAt / DAY) * DAY - length;
  const from = Math.min(startAt, latestStart);
  return from < period.startAt ? undefined : { startAt: from, endAt: from + length };
}

/**
 * The traffic without the requests that arrive in these periods, which ascend and do not overlap. Later requests
 * arrive earlier by their length.
 */
export function omitDays(traffic: Traffic, omitted: readonly Period[]): Traffic {
  const shifted = (at: SimTime) =>
    omitted.reduce(
      (sum, { startAt, endAt }) => sum - Math.min(Math.max(at - startAt, 0), endAt - startAt),
      at,
    );
  const isOmitted = (at: SimTime) => omitted.some(({ startAt, endAt }) => at >= startAt && at < endAt);
  return {
    ...traffic,
    period: { startAt: traffic.period.startAt, endAt: shifted(traffic.period.endAt) },
    arrivals(compute) {
      const parts = traffic.arrivals(compute);
      return {
        next() {
          for (let part = parts.next(); part !== undefined; part = parts.next()) {
            const rest = selected(part, (at) => !isOmitted(at));
            if (rest.at.length > 0) return { ...rest, at: rest.at.map(shifted) };
          }
          return undefined;
        },
      };
    },
  };
}

function selected(part: ComputeArrivals, isSelected: (at: SimTime) => boolean): ComputeArrivals {
  const { at, durationMs, source, load } = part;
  const within = (_: number, index: number) => isSelected(at[index] as number);
  return {
    at: at.filter(within),
    durationMs: durationMs.filter(within),
    source: source?.filter(within),
    load: load?.filter(within),
  };
}
