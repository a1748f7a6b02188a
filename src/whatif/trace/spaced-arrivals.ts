import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { ComputeArrivals } from "../../traffic/recorded/trace/trace.ts";

/** Of an interval: after it without a request, a program has stopped. */
const STOPPED_AFTER = 1.5;

/** A program on a timer, and the interval that it is to have. */
export type Spacing = {
  /** The position of its source. */
  readonly source: number;
  readonly everyMs: DurationMs;
  readonly newEveryMs: DurationMs;
};

/**
 * The requests of a compute with those of one source at a longer interval, in order. The program runs while it did: from
 * its first request until its interval is over without one. Each request is like the last one before it.
 */
export function spacedArrivals(arrivals: ComputeArrivals, spacing: Spacing): ComputeArrivals {
  const { at, source, durationMs, load } = arrivals;
  const sent = sentInstead(arrivals, spacing);
  const isOther = (index: number) => (source?.[index] ?? 0) !== spacing.source;
  // Each with the request that it is, or is like.
  const rows = [...at.keys()].filter(isOther).map((index) => ({ at: at[index] as SimTime, index }));
  const all = [...rows, ...sent].sort((a, b) => a.at - b.at);
  const column = (values: ArrayLike<number>) =>
    Float64Array.from(all, ({ index }) => values[index] as number);
  return {
    at: Float64Array.from(all, (row) => row.at),
    durationMs: column(durationMs),
    load: load === undefined ? undefined : column(load),
    source: source === undefined ? undefined : Uint16Array.from(column(source)),
  };
}

type SentRequest = { readonly at: SimTime; readonly index: number };

function sentInstead(
  { at, source }: ComputeArrivals,
  { source: own, everyMs, newEveryMs }: Spacing,
): SentRequest[] {
  const sent: SentRequest[] = [];
  let next = Number.NEGATIVE_INFINITY;
  let last = -1;
  const sendUntil = (end: SimTime) => {
    for (; last >= 0 && next < end; next += newEveryMs) sent.push({ at: next, index: last });
  };
  for (let index = 0; index < at.length; index += 1) {
    if ((source?.[index] ?? 0) !== own) continue;
    const arrival = at[index] as SimTime;
    sendUntil(Math.min(arrival, last < 0 ? arrival : (at[last] as SimTime) + STOPPED_AFTER * everyMs));
    // After a stop, it restarts.
    if (next < arrival) next = arrival;
    last = index;
  }
  if (last >= 0) sendUntil((at[last] as SimTime) + 1);
  return sent;
}
