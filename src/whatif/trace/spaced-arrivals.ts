import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { ComputeArrivals } from "../../traffic/recorded/trace/trace.ts";

/** A program counts as stopped after this many intervals without a request. */
const STOPPED_AFTER = 1.5;

/** A program on a timer, and its new interval. */
export type Spacing = {
  /** The position of its source. */
  readonly source: number;
  readonly everyMs: DurationMs;
  readonly newEveryMs: DurationMs;
};

/**
 * The requests of a compute, in order, with one source at a longer interval. The program runs when it ran in the
 * recording: from its first request until it stops. Each new request copies the last recorded one before it.
 */
export function spacedArrivals(arrivals: ComputeArrivals, spacing: Spacing): ComputeArrivals {
  const { at, source, durationMs, load } = arrivals;
  const sent = sentInstead(arrivals, spacing);
  const isOther = (index: number) => (source?.[index] ?? 0) !== spacing.source;
  // Instants of the new requests, each with the index of the recorded request that it copies.
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
    // The program restarts after a stop.
    if (next < arrival) next = arrival;
    last = index;
  }
  if (last >= 0) sendUntil((at[last] as SimTime) + 1);
  return sent;
}
