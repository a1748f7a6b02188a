import { uniform } from "../platform/core/random-port.ts";
import { DAY, HOUR, MINUTE, SECOND, type SimTime } from "../platform/core/time.ts";
import { randomFrom } from "../simulation/random.ts";
import { type Distribution, unitExponential } from "./distribution.ts";
import { type Pattern, pattern } from "./patterns.ts";

export type FleetSource = { readonly name: string; readonly pattern: Pattern };

export type FleetOptions = {
  readonly computes: number;
  readonly seed: number;
  /** Where it is afternoon when the fleet is busiest. */
  readonly timeZone?: string | undefined;
};

/**
 * How often the apps of Azure Functions are used (Shahrad et al., Serverless in the Wild, ATC'20): 45 % at most once an hour, 36 % up to
 * once a minute, 19 % more often, of which 3 % more than once a second. Rates per hour; the outer bounds are assumptions.
 */
const USAGE_CLASSES: readonly {
  readonly share: number;
  readonly minPerHour: number;
  readonly maxPerHour: number;
}[] = [
  { share: 0.45, minPerHour: 1 / 168, maxPerHour: 1 },
  { share: 0.36, minPerHour: 1, maxPerHour: HOUR / MINUTE },
  { share: 0.16, minPerHour: HOUR / MINUTE, maxPerHour: HOUR / SECOND },
  { share: 0.03, minPerHour: HOUR / SECOND, maxPerHour: (10 * HOUR) / SECOND },
];

/** The same study: execution times of all apps together are log-normal with μ = −0.38 and σ = 2.36, in seconds. */
const EXECUTION_TIME: Distribution = {
  distribution: "lognormal",
  median: Math.round(SECOND * Math.exp(-0.38)),
  sigma: 2.36,
};
/** The same study: over the day the load never falls below about half of its peak. */
const DAILY_LOW = 0.5;

/**
 * Sources like those of a large serverless fleet, `app-1`, `app-2`, …: rates log-uniform within their classes, up and down over the day.
 * A larger fleet of the same seed begins with the smaller one.
 */
export function* azureLikeFleet({ computes, seed, timeZone = "UTC" }: FleetOptions): Generator<FleetSource> {
  const random = randomFrom(seed);
  for (let number = 1; number <= computes; number += 1) {
    const stream = random.stream("traffic/fleet/rates", number);
    const rate = ratePerHour(uniform(stream), uniform(stream)) / (HOUR / SECOND);
    const name = `app-${number}`;
    yield {
      name,
      pattern: pattern.parse({
        pattern: "daily",
        rate,
        low: DAILY_LOW,
        time_zone: timeZone,
        duration: EXECUTION_TIME,
      }),
    };
  }
}

/** An assumption: how long a preview branch is there on average, from its first build until it is merged. */
const MEAN_PREVIEW_LIFETIME = 3 * DAY;

/** From when to when the `number`th preview branch of a fleet is there: made at any time, and gone when its change is merged. */
export function previewLifetime(
  seed: number,
  number: number,
  { from, until }: { readonly from: SimTime; readonly until: SimTime },
) {
  const stream = randomFrom(seed).stream("traffic/fleet/lives", number);
  const createdAt = from + Math.floor(uniform(stream) * (until - from));
  return {
    from: createdAt,
    until: Math.min(
      until,
      createdAt + Math.max(HOUR, Math.round(unitExponential(stream) * MEAN_PREVIEW_LIFETIME)),
    ),
  };
}

/** Per hour: the class by its share, the place in it log-uniform. */
function ratePerHour(classQuantile: number, rateQuantile: number): number {
  let cumulativeShare = 0;
  for (const { share, minPerHour, maxPerHour } of USAGE_CLASSES) {
    cumulativeShare += share;
    if (classQuantile < cumulativeShare) return minPerHour * (maxPerHour / minPerHour) ** rateQuantile;
  }
  return USAGE_CLASSES.at(-1)?.maxPerHour ?? 1;
}
