import type { Period, Requests, Trace } from "../trace.ts";
import { indexAt, partsOf } from "../trace.ts";

/** Requests of many computes that can be read again and again: at hand, or in a file. */
export interface Traffic {
  readonly period: Period;
  /** Their ids; a compute is named by its index. */
  readonly computes: readonly string[];
  /** Names that `source` columns refer to. */
  readonly sources: readonly string[];
  /** Of one compute, in consecutive parts. What a part shows may be another part's when the next one is asked for. */
  requests(compute: number): Iterable<Requests>;
}

/** A trace that is at hand. */
export function trafficOf({ period, computes, sources = [] }: Trace): Traffic {
  return {
    period,
    sources,
    computes: computes.map(({ id }) => id),
    requests: (compute) => partsOf(computes[compute]?.requests ?? NOTHING),
  };
}

/** What arrives within `period`. What arrived before it and still runs in it is not seen. */
export function trafficWithin(traffic: Traffic, period: Period): Traffic {
  return {
    ...traffic,
    period,
    *requests(compute) {
      for (const { at, durationMs, source } of traffic.requests(compute)) {
        const [from, to] = [indexAt(at, period.startAt), indexAt(at, period.endAt)];
        if (from === to) continue;
        yield { at: at.subarray(from, to), durationMs: durationMs.subarray(from, to), source: source?.subarray(from, to) };
      }
    },
  };
}

/** All requests of one compute as one: for what cannot be told in parts. */
export function allRequests(traffic: Traffic, compute: number): Requests {
  const parts = [...traffic.requests(compute)].map(copied);
  if (parts.length === 1) return parts[0] as Requests;
  const length = parts.reduce((sum, { at }) => sum + at.length, 0);
  const all = { at: new Float64Array(length), durationMs: new Float64Array(length), source: new Uint16Array(length) };
  let from = 0;
  for (const { at, durationMs, source } of parts) {
    all.at.set(at, from);
    all.durationMs.set(durationMs, from);
    if (source !== undefined) all.source.set(source, from);
    from += at.length;
  }
  return all;
}

const NOTHING: Requests = { at: new Float64Array(0), durationMs: new Float64Array(0) };

function copied({ at, durationMs, source }: Requests): Requests {
  return { at: at.slice(), durationMs: durationMs.slice(), source: source?.slice() };
}
