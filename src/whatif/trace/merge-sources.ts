import { eachPart } from "../../traffic/recorded/trace/trace.ts";
import type { Traffic } from "./traffic.ts";

const OTHERS = "(others)";

/** Reduces the traffic to at most `maxSources` sources: those with the most requests, and one for all others. */
export function mergeSources(traffic: Traffic, maxSources: number): Traffic {
  if (traffic.sources.length <= maxSources) return traffic;
  const counts = new Float64Array(traffic.sources.length);
  for (const number of traffic.computes.keys()) {
    eachPart(traffic.arrivals(number), ({ source = [] }) => {
      for (const own of source) counts[own] = (counts[own] as number) + 1;
    });
  }
  const ranked = [...traffic.sources.keys()].sort(
    (a, b) => (counts[b] as number) - (counts[a] as number) || a - b,
  );
  const retained = ranked.slice(0, maxSources - 1);
  const targets = new Uint16Array(traffic.sources.length).fill(maxSources - 1);
  for (const [target, source] of retained.entries()) targets[source] = target;
  return {
    ...traffic,
    sources: [...retained.map((source) => traffic.sources[source] ?? ""), OTHERS],
    arrivals(compute) {
      const parts = traffic.arrivals(compute);
      return {
        next() {
          const part = parts.next();
          return part === undefined
            ? undefined
            : { ...part, source: part.source?.map((own) => targets[own] as number) };
        },
      };
    },
  };
}
