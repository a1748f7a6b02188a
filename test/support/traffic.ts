import { instantOf } from "../../src/platform/core/calendar.ts";
import type { Arrivals } from "../../src/traffic/arrivals.ts";
import { type PatternInput, pattern } from "../../src/traffic/description.ts";
import { TrafficSources } from "../../src/traffic/sources.ts";

/** Thursday, 2026-01-01T00:00:00Z. */
export const NEW_YEAR = instantOf(2026, 1);

export type Arrival = Pick<Arrivals, "at" | "durationMs" | "queries" | "kind" | "connection">;

/** Takes what comes, `most` at most. */
export function take(arrivals: Arrivals, most = 1_000_000): Arrival[] {
  const taken: Arrival[] = [];
  for (; arrivals.at !== Number.POSITIVE_INFINITY && taken.length < most; arrivals.next()) {
    const { at, durationMs, queries, kind, connection } = arrivals;
    taken.push({ at, durationMs, queries, kind, connection });
  }
  return taken;
}

export type Opening = { readonly name?: string; readonly seed?: number; readonly from?: number; readonly until?: number };

export function opened(input: PatternInput, { name = "source", seed = 1, from = NEW_YEAR, until }: Opening = {}): Arrivals {
  return new TrafficSources(seed).open(name, pattern.parse(input), { from, until });
}

/** Instants of what comes, in ISO 8601. */
export function instants(input: PatternInput, opening: Opening, most?: number): string[] {
  return take(opened(input, opening), most).map(({ at }) => new Date(at).toISOString());
}
