import { END_OF_TIME, type SimTime } from "../../kernel/time.ts";
import { randomFrom } from "../../simulation/random.ts";
import {
  type ArrivalTimes,
  BurstTimes,
  FixedIntervalTimes,
  GapTimes,
  JitteredTimes,
} from "./arrival-times.ts";
import type { Arrivals } from "./arrivals.ts";
import { HealthCheck, Subscriber } from "./closed-loop.ts";
import { CronTimes, parseCron } from "./cron.ts";
import { samplerOf } from "./distribution.ts";
import { OpenLoop } from "./open-loop.ts";
import type { Pattern } from "./patterns.ts";
import { type RateProfile, VariableRateTimes } from "./rate.ts";
import {
  DailyRateProfile,
  FlatRateProfile,
  OfficeHoursRateProfile,
  OnOffRateProfile,
  RampRateProfile,
} from "./rate-profiles.ts";
import { TimeZone } from "./time-zone.ts";
import { countSampler, type RandomStreams, Workload } from "./workload.ts";

/** `from` is inclusive, `until` exclusive and by default the end of time. Whole milliseconds. */
export type TimeBounds = { readonly from: SimTime; readonly until?: SimTime | undefined };

type SourceContext = {
  readonly from: SimTime;
  readonly streams: RandomStreams;
  readonly zone: (name: string) => TimeZone;
};

/**
 * Traffic sources from one seed. The draws of a source depend only on the seed and its name, with a separate
 * stream per purpose, so adding or removing a source changes no other.
 */
export class TrafficSources {
  readonly #random: ReturnType<typeof randomFrom>;
  readonly #zones = new Map<string, TimeZone>();

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  /** Opens a source. Its arrivals depend only on the seed, the name, the pattern and the bounds. */
  open(name: string, pattern: Pattern, { from, until = END_OF_TIME }: TimeBounds): Arrivals {
    const streams: RandomStreams = (purpose) => this.#random.stream(`traffic/${name}/${purpose}`, 0);
    const workload = new Workload(pattern, streams);
    if (pattern.pattern === "health-check") return new HealthCheck(pattern, workload, from, until);
    if (pattern.pattern === "subscriber")
      return new Subscriber(pattern, workload, streams("backoff"), from, until);
    return new OpenLoop(
      arrivalTimesOf(pattern, { from, streams, zone: (zone) => this.#zone(zone) }),
      workload,
      until,
    );
  }

  /** Shared, so that clock changes are looked up once for all sources. */
  #zone(name: string): TimeZone {
    const zone = this.#zones.get(name) ?? new TimeZone(name);
    this.#zones.set(name, zone);
    return zone;
  }
}

function arrivalTimesOf(
  pattern: Exclude<Pattern, { pattern: "health-check" | "subscriber" }>,
  context: SourceContext,
): ArrivalTimes {
  const { from, streams, zone } = context;
  switch (pattern.pattern) {
    case "constant":
      return withJitter(new FixedIntervalTimes(pattern.every, from), pattern.jitter, streams);
    case "cron": {
      const { schedule, problem } = parseCron(pattern.schedule);
      if (schedule === undefined) throw new Error(`schedule: ${problem}`);
      return withJitter(new CronTimes(schedule, zone(pattern.time_zone), from), pattern.jitter, streams);
    }
    case "heavy-tailed":
      return new GapTimes(pattern.gap, from, streams("gaps"));
    case "bursts": {
      const gap = samplerOf(pattern.gap, streams("gaps"));
      const pause = samplerOf(pattern.pause, streams("pauses"));
      return new BurstTimes(gap, pause, countSampler(pattern.size, streams("sizes")), from);
    }
    case "poisson":
      return new VariableRateTimes(new FlatRateProfile(pattern.rate, from), from, streams("gaps"));
    default: {
      const stream = pattern.spacing === "random" ? streams("gaps") : undefined;
      return new VariableRateTimes(rateProfileOf(pattern, context), from, stream);
    }
  }
}

function rateProfileOf(
  pattern: Extract<Pattern, { pattern: "on-off" | "office-hours" | "daily" | "ramp" }>,
  { from, streams, zone }: SourceContext,
): RateProfile {
  switch (pattern.pattern) {
    case "on-off":
      return new OnOffRateProfile(
        pattern.rate,
        samplerOf(pattern.on, streams("on")),
        samplerOf(pattern.off, streams("off")),
        from,
      );
    case "office-hours":
      return new OfficeHoursRateProfile(pattern, zone(pattern.time_zone), from);
    case "daily":
      return new DailyRateProfile(pattern, zone(pattern.time_zone), from);
    case "ramp":
      return new RampRateProfile(pattern, from);
    default:
      return pattern satisfies never;
  }
}

function withJitter(times: ArrivalTimes, jitterMs: number, streams: RandomStreams): ArrivalTimes {
  return jitterMs === 0 ? times : new JitteredTimes(times, jitterMs, streams("jitter"));
}
