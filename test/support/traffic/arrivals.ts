import { utcInstant } from "../../../src/kernel/calendar.ts";
import type { Arrivals } from "../../../src/traffic/generated/arrivals.ts";
import { type PatternInput, pattern } from "../../../src/traffic/generated/patterns.ts";
import { TrafficSources } from "../../../src/traffic/generated/sources.ts";

/** Thursday, 2026-01-01T00:00:00Z. */
export const NEW_YEAR = utcInstant(2026, 1);

export type Arrival = Pick<Arrivals, "at" | "durationMs" | "queries" | "kind" | "connection">;

/** Reads the arrivals, at most `most` of them. */
export function takeArrivals(arrivals: Arrivals, limit = 1_000_000): Arrival[] {
  const taken: Arrival[] = [];
  for (; arrivals.at !== Number.POSITIVE_INFINITY && taken.length < limit; arrivals.next()) {
    const { at, durationMs, queries, kind, connection } = arrivals;
    taken.push({ at, durationMs, queries, kind, connection });
  }
  return taken;
}

export type SourceOptions = {
  readonly name?: string;
  readonly seed?: number;
  readonly from?: number;
  readonly until?: number;
};

export function openArrivals(
  input: PatternInput,
  { name = "source", seed = 1, from = NEW_YEAR, until }: SourceOptions = {},
): Arrivals {
  return new TrafficSources(seed).open(name, pattern.parse(input), { from, until });
}

/** The instants of the arrivals in ISO 8601. */
export function arrivalInstants(input: PatternInput, opening: SourceOptions, limit?: number): string[] {
  return takeArrivals(openArrivals(input, opening), limit).map(({ at }) => new Date(at).toISOString());
}
