import * as z from "zod";
import { closestMatch } from "../../kernel/text.ts";
import { DAY, HOUR, MINUTE, parseDuration, SECOND } from "../../kernel/time.ts";
import { isTimeZone } from "./time-zone.ts";

/** An object that rejects unknown keys and lists the known ones. */
export function strictObject<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `unknown key; the known keys are ${Object.keys(shape).join(", ")}${suggestion(issue.keys, Object.keys(shape))}`
        : undefined,
  });
}

function suggestion(unknownKeys: readonly string[], knownKeys: readonly string[]): string {
  const [key] = unknownKeys;
  const match = key === undefined || unknownKeys.length > 1 ? undefined : closestMatch(key, knownKeys);
  return match === undefined ? "" : `; did you mean ${match}?`;
}

/** Text that an editor shows for a property of a file: a description, and values to insert. */
export function documented(
  description: string,
  ...examples: readonly [unknown, ...unknown[]]
): { readonly description: string; readonly examples: unknown[] } {
  return { description, examples: [...examples] };
}

export const DURATION_RULE = "must be a duration with a unit, such as 250ms, 90s, 10m, 2h or 7d";

/** A duration, parsed into whole milliseconds. */
export const duration = z
  .union([z.string(), z.literal(0)], { error: DURATION_RULE })
  .transform((text, context) => parseOrIssue(parseDuration(text), DURATION_RULE, context))
  .meta({ id: "duration", ...documented("a duration with a unit", "250ms", "90s", "10m", "2h", "7d") });

export const positiveDuration = duration
  .refine((ms) => ms > 0, "must be longer than 0")
  .meta(documented("a duration with a unit, longer than 0", "90s", "10m"));

const RATE_RULE = "must be a rate like 5/s, 30/min, 2.5/hour or 10/day, or a number per second";
/** More would put many arrivals of one source into the same millisecond. */
const MAX_PER_SECOND = 1_000_000;
const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(s|sec|second)$/, SECOND],
  [/^(m|min|minute)$/, MINUTE],
  [/^(h|hour)$/, HOUR],
  [/^(d|day)$/, DAY],
];

/** A rate, parsed into arrivals per second. */
export const rate = z
  .union([z.string(), z.number()], { error: RATE_RULE })
  .transform((text, context) => parseOrIssue(parseRate(text), RATE_RULE, context))
  .refine((perSecond) => perSecond <= MAX_PER_SECOND, `must not be above ${MAX_PER_SECOND}/s`)
  .meta(
    documented("arrivals per unit of time, or a number per second", "5/s", "30/min", "2.5/hour", "10/day"),
  );

export const positiveRate = rate
  .refine((perSecond) => perSecond > 0, "must be above 0")
  .meta(documented(`${rate.description}; above 0`, "5/s", "30/min", "2.5/hour"));

export const timeZone = z
  .string()
  .refine(isTimeZone, "must be a time zone like Europe/Berlin, America/New_York or UTC")
  .default("UTC")
  .meta(documented("an IANA time zone (default: UTC)", "Europe/Berlin", "America/New_York", "UTC"));

const CLOCK_RULE = "must be a time of day like 09:00 or 17:30, from 00:00 to 24:00";

export const timeOfDay = z
  .string({ error: CLOCK_RULE })
  .regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, CLOCK_RULE)
  .meta(documented("a time of day in the time zone", "09:00", "17:30"));

/** Minutes since midnight. */
export function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return hours * 60 + minutes;
}

function parseRate(text: string | number): number | undefined {
  const match = /^(\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: ?(?:\/|per) ?([a-z]+))?$/.exec(String(text).trim());
  if (match === null) return undefined;
  const unit = match[2] === undefined ? SECOND : UNITS.find(([names]) => names.test(match[2] as string))?.[1];
  return unit === undefined ? undefined : Number(match[1]) / (unit / SECOND);
}

function parseOrIssue(value: number | undefined, message: string, context: z.RefinementCtx): number {
  if (value !== undefined) return value;
  context.addIssue({ code: "custom", message });
  return z.NEVER;
}
