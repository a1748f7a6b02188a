import { azureLikeFleet, previewLifetime } from "../../traffic/generated/fleet.ts";
import { type Pattern, pattern } from "../../traffic/generated/patterns.ts";
import { TrafficSources } from "../../traffic/generated/sources.ts";
import { type Period, partsOf } from "../../traffic/recorded/trace/trace.ts";
import { ArrivalBuffer } from "./arrival-buffer.ts";
import type { Traffic } from "./traffic.ts";

export type FleetPattern =
  | "azure"
  | "steady"
  | "on-off"
  | "office-hours"
  | "health-check"
  | "subscriber"
  | "cron"
  | "bursts"
  | "preview-branch"
  | "heavy-tailed";

/** Patterns of a synthetic fleet; rates are per second. */
export const FLEET_PATTERNS: Readonly<
  Record<FleetPattern, { readonly meaning: string; readonly pattern?: object }>
> = {
  azure: { meaning: "rates and durations like those of a large serverless fleet (Shahrad et al., ATC'20)" },
  steady: {
    meaning: "a request every ten minutes on average, at any time",
    pattern: { pattern: "poisson", rate: 1 / 600, duration: "200ms" },
  },
  "on-off": {
    meaning: "busy for half an hour, then idle for some hours",
    pattern: {
      pattern: "on-off",
      rate: 0.05,
      on: { distribution: "exponential", mean: "30m" },
      off: { distribution: "exponential", mean: "4h" },
      duration: "150ms",
    },
  },
  "office-hours": {
    meaning: "one request in four minutes on average, Monday to Friday, 9 to 17 UTC",
    pattern: { pattern: "office-hours", rate: 1 / 240, rate_outside: 0, duration: "300ms" },
  },
  subscriber: {
    meaning:
      "a listener that is disconnected after 5 min of silence and reconnects within 1 min, as recorded under that delay",
    pattern: {
      pattern: "heavy-tailed",
      gap: { distribution: "uniform", min: "301s", max: "6m" },
      duration: "20ms",
    },
  },
  "health-check": {
    meaning: "a probe every four minutes, day and night",
    pattern: { pattern: "constant", every: "4m", duration: "5ms" },
  },
  cron: {
    meaning: "a job of 30 s every hour",
    pattern: { pattern: "cron", schedule: "0 * * * *", jitter: "2m", duration: "30s" },
  },
  bursts: {
    meaning: "20 requests of 1 s, 2 s apart, about every two hours",
    pattern: {
      pattern: "bursts",
      gap: "2s",
      pause: { distribution: "exponential", mean: "2h" },
      size: 20,
      duration: "1s",
    },
  },
  "preview-branch": {
    meaning: "exists for some days only: builds of many requests at once, hours apart",
    pattern: {
      pattern: "bursts",
      size: { min: 5, max: 40 },
      gap: { distribution: "exponential", mean: "100ms" },
      pause: { distribution: "lognormal", median: "3h", sigma: 1.2 },
      duration: { distribution: "lognormal", median: "400ms", sigma: 1 },
    },
  },
  "heavy-tailed": {
    meaning: "gaps of any length: mostly minutes, sometimes days",
    pattern: {
      pattern: "heavy-tailed",
      gap: { distribution: "lognormal", median: "3m", sigma: 2.2 },
      duration: "400ms",
    },
  },
};

export type FleetTrafficOptions = {
  readonly computes: number;
  readonly seed: number;
  /** Each pattern is a source of every compute. */
  readonly patterns: readonly FleetPattern[];
  readonly period: Period;
};

/** A synthetic fleet. Requests are generated on each read, with identical results. */
export function fleetTraffic({ computes, seed, patterns, period }: FleetTrafficOptions): Traffic {
  const azure = patterns.includes("azure")
    ? [...azureLikeFleet({ computes, seed })].map((source) => source.pattern)
    : [];
  const parsedPatterns = patterns.map((name): Pattern | undefined => {
    const { pattern: description } = FLEET_PATTERNS[name];
    return description === undefined ? undefined : pattern.parse(description);
  });
  const sources = new TrafficSources(seed);
  const names = Array.from({ length: computes }, (_, number) => `app-${number + 1}`);
  return {
    period,
    sources: patterns,
    computes: names,
    arrivals(compute) {
      const buffer = new ArrivalBuffer();
      for (const [source, name] of patterns.entries()) {
        const sourcePattern = parsedPatterns[source] ?? azure[compute];
        if (sourcePattern === undefined) continue;
        const wholePeriod = { from: period.startAt, until: period.endAt };
        const activePeriod =
          name === "preview-branch" ? previewLifetime(seed, compute + 1, wholePeriod) : wholePeriod;
        const arrivals = sources.open(`${names[compute]}/${name}`, sourcePattern, activePeriod);
        for (; arrivals.at < activePeriod.until; arrivals.next())
          buffer.add(arrivals.at, arrivals.durationMs, source);
      }
      return partsOf(buffer.sorted());
    },
  };
}
