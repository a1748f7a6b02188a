import { uniform } from "../platform/core/random-port.ts";
import { DAY, HOUR, MINUTE, SECOND, type SimTime } from "../platform/core/time.ts";
import { chanceFrom } from "../simulation/random.ts";
import { type Pattern, pattern } from "./description.ts";
import { type Distribution, unitExponential } from "./distribution.ts";

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
const CLASSES: readonly { readonly share: number; readonly least: number; readonly most: number }[] = [
  { share: 0.45, least: 1 / 168, most: 1 },
  { share: 0.36, least: 1, most: HOUR / MINUTE },
  { share: 0.16, least: HOUR / MINUTE, most: HOUR / SECOND },
  { share: 0.03, least: HOUR / SECOND, most: (10 * HOUR) / SECOND },
];

/** The same study: execution times of all apps together are log-normal with μ = −0.38 and σ = 2.36, in seconds. */
const DURATION: Distribution = { distribution: "lognormal", median: Math.round(SECOND * Math.exp(-0.38)), sigma: 2.36 };
/** The same study: over the day the load never falls below about half of its peak. */
const LOW = 0.5;

/**
 * Sources like those of a large serverless fleet, `app-1`, `app-2`, …: rates log-uniform within their classes, up and down over the day.
 * A larger fleet of the same seed begins with the smaller one.
 */
export function* azureLikeFleet({ computes, seed, timeZone = "UTC" }: FleetOptions): Generator<FleetSource> {
  const chance = chanceFrom(seed);
  for (let number = 1; number <= computes; number += 1) {
    const source = chance.source("traffic/fleet/rates", number);
    const rate = rateAt(uniform(source), uniform(source)) / (HOUR / SECOND);
    const name = `app-${number}`;
    yield { name, pattern: pattern.parse({ pattern: "daily", rate, low: LOW, time_zone: timeZone, duration: DURATION }) };
  }
}

/** An assumption: how long a preview branch is there on average, from its first build until it is merged. */
const PREVIEW_LIFE = 3 * DAY;

/** From when to when the `number`th preview branch of a fleet is there: made at any time, and gone when its change is merged. */
export function previewLife(seed: number, number: number, { from, until }: { readonly from: SimTime; readonly until: SimTime }) {
  const source = chanceFrom(seed).source("traffic/fleet/lives", number);
  const made = from + Math.floor(uniform(source) * (until - from));
  return { from: made, until: Math.min(until, made + Math.max(HOUR, Math.round(unitExponential(source) * PREVIEW_LIFE))) };
}

/** Per hour: the class by its share, the place in it log-uniform. */
function rateAt(choice: number, place: number): number {
  let below = 0;
  for (const { share, least, most } of CLASSES) {
    below += share;
    if (choice < below) return least * (most / least) ** place;
  }
  return CLASSES.at(-1)?.most ?? 1;
}
