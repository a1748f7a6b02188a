import * as z from "zod";
import { arrivalFields, countFrom, jitter, positiveGap, spacing } from "./arrival-fields.ts";
import { parseCron } from "./cron.ts";
import { distribution } from "./distribution.ts";
import {
  documented,
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

const MAX_POOL_SIZE = 10_000;
const MAX_PHASES = 1_000;

const constant = {
  pattern: z
    .literal("constant")
    .meta(documented("arrivals at a fixed interval, the first one at the start", "constant")),
  every: positiveDuration.meta(documented("interval between two arrivals", "10m", "30s")),
  jitter,
  ...arrivalFields,
};
const poisson = {
  pattern: z.literal("poisson").meta(documented("independent random arrivals", "poisson")),
  rate: positiveRate.meta(documented("mean rate of arrivals", "4/hour", "2/s")),
  ...arrivalFields,
};
const heavyTailed = {
  pattern: z
    .literal("heavy-tailed")
    .meta(documented("gaps from a distribution: many short ones, a few very long ones", "heavy-tailed")),
  gap: positiveGap.meta(
    documented("time between two arrivals", "5m~2", { distribution: "pareto", min: "1m", alpha: 1.2 }),
  ),
  ...arrivalFields,
};
const onOff = {
  pattern: z
    .literal("on-off")
    .meta(documented("alternating busy and silent periods, a busy one first", "on-off")),
  on: distribution.meta(documented("length of a busy period", "20m", "5m..30m")),
  off: distribution.meta(documented("length of a silent period", "2h", "1h~0.5")),
  rate: positiveRate.meta(documented("rate while on", "1/s", "30/min")),
  spacing,
  ...arrivalFields,
};
const bursts = {
  pattern: z
    .literal("bursts")
    .meta(documented("a pause, then a burst of arrivals, such as a build or a preview branch", "bursts")),
  size: countFrom(1).meta(
    documented("number of arrivals per burst: a number, or {min, max}", 20, { min: 5, max: 50 }),
  ),
  gap: distribution
    .prefault("0s")
    .meta(documented("time between two arrivals of a burst (default: 0s)", "1s", "0s..5s")),
  pause: positiveGap.meta(documented("time from the end of a burst to the next one", "30m", "1h~0.5")),
  ...arrivalFields,
};
const officeHours = {
  pattern: z
    .literal("office-hours")
    .meta(documented("opening hours in the local time of a time zone", "office-hours")),
  time_zone: timeZone,
  weekdays: z
    .array(z.enum(WEEKDAYS))
    .min(1)
    .default(["mon", "tue", "wed", "thu", "fri"])
    .meta(documented("days on which it opens (default: Monday to Friday)", ["mon", "wed", "fri"])),
  opens: timeOfDay
    .default("09:00")
    .meta(documented("a time of day in the time zone (default: 09:00)", "08:30")),
  closes: timeOfDay
    .default("17:00")
    .meta(
      documented(
        "a time of day in the time zone; a time before opens is on the next day (default: 17:00)",
        "18:00",
        "02:00",
      ),
    ),
  rate: positiveRate.meta(documented("rate while open", "20/hour", "1/s")),
  rate_outside: rate.default(0).meta(documented("rate while closed (default: 0)", "1/hour")),
  spacing,
  ...arrivalFields,
};
const daily = {
  pattern: z
    .literal("daily")
    .meta(documented("a daily cycle, highest at the peak, lowest 12 hours later", "daily")),
  time_zone: timeZone,
  rate: positiveRate.meta(documented("mean rate over the day", "30/hour", "1/s")),
  peak: timeOfDay
    .default("14:00")
    .meta(documented("time of day of the highest rate (default: 14:00)", "20:00")),
  low: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .meta(documented("lowest rate as a fraction of the highest (default: 0.5)", 0.1)),
  spacing,
  ...arrivalFields,
};
const cron = {
  pattern: z.literal("cron").meta(documented("a crontab schedule", "cron")),
  schedule: z
    .string()
    .superRefine((line, context) => {
      const { problem } = parseCron(line);
      if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
    })
    .meta(documented("minute, hour, day of month, month, day of week", "*/15 9-17 * * mon-fri", "0 2 * * *")),
  time_zone: timeZone,
  jitter,
  ...arrivalFields,
};
const ramp = {
  pattern: z.literal("ramp").meta(documented("phases in which the rate changes linearly", "ramp")),
  phases: z
    .array(
      strictObject({
        for: positiveDuration.meta(documented("length of the phase", "10m")),
        from: rate
          .optional()
          .meta(
            documented("rate at the start (default: the end rate of the previous phase, or 0)", "0/s", "1/s"),
          ),
        to: rate.meta(documented("rate at the end", "5/s", "30/min")),
      }),
    )
    .max(MAX_PHASES)
    .refine(
      (phases) => phases.some(({ from = 0, to }) => from > 0 || to > 0),
      "must have a phase with a rate above 0",
    )
    .meta(
      documented("phases in order", [
        { for: "10m", to: "5/s" },
        { for: "1h", to: "5/s" },
      ]),
    ),
  repeat: z
    .boolean()
    .default(false)
    .meta(documented("start again after the last phase; otherwise the source ends (default: false)", true)),
  spacing,
  ...arrivalFields,
};
const healthCheck = {
  pattern: z
    .literal("health-check")
    .meta(
      documented("a pool that tests each connection periodically and reopens dropped ones", "health-check"),
    ),
  every: positiveDuration.meta(
    documented(
      "interval between two tests of one connection; the tests of the pool are spread evenly",
      "30s",
    ),
  ),
  pool: z
    .int()
    .min(1)
    .max(MAX_POOL_SIZE)
    .default(10)
    .meta(documented("number of connections in the pool (default: 10)", 5)),
  ...arrivalFields,
};
const subscriber = {
  pattern: z
    .literal("subscriber")
    .meta(documented("holds a connection open and reconnects after a drop", "subscriber")),
  heartbeat: positiveDuration
    .optional()
    .meta(documented("interval of queries while connected (default: no queries)", "20s")),
  backoff: strictObject({
    first: positiveDuration
      .default(1_000)
      .meta(documented("wait before the first attempt (default: 1s)", "500ms")),
    max: positiveDuration
      .default(60_000)
      .meta(
        documented(
          "the wait doubles up to this; a connection that lasts longer resets it (default: 1m)",
          "30s",
        ),
      ),
    jitter: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .meta(documented("each wait is shortened by up to this fraction (default: 0.5)", 0.2)),
  })
    .refine(({ first, max }) => first <= max, { path: ["max"], error: "must not be shorter than first" })
    .prefault({})
    .meta(documented("wait before a reconnect", { first: "1s", max: "30s" })),
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
