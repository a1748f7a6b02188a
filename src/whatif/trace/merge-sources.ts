import { eachPart } from "../../recordings/trace/trace.ts";
import type { Traffic } from "./known-traffic.ts";

const OTHERS = "(others)";

/** The same traffic, of at most so many sources: those with the most requests, and all others as one. */
export function fewSources(traffic: Traffic, most: number): Traffic {
  if (traffic.sources.length <= most) return traffic;
  const counts = new Float64Array(traffic.sources.length);
  for (const number of traffic.computes.keys()) {
    eachPart(traffic.requests(number), ({ source = [] }) => {
      for (const own of source) counts[own] = (counts[own] as number) + 1;
    });
  }
  const ranked = [...traffic.sources.keys()].sort((a, b) => (counts[b] as number) - (counts[a] as number) || a - b);
  const kept = ranked.slice(0, most - 1);
  const places = new Uint16Array(traffic.sources.length).fill(most - 1);
  for (const [place, source] of kept.entries()) places[source] = place;
  return {
    ...traffic,
    sources: [...kept.map((source) => traffic.sources[source] ?? ""), OTHERS],
    requests(compute) {
      const parts = traffic.requests(compute);
      return {
        next() {
          const part = parts.next();
          return part === undefined ? undefined : { ...part, source: part.source?.map((own) => places[own] as number) };
        },
      };
    },
  };
}
