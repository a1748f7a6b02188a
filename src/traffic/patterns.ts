import * as z from "zod";
import { parseCron } from "./cron.ts";
import { distribution, upperBound } from "./distribution.ts";
import {
  duration,
  minutesOf,
  positiveDuration,
  positiveRate,
  rate,
  strictObject,
  timeOfDay,
  timeZone,
} from "./pattern-fields.ts";

/** By number less one, as in `Civil`. */
export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

const MAX_QUERIES = 1_000_000;
const MAX_POOL_SIZE = 10_000;
const MAX_PHASES = 1_000;

const countFrom = (minimum: number) => {
  const error = `must be a whole number from ${minimum} to ${MAX_QUERIES}, or {min, max} of such`;
  const count = z.int({ error }).min(minimum, error).max(MAX_QUERIES, error);
  return z
    .union([count, strictObject({ min: count, max: count })], { error })
    .refine((input) => typeof input === "number" || input.min <= input.max, {
      path: ["max"],
      error: "must not be smaller than min",
    });
};

/** What each arrival is. */
const arrivalFields = {
  kind: z.enum(["query", "transaction"]).default("query").describe("what an arrival is"),
  duration: distribution.prefault("0s"),
  queries: countFrom(0)
    .default(1)
    .describe("how many queries an arrival stands for: a number, or {min, max}"),
};
const spacing = z
  .enum(["random", "even"])
  .default("random")
  .describe("random: a Poisson process; even: as far from each other as the rate says");
/** Gaps that are always 0 would never let time go on. */
const positiveGap = distribution.refine((gaps) => upperBound(gaps) > 0, "must be longer than nothing");
const jitter = duration
  .default(0)
  .describe("each arrival is later by anything up to this, but none overtakes another");

const constant = {
  pattern: z.literal("constant").describe("at a fixed distance, the first one at the start"),
  every: positiveDuration,
  jitter,
  ...arrivalFields,
};
const poisson = {
  pattern: z.literal("poisson").describe("at random, independent of each other"),
  rate: positiveRate,
  ...arrivalFields,
};
const heavyTailed = {
  pattern: z
    .literal("heavy-tailed")
    .describe("with gaps of a distribution of their own: many short ones, a few very long ones"),
  gap: positiveGap,
  ...arrivalFields,
};
const onOff = {
  pattern: z.literal("on-off").describe("busy and silent periods in turns, a busy one first"),
  on: distribution,
  off: distribution,
  rate: positiveRate.describe("while on"),
  spacing,
  ...arrivalFields,
};
const bursts = {
  pattern: z.literal("bursts").describe("a handful of arrivals, then a pause: a build, a preview branch"),
  size: countFrom(1).describe("how many arrivals a burst has: a number, or {min, max}"),
  gap: distribution.prefault("0s"),
  pause: positiveGap,
  ...arrivalFields,
};
const officeHours = {
  pattern: z.literal("office-hours").describe("by the clock on the wall of a time zone"),
  time_zone: timeZone,
  weekdays: z
    .array(z.enum(WEEKDAYS))
    .min(1)
    .default(["mon", "tue", "wed", "thu", "fri"])
    .describe("days on which it opens"),
  opens: timeOfDay.default("09:00"),
  closes: timeOfDay
    .default("17:00")
    .describe("a time of day, in the time zone; one before opens is on the next day"),
  rate: positiveRate.describe("while open"),
  rate_outside: rate.default(0).describe("while closed"),
  spacing,
  ...arrivalFields,
};
const daily = {
  pattern: z
    .literal("daily")
    .describe("up and down over the day, highest at its peak, lowest 12 hours later"),
  time_zone: timeZone,
  rate: positiveRate.describe("on average over the day"),
  peak: timeOfDay.default("14:00"),
  low: z.number().min(0).max(1).default(0.5).describe("the lowest rate as a part of the highest"),
  spacing,
  ...arrivalFields,
};
const cron = {
  pattern: z.literal("cron").describe("by a crontab line"),
  schedule: z
    .string()
    .superRefine((line, context) => {
      const { problem } = parseCron(line);
      if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
    })
    .describe("minute, hour, day of month, month, day of week: */15 9-17 * * mon-fri"),
  time_zone: timeZone,
  jitter,
  ...arrivalFields,
};
const ramp = {
  pattern: z.literal("ramp").describe("phases, in each of which the rate goes evenly from one to another"),
  phases: z
    .array(
      strictObject({
        for: positiveDuration,
        from: rate.optional().describe("left out: where the phase before ended, 0 in the first one"),
        to: rate,
      }),
    )
    .max(MAX_PHASES)
    .refine(
      (phases) => phases.some(({ from = 0, to }) => from > 0 || to > 0),
      "must have a phase with a rate above 0",
    ),
  repeat: z.boolean().default(false).describe("begin again after the last phase; otherwise it is over then"),
  spacing,
  ...arrivalFields,
};
const healthCheck = {
  pattern: z
    .literal("health-check")
    .describe("a pool that tries each of its connections again and again, and opens those that were dropped"),
  every: positiveDuration.describe("how often each connection is tried; the pool's tries are spread evenly"),
  pool: z.int().min(1).max(MAX_POOL_SIZE).default(10).describe("how many connections it holds"),
  ...arrivalFields,
};
const subscriber = {
  pattern: z.literal("subscriber").describe("holds a connection open, and comes back when it was dropped"),
  heartbeat: positiveDuration.optional().describe("a query this often while connected; left out: none"),
  backoff: strictObject({
    first: positiveDuration.default(1_000),
    max: positiveDuration
      .default(60_000)
      .describe("the wait doubles up to this; a connection that lasted longer begins anew"),
    jitter: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe("each wait is shorter by anything up to this part of it"),
  })
    .refine(({ first, max }) => first <= max, { path: ["max"], error: "must not be shorter than first" })
    .prefault({})
    .describe("how long it waits before it comes back"),
  ...arrivalFields,
};

/**
 * What a source of traffic can be, with more fields (a name, a target) where it is part of something greater. All durations in
 * milliseconds, all rates per second; what it gives is a description as well, and means the same.
 */
export function patternWith<Shape extends z.core.$ZodLooseShape>(extraFields: Shape) {
  return z.discriminatedUnion(
    "pattern",
    [
      strictObject({ ...constant, ...extraFields }),
      strictObject({ ...poisson, ...extraFields }),
      strictObject({ ...heavyTailed, ...extraFields }),
      strictObject({ ...onOff, ...extraFields }),
      strictObject({ ...bursts, ...extraFields }),
      strictObject({ ...officeHours, ...extraFields }).refine(
        (input) => hasOpenPeriod(input as unknown as OpeningHours),
        {
          path: ["closes"],
          error: "must not be the same as opens; all day is 00:00 to 24:00",
        },
      ),
      strictObject({ ...daily, ...extraFields }),
      strictObject({ ...cron, ...extraFields }),
      strictObject({ ...ramp, ...extraFields }),
      strictObject({ ...healthCheck, ...extraFields }),
      strictObject({ ...subscriber, ...extraFields }),
    ],
    { error: `must be one of ${PATTERNS.join(", ")}` },
  );
}

type OpeningHours = { readonly opens: string; readonly closes: string };

function hasOpenPeriod({ opens, closes }: OpeningHours): boolean {
  return minutesOf(opens) !== minutesOf(closes);
}

export const PATTERNS = [
  constant,
  poisson,
  heavyTailed,
  onOff,
  bursts,
  officeHours,
  daily,
  cron,
  ramp,
  healthCheck,
  subscriber,
].map((shape) => shape.pattern.value);

export const pattern = patternWith({});

export type Pattern = z.output<typeof pattern>;
export type PatternInput = z.input<typeof pattern>;
export type PatternOf<Name extends Pattern["pattern"]> = Extract<Pattern, { pattern: Name }>;
