import { expect, test } from "vitest";
import * as z from "zod";
import { pattern, patternWith } from "../../../../src/traffic/generated/patterns.ts";

const problems = (input: unknown) =>
  pattern.safeParse(input).error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];

test("all problems are reported at once, each with its field", () => {
  expect(
    problems({
      pattern: "office-hours",
      rate: "5/fortnight",
      opens: "9:00",
      time_zone: "Europe/Nowhere",
      weekdays: [],
    }),
  ).toEqual([
    "time_zone: must be a time zone like Europe/Berlin, America/New_York or UTC",
    expect.stringMatching(/^weekdays: /),
    "opens: must be a time of day like 09:00 or 17:30, from 00:00 to 24:00",
    "rate: must be a rate like 5/s, 30/min, 2.5/hour or 10/day, or a number per second",
  ]);
});

test.each([
  [{ pattern: "tides" }, /^pattern: must be one of constant, poisson, heavy-tailed/],
  [{}, /^pattern: must be one of constant/],
  [{ pattern: "constant", every: "0s" }, /^every: must be longer than 0/],
  [
    { pattern: "constant", every: "1s", evry: 1 },
    /^: unknown key; the known keys are pattern, every, jitter, kind, duration, queries/,
  ],
  [
    { pattern: "constant", every: "1s", duration: "3 parsecs" },
    /^duration: must be a duration like 3s, a range/,
  ],
  [
    { pattern: "constant", every: "1s", duration: { distribution: "uniform", min: "2s", max: "1s" } },
    /^duration.max: must not be shorter than min/,
  ],
  [
    { pattern: "constant", every: "1s", duration: { distribution: "normal" } },
    /^duration.distribution: must be one of fixed, uniform/,
  ],
  [
    { pattern: "constant", every: "1s", queries: { min: 3, max: 2 } },
    /^queries.max: must not be smaller than min/,
  ],
  [{ pattern: "constant", every: 30 }, /^every: must be a duration with a unit/],
  [{ pattern: "constant", every: "30" }, /^every: must be a duration with a unit/],
  [{ pattern: "poisson", rate: 0 }, /^rate: must be above 0/],
  [{ pattern: "poisson", rate: "1000001/s" }, /^rate: must not be above 1000000\/s/],
  [{ pattern: "heavy-tailed", gap: 0 }, /^gap: must be able to exceed 0/],
  [
    { pattern: "bursts", size: 0, pause: "1s" },
    /^size: must be a whole number from 1 to 1000000, or \{min, max\}/,
  ],
  [{ pattern: "office-hours", rate: 1, opens: "09:00", closes: "09:00" }, /^closes: must differ from opens/],
  [{ pattern: "cron", schedule: "* * *" }, /^schedule: must be a crontab line of five fields/],
  [{ pattern: "ramp", phases: [] }, /^phases: must have a phase with a rate above 0/],
  [{ pattern: "ramp", phases: [{ for: "1m", to: 0 }] }, /^phases: must have a phase with a rate above 0/],
  [{ pattern: "health-check", every: "30s", pool: 0 }, /^pool: /],
  [{ pattern: "subscriber", backoff: { first: "2m" } }, /^backoff.max: must not be shorter than first/],
])("%j is rejected", (input, message) => {
  const found = problems(input);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(message);
});

test.each([
  ["5/s", 5],
  ["30/min", 0.5],
  ["1.8/hour", 0.0005],
  ["8640/day", 0.1],
  ["2 per minute", 2 / 60],
  [0.25, 0.25],
  ["1000000/s", 1_000_000],
])("a rate of %j is %d per second", (rate, perSecond) => {
  expect(pattern.parse({ pattern: "poisson", rate })).toMatchObject({ rate: perSecond });
});

test("every pattern parses to plain data", () => {
  const inputs = [
    { pattern: "constant", every: "30s", jitter: "1s", duration: "1s..5s" },
    { pattern: "poisson", rate: "30/hour", duration: "700ms~2.36", queries: { min: 1, max: 4 } },
    { pattern: "heavy-tailed", gap: { distribution: "pareto", min: "1s", alpha: 1.5, max: "1d" } },
    { pattern: "on-off", on: "5m~1", off: { distribution: "exponential", mean: "1h" }, rate: "1/s" },
    { pattern: "bursts", size: { min: 3, max: 9 }, gap: "2s", pause: "4h~1" },
    { pattern: "office-hours", time_zone: "Europe/Berlin", rate: "1/s" },
    { pattern: "daily", rate: "1/s" },
    { pattern: "cron", schedule: "*/5 * * * *" },
    { pattern: "ramp", phases: [{ for: "5m", to: "10/s" }] },
    { pattern: "health-check", every: "30s" },
    { pattern: "subscriber" },
  ];
  for (const input of inputs) {
    const given = pattern.parse(input);
    expect(JSON.parse(JSON.stringify(given))).toEqual(given);
  }
  expect(new Set(inputs.map((input) => input.pattern)).size).toBe(pattern.options.length);
});

test("patterns accept extra fields, and every field has a description", () => {
  const source = patternWith({ name: z.string().describe("its name"), to: z.string() });
  expect(source.parse({ pattern: "poisson", rate: 1, name: "web", to: "shop/main" })).toMatchObject({
    name: "web",
    to: "shop/main",
  });
  expect(source.safeParse({ pattern: "poisson", rate: 1, name: "web" }).success).toBe(false);
  const { oneOf = [], $defs = {} } = z.toJSONSchema(source, { io: "input" });
  const defined = (schema: { $ref?: string }) => $defs[schema.$ref?.replace("#/$defs/", "") ?? ""] ?? schema;
  expect(oneOf).toHaveLength(pattern.options.length);
  for (const { properties = {} } of oneOf as z.core.JSONSchema.ObjectSchema[]) {
    expect(properties["name"]).toMatchObject({ description: "its name" });
    expect(properties["pattern"]).toMatchObject({ description: expect.any(String) });
    expect(defined(properties["duration"] as { $ref?: string })).toMatchObject({
      anyOf: [{ type: "string" }, { type: "number" }, { oneOf: expect.any(Array) }],
    });
  }
});
