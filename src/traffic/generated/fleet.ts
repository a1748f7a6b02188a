import { uniform } from "../../kernel/random-port.ts";
import { DAY, HOUR, MINUTE, SECOND, type SimTime } from "../../kernel/time.ts";
import { randomFrom } from "../../simulation/random.ts";
import { unitExponential } from "./distribution.ts";
import { type Pattern, pattern } from "./patterns.ts";

export type FleetSource = { readonly name: string; readonly pattern: Pattern };

export type FleetOptions = {
  readonly computes: number;
  readonly seed: number;
  /** The time zone in whose afternoon the fleet peaks. */
  readonly timeZone?: string | undefined;
};

/**
 * Invocation rates of Azure Functions apps (Shahrad et al., Serverless in the Wild, ATC'20): 45 % at most
 * once an hour, 36 % up to once a minute, 19 % more often, of which 3 % more than once a second. Per hour;
 * the outer bounds are assumptions.
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

/** Same study: execution times over all apps are log-normal with μ = −0.38 and σ = 2.36, in seconds. */
const EXECUTION_TIME = {
  distribution: "lognormal",
  median: `${Math.round(SECOND * Math.exp(-0.38))}ms`,
  sigma: 2.36,
};
/** Same study: over the day the load does not fall below about half of its peak. */
const DAILY_LOW = 0.5;

/**
 * Sources of a large serverless fleet, `app-1`, `app-2`, …: rates are log-uniform within their class and
 * follow a daily cycle. A larger fleet with the same seed starts with the sources of the smaller one.
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

/** An assumption: the mean time from the first build of a preview branch until its merge. */
const MEAN_PREVIEW_LIFETIME = 3 * DAY;

/**
 * When the `number`th preview branch of a fleet exists: it is created at a random time and deleted when its
 * change is merged.
 */
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

/** Per hour: picks the class by its share, then a log-uniform rate within the class. */
function ratePerHour(classQuantile: number, rateQuantile: number): number {
  let cumulativeShare = 0;
  for (const { share, minPerHour, maxPerHour } of USAGE_CLASSES) {
    cumulativeShare += share;
    if (classQuantile < cumulativeShare) return minPerHour * (maxPerHour / minPerHour) ** rateQuantile;
  }
  return USAGE_CLASSES.at(-1)?.maxPerHour ?? 1;
}
