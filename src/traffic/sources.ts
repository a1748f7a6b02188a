import { END_OF_TIME, type SimTime } from "../platform/core/time.ts";
import { chanceFrom } from "../simulation/random.ts";
import type { Arrivals } from "./arrivals.ts";
import { HealthCheck, Subscriber } from "./closed-loop.ts";
import { CronTimes, parseCron } from "./cron.ts";
import type { Pattern } from "./description.ts";
import { samplerOf } from "./distribution.ts";
import { OpenLoop } from "./open-loop.ts";
import { DailyProfile, FlatProfile, OfficeHoursProfile, OnOffProfile, RampProfile } from "./profiles.ts";
import { RatedTimes, type RateProfile } from "./rate.ts";
import { BurstTimes, EvenTimes, GapTimes, JitteredTimes, type Times } from "./times.ts";
import { countsOf, type Streams, Work } from "./work.ts";
import { Zone } from "./zone.ts";

/** From `from` up to, not including, `until`; without `until` it goes on to the end of time. Whole milliseconds. */
export type Bounds = { readonly from: SimTime; readonly until?: SimTime | undefined };

type Origin = { readonly from: SimTime; readonly streams: Streams; readonly zone: (name: string) => Zone };

/**
 * Sources of traffic from one seed. What a source draws depends on the seed and its name alone, each purpose from a stream of its own:
 * one source more or less changes no other.
 */
export class TrafficSources {
  readonly #chance: ReturnType<typeof chanceFrom>;
  readonly #zones = new Map<string, Zone>();

  constructor(seed: number) {
    this.#chance = chanceFrom(seed);
  }

  /** The same name, pattern and bounds give the same arrivals. */
  open(name: string, pattern: Pattern, { from, until = END_OF_TIME }: Bounds): Arrivals {
    const streams: Streams = (purpose) => this.#chance.source(`traffic/${name}/${purpose}`, 0);
    const work = new Work(pattern, streams);
    if (pattern.pattern === "health-check") return new HealthCheck(pattern, work, from, until);
    if (pattern.pattern === "subscriber") return new Subscriber(pattern, work, streams("backoff"), from, until);
    return new OpenLoop(timesOf(pattern, { from, streams, zone: (zone) => this.#zone(zone) }), work, until);
  }

  /** Its changes of the clocks are looked up once for all sources. */
  #zone(name: string): Zone {
    const zone = this.#zones.get(name) ?? new Zone(name);
    this.#zones.set(name, zone);
    return zone;
  }
}

function timesOf(pattern: Exclude<Pattern, { pattern: "health-check" | "subscriber" }>, origin: Origin): Times {
  const { from, streams, zone } = origin;
  switch (pattern.pattern) {
    case "constant":
      return jittered(new EvenTimes(pattern.every, from), pattern.jitter, streams);
    case "cron": {
      const { schedule, problem } = parseCron(pattern.schedule);
      if (schedule === undefined) throw new Error(`schedule: ${problem}`);
      return jittered(new CronTimes(schedule, zone(pattern.time_zone), from), pattern.jitter, streams);
    }
    case "heavy-tailed":
      return new GapTimes(pattern.gap, from, streams("gaps"));
    case "bursts": {
      const gap = samplerOf(pattern.gap, streams("gaps"));
      const pause = samplerOf(pattern.pause, streams("pauses"));
      return new BurstTimes(gap, pause, countsOf(pattern.size, streams("sizes")), from);
    }
    case "poisson":
      return new RatedTimes(new FlatProfile(pattern.rate, from), from, streams("gaps"));
    default: {
      const source = pattern.spacing === "random" ? streams("gaps") : undefined;
      return new RatedTimes(profileOf(pattern, origin), from, source);
    }
  }
}

function profileOf(
  pattern: Extract<Pattern, { pattern: "on-off" | "office-hours" | "daily" | "ramp" }>,
  { from, streams, zone }: Origin,
): RateProfile {
  switch (pattern.pattern) {
    case "on-off":
      return new OnOffProfile(pattern.rate, samplerOf(pattern.on, streams("on")), samplerOf(pattern.off, streams("off")), from);
    case "office-hours":
      return new OfficeHoursProfile(pattern, zone(pattern.time_zone), from);
    case "daily":
      return new DailyProfile(pattern, zone(pattern.time_zone), from);
    case "ramp":
      return new RampProfile(pattern, from);
    default:
      return pattern satisfies never;
  }
}

function jittered(times: Times, jitterMs: number, streams: Streams): Times {
  return jitterMs === 0 ? times : new JitteredTimes(times, jitterMs, streams("jitter"));
}
