import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { Lane, LaneInterval, LaneState } from "./lane.ts";

/** Times are in milliseconds after the beginning of the period. */
export type RenderedInterval = {
  readonly since_ms: number;
  readonly until_ms: number;
  /** `mixed`: several states, each shorter than a point. */
  readonly state: LaneState | "mixed";
  /** The size; in a mixed interval the largest one. */
  readonly size_cu: number;
  /** Share of the time in which the compute is active, from 0 to 1; only in a mixed interval. */
  readonly active_share?: number;
};

export type RenderedArrivals = {
  readonly at_ms: number;
  readonly count: number;
  readonly waiting: number;
};

const SHARE_DIGITS = 1_000;

/**
 * The intervals of a lane in [from, to). Spans shorter than `pointMs` are combined until they are that long, so
 * that the length of the answer does not depend on how much happened.
 */
export function renderIntervals(
  lane: Lane,
  from: SimTime,
  to: SimTime,
  pointMs: DurationMs,
): RenderedInterval[] {
  const rendered: RenderedInterval[] = [];
  let short: LaneInterval[] = [];
  const flush = () => {
    const [first] = short;
    const last = short.at(-1);
    if (first === undefined || last === undefined) return;
    rendered.push(short.length === 1 ? exact(first, from) : mixed(short, from));
    short = [];
  };
  for (const interval of lane.intervals(from, to)) {
    if (interval.until - interval.since >= pointMs) {
      flush();
      rendered.push(exact(interval, from));
      continue;
    }
    short.push(interval);
    if (interval.until - (short[0] as LaneInterval).since >= pointMs) flush();
  }
  flush();
  return rendered.filter(({ state }) => state !== "deleted");
}

/** The arrivals in [from, to), added up for each `pointMs`. Points without arrivals are omitted. */
export function renderArrivals(
  lane: Lane,
  from: SimTime,
  to: SimTime,
  pointMs: DurationMs,
): RenderedArrivals[] {
  const points: { at_ms: number; count: number; waiting: number }[] = [];
  for (const { at, count, waiting } of lane.arrivals(from, to)) {
    const at_ms = Math.floor(Math.max(0, at - from) / pointMs) * pointMs;
    const last = points.at(-1);
    if (last?.at_ms === at_ms) {
      last.count += count;
      last.waiting += waiting;
    } else points.push({ at_ms, count, waiting });
  }
  return points;
}

function exact({ since, until, state, sizeCu }: LaneInterval, from: SimTime): RenderedInterval {
  return { since_ms: since - from, until_ms: until - from, state, size_cu: sizeCu };
}

function mixed(intervals: readonly LaneInterval[], from: SimTime): RenderedInterval {
  const since = (intervals[0] as LaneInterval).since;
  const until = (intervals.at(-1) as LaneInterval).until;
  let [activeMs, sizeCu] = [0, 0];
  for (const interval of intervals) {
    if (interval.state === "active") activeMs += interval.until - interval.since;
    sizeCu = Math.max(sizeCu, interval.sizeCu);
  }
  return {
    since_ms: since - from,
    until_ms: until - from,
    state: "mixed",
    size_cu: sizeCu,
    active_share: Math.round((activeMs / (until - since)) * SHARE_DIGITS) / SHARE_DIGITS,
  };
}
