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

/** Index 0 is Monday: the ISO weekday minus one. */
export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

const MAX_QUERIES = 1_000_000;
const MAX_LOAD_VCPUS = 1_000_000;
const MAX_POOL_SIZE = 10_000;
const MAX_PHASES = 1_000;

const countFrom = (minimum: number) => {
  const error = `must be a whole number from ${minimum} to ${MAX_QUERIES}, or {min, max} with such numbers`;
  const count = z.int({ error }).min(minimum, error).max(MAX_QUERIES, error);
  return z
    .union([count, strictObject({ min: count, max: count })], { error })
    .refine((input) => typeof input === "number" || input.min <= input.max, {
      path: ["max"],
      error: "must not be smaller than min",
    });
};

const arrivalFields = {
  kind: z.enum(["query", "transaction"]).default("query").describe("kind of each arrival"),
  duration: distribution.prefault("0s"),
  queries: countFrom(0).default(1).describe("number of queries per arrival: a number, or {min, max}"),
  load: z
    .number()
    .min(0)
    .max(MAX_LOAD_VCPUS)
    .optional()
    .describe("number of vCPUs that each arrival keeps busy, which drives autoscaling (default: none)"),
};
const spacing = z
  .enum(["random", "even"])
  .default("random")
  .describe("random: a Poisson process; even: constant distances at the current rate");
/** With gaps of only 0, time would never advance. */
const positiveGap = distribution.refine((gaps) => upperBound(gaps) > 0, "must be able to exceed 0");
const jitter = duration
  .default(0)
  .describe("delays each arrival by up to this much; arrivals keep their order");

const constant = {
  pattern: z.literal("constant").describe("arrivals at a fixed interval, the first one at the start"),
  every: positiveDuration,
  jitter,
  ...arrivalFields,
};
const poisson = {
  pattern: z.literal("poisson").describe("independent random arrivals"),
  rate: positiveRate,
  ...arrivalFields,
};
const heavyTailed = {
  pattern: z
    .literal("heavy-tailed")
    .describe("gaps from a distribution: many short ones, a few very long ones"),
  gap: positiveGap,
  ...arrivalFields,
};
const onOff = {
  pattern: z.literal("on-off").describe("alternating busy and silent periods, a busy one first"),
  on: distribution,
  off: distribution,
  rate: positiveRate.describe("while on"),
  spacing,
  ...arrivalFields,
};
const bursts = {
  pattern: z
    .literal("bursts")
    .describe("a pause, then a burst of arrivals, such as a build or a preview branch"),
  size: countFrom(1).describe("number of arrivals per burst: a number, or {min, max}"),
  gap: distribution.prefault("0s"),
  pause: positiveGap,
  ...arrivalFields,
};
const officeHours = {
  pattern: z.literal("office-hours").describe("opening hours in the local time of a time zone"),
  time_zone: timeZone,
  weekdays: z
    .array(z.enum(WEEKDAYS))
    .min(1)
    .default(["mon", "tue", "wed", "thu", "fri"])
    .describe("days on which it opens"),
  opens: timeOfDay.default("09:00"),
  closes: timeOfDay
    .default("17:00")
    .describe("a time of day in the time zone; a time before opens is on the next day"),
  rate: positiveRate.describe("while open"),
  rate_outside: rate.default(0).describe("while closed"),
  spacing,
  ...arrivalFields,
};
const daily = {
  pattern: z.literal("daily").describe("a daily cycle, highest at the peak, lowest 12 hours later"),
  time_zone: timeZone,
  rate: positiveRate.describe("mean over the day"),
  peak: timeOfDay.default("14:00"),
  low: z.number().min(0).max(1).default(0.5).describe("lowest rate as a fraction of the highest"),
  spacing,
  ...arrivalFields,
};
const cron = {
  pattern: z.literal("cron").describe("a crontab schedule"),
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
  pattern: z.literal("ramp").describe("phases in which the rate changes linearly"),
  phases: z
    .array(
      strictObject({
        for: positiveDuration,
        from: rate.optional().describe("default: the end rate of the previous phase, 0 in the first phase"),
        to: rate,
      }),
    )
    .max(MAX_PHASES)
    .refine(
      (phases) => phases.some(({ from = 0, to }) => from > 0 || to > 0),
      "must have a phase with a rate above 0",
    ),
  repeat: z.boolean().default(false).describe("start again after the last phase; otherwise the source ends"),
  spacing,
  ...arrivalFields,
};
const healthCheck = {
  pattern: z
    .literal("health-check")
    .describe("a pool that tests each connection periodically and reopens dropped ones"),
  every: positiveDuration.describe(
    "interval between two tests of one connection; the tests of the pool are spread evenly",
  ),
  pool: z.int().min(1).max(MAX_POOL_SIZE).default(10).describe("number of connections in the pool"),
  ...arrivalFields,
};
const subscriber = {
  pattern: z.literal("subscriber").describe("holds a connection open and reconnects after a drop"),
  heartbeat: positiveDuration
    .optional()
    .describe("interval of queries while connected (default: no queries)"),
  backoff: strictObject({
    first: positiveDuration.default(1_000),
    max: positiveDuration
      .default(60_000)
      .describe("the wait doubles up to this; a connection that lasts longer resets it"),
    jitter: z.number().min(0).max(1).default(0.5).describe("each wait is shortened by up to this fraction"),
  })
    .refine(({ first, max }) => first <= max, { path: ["max"], error: "must not be shorter than first" })
    .prefault({})
    .describe("wait before a reconnect"),
  ...arrivalFields,
};

/**
 * The description of a traffic source, with extra fields such as a name or a target. Durations become
 * milliseconds and rates become arrivals per second; parsing the output again gives the same.
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
          error: "must differ from opens; for all day use 00:00 to 24:00",
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
