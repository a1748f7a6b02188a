import type { Random } from "../../../kernel/random-port.ts";
import { DAY, type DurationMs, HOUR } from "../../../kernel/time.ts";
import { collectParts } from "../../../traffic/recorded/trace/trace.ts";
import { lastOf } from "../../choice/decision.ts";
import { perMonth, sizeOf } from "../../gap-curve/costs.ts";
import { delaySeconds, type SuspendDelay } from "../../gap-curve/delay.ts";
import { SHORTEST_DELAY_S } from "../../gap-curve/optimum.ts";
import type { SettableDelays } from "../../gap-curve/settable-delays.ts";
import { dayTotals } from "../../held-out/day-totals.ts";
import type { DayMargins, FigureMargins } from "../../held-out/margins.ts";
import { type NamedMargins, namedMargins } from "../../held-out/named-margins.ts";
import { isInstant, type Question } from "../../input/question.ts";
import { FixedReplay } from "../../replay/fixed-replay.ts";
import { emptyOutcome } from "../../replay/replay-outcome.ts";
import { LONGEST_DELAY_S } from "../../trace/gap-histogram.ts";
import { ignoredSources } from "../../trace/ignored-waits.ts";
import type { LongGaps } from "../../trace/long-gaps.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { StartLatencies } from "../../units/start-latency.ts";

/**
 * By compute: the shortest allowed delay whose 99th percentile of added wait over all its requests is within the limit;
 * null if there is none. Computes without requests are absent.
 */
export type DelaysWithinWait = ReadonlyMap<number, SuspendDelay | null>;

const SHARE = 0.99;

/**
 * Finds the delays. Assumes that the wait falls as the delay grows; in any case the returned delay meets the limit.
 * Yields the number of computes done.
 */
export function* delaysWithinWait(
  traffic: Traffic,
  question: Pick<Question, "latency" | "deletedAt" | "settable" | "ignoredWaits">,
  maxWaitMs: DurationMs,
  random: Random,
): Generator<number, DelaysWithinWait> {
  const { latency, deletedAt, settable, ignoredWaits } = question;
  const ignored = ignoredSources(ignoredWaits, traffic.sources);
  const within = new Map<number, SuspendDelay | null>();
  for (const number of traffic.computes.keys()) {
    const arrivals = collectParts(traffic.arrivals(number));
    const isWithin = (delay: SuspendDelay) => {
      const replay = new FixedReplay(traffic.period, delay, emptyOutcome(traffic.period));
      replay.begin(new StartLatencies(latency, random, number), { deletedAt: deletedAt?.[number], ignored });
      replay.add(arrivals);
      replay.end();
      return replay.outcome.waits.quantile(SHARE, arrivals.at.length) <= maxWaitMs;
    };
    if (arrivals.at.length > 0)
      within.set(number, shortestWithin(settable, isInstant(latency) ? () => true : isWithin));
    yield number + 1;
  }
  return within;
}

function shortestWithin(
  settable: SettableDelays,
  isWithin: (delay: SuspendDelay) => boolean,
): SuspendDelay | null {
  if (settable !== "all") return settable.find(isWithin) ?? null;
  if (isWithin(SHORTEST_DELAY_S)) return SHORTEST_DELAY_S;
  if (!isWithin(LONGEST_DELAY_S)) return isWithin("never") ? "never" : null;
  return lastOf(LONGEST_DELAY_S, SHORTEST_DELAY_S, isWithin);
}

/** A limit on the wait of each compute, and the cost of setting each compute to a delay within it. */
export type ComputeWaitLimit = {
  readonly max_wait_p99_ms: number;
  /** Number of computes with a delay within the limit, and of computes without one. */
  readonly met: number;
  readonly unmet: number;
  /** Cost with `delayToSet` for each compute; null if unknown. */
  readonly cost_dollars_per_month: number | null;
  readonly cold_starts_per_day: number | null;
} & NamedMargins<FigureMargins>;

/** The delay to set: the given one, or the shortest within the limit if that is longer. */
export function delayToSet(
  delay: SuspendDelay | undefined,
  within: SuspendDelay | null | undefined,
): SuspendDelay | undefined {
  if (within === undefined || within === null) return delay;
  return delay === undefined || delaySeconds(within) > delaySeconds(delay) ? within : delay;
}

export function computeWaitLimit(
  within: DelaysWithinWait,
  maxWaitMs: DurationMs,
  shrunk: readonly SuspendDelay[] | undefined,
  { longGaps, costs, margins }: FleetFigures,
  periodMs: DurationMs,
): ComputeWaitLimit {
  const unmet = [...within.values()].filter((delay) => delay === null).length;
  const delayOf = (compute: number) => delayToSet(shrunk?.[compute], within.get(compute)) ?? "never";
  const totals = longGaps && dayTotals(longGaps, delayOf, (compute) => sizeOf(costs, compute));
  const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
  return {
    max_wait_p99_ms: maxWaitMs,
    met: within.size - unmet,
    unmet,
    cost_dollars_per_month:
      totals === undefined ? null : perMonth((sum(totals.cuMs) / HOUR) * costs.pricePerCuHour, periodMs),
    cold_starts_per_day: totals === undefined ? null : (sum(totals.coldStarts) * DAY) / periodMs,
    ...namedMargins(margins, (of) => of.figures(delayOf)),
  };
}

type FleetFigures = {
  readonly longGaps: LongGaps | undefined;
  readonly costs: Question["costs"];
  readonly margins: DayMargins | { readonly missing: string };
};
