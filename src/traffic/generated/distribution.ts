import * as z from "zod";
import { issueText } from "../../input-limits/issue-text.ts";
import { DISTRIBUTION_RULE, parseDistribution } from "../../kernel/distribution.ts";
import { normal } from "../../kernel/random-port.ts";
import type { DurationMs } from "../../kernel/time.ts";
import { documented, duration, positiveDuration, strictObject } from "./pattern-fields.ts";

const max = duration
  .optional()
  .meta(documented("upper bound; longer draws are cut to it (default: none)", "1h"));

const kind = <Name extends string>(name: Name, description: string) =>
  z.literal(name).meta(documented(description, name));

const distributions = z.discriminatedUnion(
  "distribution",
  [
    strictObject({
      distribution: kind("fixed", "always the same duration"),
      value: duration.meta(documented("the duration", "3s")),
    }).describe("a constant"),
    strictObject({
      distribution: kind("uniform", "uniform between two bounds"),
      min: duration.meta(documented("lower bound, inclusive", "1s")),
      max: duration.meta(documented("upper bound, inclusive", "5s")),
    })
      .refine(({ min, max }) => min <= max, { path: ["max"], error: "must not be shorter than min" })
      .describe("uniform between two bounds, both inclusive"),
    strictObject({
      distribution: kind("exponential", "exponential with this mean"),
      mean: positiveDuration.meta(documented("mean before the upper bound applies", "10m")),
      max,
    }).describe("exponential with this mean"),
    strictObject({
      distribution: kind("lognormal", "log-normal with this median"),
      median: positiveDuration.meta(documented("half of the draws are shorter", "3s")),
      sigma: z.number().positive().max(10).meta(documented("standard deviation of the logarithm", 0.5)),
      max,
    }).describe("log-normal with this median"),
    strictObject({
      distribution: kind("pareto", "power law above a minimum"),
      min: positiveDuration.meta(documented("shortest draw", "1m")),
      alpha: z
        .number()
        .positive()
        .max(100)
        .meta(documented("smaller values give a heavier tail; at 1 and below the mean is infinite", 1.5)),
      max,
    }).describe("power law above a minimum"),
  ],
  { error: "must be one of fixed, uniform, exponential, lognormal, pareto" },
);

export type Distribution = z.output<typeof distributions>;

const shorthand = z
  .union([z.string(), z.number()], { error: DISTRIBUTION_RULE })
  .transform((text, context): Distribution => {
    const distribution = parseDistribution(String(text));
    switch (distribution?.kind) {
      case "fixed":
        return { distribution: "fixed", value: distribution.ms };
      case "uniform":
        return { distribution: "uniform", min: distribution.minMs, max: distribution.maxMs };
      case "lognormal":
        return { distribution: "lognormal", median: distribution.medianMs, sigma: distribution.sigma };
      case undefined:
        context.addIssue({ code: "custom", message: DISTRIBUTION_RULE });
        return z.NEVER;
      default:
        return distribution satisfies never;
    }
  });

/** Named definitions such as `#/definitions/duration` come from the enclosing schema. */
const {
  $schema: _,
  definitions: __,
  ...distributionsSchema
} = z.toJSONSchema(distributions, {
  io: "input",
  target: "draft-7",
  // Otherwise zod drops the examples of a schema that transforms its input.
  override: ({ zodSchema, jsonSchema }) => {
    const examples = z.globalRegistry.get(zodSchema)?.examples;
    if (Array.isArray(examples)) jsonSchema.examples = examples;
  },
});

/**
 * How long something takes: `3s`, `1s..5s`, `3s~0.5` (median~sigma), or an object with a distribution; in
 * milliseconds. Not a zod union, which would not report what is wrong with the intended alternative.
 */
export const distribution = z
  .unknown()
  .transform((input, context): Distribution => {
    const result = (typeof input === "object" && input !== null ? distributions : shorthand).safeParse(
      input,
      { error: issueText },
    );
    if (result.success) return result.data;
    for (const { path, message } of result.error.issues)
      context.addIssue({ code: "custom", path: [...path], message });
    return z.NEVER;
  })
  .meta({
    id: "distribution",
    ...documented(
      "a duration: 3s, 1s..5s, 3s~0.5 (median~sigma), or an object with a distribution and its parameters",
      "3s",
      "1s..5s",
      "3s~0.5",
    ),
    anyOf: [{ type: "string" }, { type: "number" }, distributionsSchema],
  });

/** The longest possible draw. */
export function upperBound(distribution: Distribution): DurationMs {
  return distribution.distribution === "fixed"
    ? distribution.value
    : (distribution.max ?? Number.POSITIVE_INFINITY);
}

/** Draws whole milliseconds, never negative. */
export type Sampler = () => DurationMs;

/**
 * Draws by inversion from `stream`, which gives integers in [0, 2^32): one integer for each value, two for
 * log-normal ones.
 */
export function samplerOf(distribution: Distribution, stream: () => number): Sampler {
  switch (distribution.distribution) {
    case "fixed": {
      const { value } = distribution;
      return () => value;
    }
    case "uniform": {
      const { min, max } = distribution;
      const width = max - min + 1;
      return () => min + Math.floor((stream() / 2 ** 32) * width);
    }
    case "exponential": {
      const { mean, max = Number.MAX_SAFE_INTEGER } = distribution;
      return () => Math.min(max, Math.round(mean * unitExponential(stream)));
    }
    case "lognormal": {
      const { median, sigma, max = Number.MAX_SAFE_INTEGER } = distribution;
      return () => Math.min(max, Math.round(median * Math.exp(sigma * normal(stream))));
    }
    case "pareto": {
      const { min, alpha, max = Number.MAX_SAFE_INTEGER } = distribution;
      return () => Math.min(max, Math.round(min * Math.exp(unitExponential(stream) / alpha)));
    }
    default:
      return distribution satisfies never;
  }
}

/**
 * A gap of a Poisson process of rate 1. Adding 0.5 keeps the draw away from 0, so the gap is finite and never
 * 0.
 */
export function unitExponential(stream: () => number): number {
  return -Math.log((stream() + 0.5) / 2 ** 32);
}
