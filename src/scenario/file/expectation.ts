import * as z from "zod";
import { duration, strictObject } from "../../traffic/pattern-fields.ts";
import { when } from "./time-fields.ts";

/** What can be measured of a run, and in which unit. */
export const MEASURES = {
  state: { unit: "state", about: "idle, starting, active, init or gone: of one compute" },
  projects: { unit: "count", about: "how many there are" },
  branches: { unit: "count", about: "how many there are" },
  computes: { unit: "count", about: "how many there are" },
  active_computes: { unit: "count", about: "how many are active" },
  activities: { unit: "count", about: "arrivals that were served, or wait to be" },
  refused: { unit: "count", about: "arrivals that were refused, or waited for a start that failed" },
  connections: { unit: "count", about: "how many are open, direct and pooled" },
  cold_starts: { unit: "count", about: "starts that an arrival brought about" },
  starts: { unit: "count", about: "starts that were finished" },
  suspends: { unit: "count", about: "suspends that were finished" },
  resizes: { unit: "count", about: "changes of size by autoscaling" },
  active_time: { unit: "duration", about: "Σ time in which computes were active" },
  compute_time: { unit: "duration", about: "Σ size in CU × time, of this run" },
  wait_mean: { unit: "duration", about: "what arrivals waited, all of them counted" },
  wait_p50: { unit: "duration", about: "by nearest rank" },
  wait_p90: { unit: "duration", about: "by nearest rank" },
  wait_p99: { unit: "duration", about: "by nearest rank" },
  wait_max: { unit: "duration", about: "the longest wait of an arrival" },
  operations: { unit: "count", about: "by the status that they have now; with: action, status" },
  requests: { unit: "count", about: "of this scenario; with: method, status, code" },
  errors: {
    unit: "count",
    about:
      "requests that were answered with 400 or more and whose step did not ask for it, and arrivals that were refused",
  },
  events: { unit: "count", about: "of the world's history; with: type" },
} as const satisfies Readonly<
  Record<string, { readonly unit: "state" | "count" | "duration"; readonly about: string }>
>;

export type MeasureName = keyof typeof MEASURES;
const COMPUTE_STATES = ["init", "idle", "starting", "active", "gone"] as const;
export type ComputeState = (typeof COMPUTE_STATES)[number];

/** Inclusive on both sides. */
type Bound = { readonly min?: number | undefined; readonly max?: number | undefined };
const BOUND_RULE = "must be what it is, or {min: …, max: …}, both included";

const count = z
  .union([z.number(), strictObject({ min: z.number().optional(), max: z.number().optional() })], {
    error: BOUND_RULE,
  })
  .transform((given): Bound => (typeof given === "number" ? { min: given, max: given } : given))
  .meta({ id: "count" });

const durationBound = z
  .union([duration, strictObject({ min: duration.optional(), max: duration.optional() })], {
    error: BOUND_RULE,
  })
  .transform((given): Bound => (typeof given === "number" ? { min: given, max: given } : given))
  .meta({ id: "time" });

const states = z.enum(COMPUTE_STATES);
const state = z.union([states, z.array(states).min(1)], {
  error: `must be one of ${COMPUTE_STATES.join(", ")}, or a list of them`,
});

const measureSchema = (name: MeasureName) => {
  const { unit, about } = MEASURES[name];
  const schema =
    unit === "state" ? state.transform((given) => [given].flat()) : unit === "count" ? count : durationBound;
  return schema.optional().describe(about);
};
type ExpectedValue = readonly ComputeState[] | Bound;
const measureFields = Object.fromEntries(
  (Object.keys(MEASURES) as MeasureName[]).map((name) => [name, measureSchema(name)]),
) as unknown as Record<MeasureName, z.ZodOptional<z.ZodType<ExpectedValue>>>;

/** One thing that must be so: a measure, of what, and what it must be. */
export type Expectation = {
  readonly measure: MeasureName;
  /** A label, or everything. */
  readonly of?: string | undefined;
  /** Which of them are counted. */
  readonly where: Readonly<Record<string, string | number>>;
  readonly expected: ExpectedValue;
  /** For what is watched: from when, and before when. */
  readonly from?: z.output<typeof when> | undefined;
  readonly until?: z.output<typeof when> | undefined;
};

/** What may be told apart in a count. */
const FILTERS: Partial<Record<MeasureName, readonly string[]>> = {
  operations: ["action", "status"],
  requests: ["method", "status", "code"],
  events: ["type"],
};

export const expectation = strictObject({
  of: z
    .string()
    .optional()
    .describe("a label: an account, a project, a branch or a compute; left out: all of the world"),
  with: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .optional()
    .describe("which of them: action, status, method, code, type"),
  from: when.optional().describe("of what is watched: from then on"),
  until: when.optional().describe("of what is watched: before then"),
  ...measureFields,
})
  .transform((given, context): Expectation => {
    const names = (Object.keys(MEASURES) as MeasureName[]).filter((name) => given[name] !== undefined);
    const [measure] = names;
    const reject = (message: string) => {
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    };
    if (measure === undefined || names.length > 1) {
      return reject(
        `must have one measure${names.length > 1 ? `, and has ${names.join(", ")}` : ""}: ${Object.keys(MEASURES).join(", ")}`,
      );
    }
    if (measure === "state" && given.of === undefined)
      return reject("a state is that of one compute: of: shop/main");
    const allowed = FILTERS[measure] ?? [];
    const unknownKey = Object.keys(given.with ?? {}).find((key) => !allowed.includes(key));
    if (unknownKey !== undefined)
      return reject(
        `with.${unknownKey}: ${allowed.length === 0 ? `leave it out; ${measure} has no kinds` : `must be one of ${allowed.join(", ")}`}`,
      );
    const invalidStatus = Object.entries(given.with ?? {}).find(
      ([key, value]) => key === "status" && measure === "requests" && !isStatus(value),
    );
    if (invalidStatus !== undefined)
      return reject("with.status: must be a status like 423, or 0 for a connection that was lost");
    const expected = given[measure] as ExpectedValue;
    if (!isStateList(expected) && (expected.min ?? 0) > (expected.max ?? Number.POSITIVE_INFINITY))
      return reject(`${measure}: min must not be above max`);
    return { measure, of: given.of, where: given.with ?? {}, expected, from: given.from, until: given.until };
  })
  .meta({ id: "expectation", description: "one measure, and what it must be" });

function isStatus(value: string | number): boolean {
  return (
    Number.isInteger(Number(value)) && (Number(value) === 0 || (Number(value) >= 100 && Number(value) <= 599))
  );
}

/** Whether a measured value is what is wanted. */
export function meetsExpectation(value: number | string, expected: ExpectedValue): boolean {
  if (isStateList(expected)) return expected.includes(value as ComputeState);
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = expected;
  return typeof value === "number" && value >= min && value <= max;
}

function isStateList(expected: ExpectedValue): expected is readonly ComputeState[] {
  return Array.isArray(expected);
}

/** What was wanted, in words. */
export function describeExpectation({ measure, of, where, expected }: Expectation): string {
  const filters = Object.entries(where).map(([key, value]) => `${key} ${value}`);
  const subject = [
    measure,
    ...(of === undefined ? [] : [`of ${of}`]),
    ...(filters.length === 0 ? [] : [`with ${filters.join(", ")}`]),
  ].join(" ");
  if (isStateList(expected)) return `${subject}: ${expected.join(" or ")}`;
  const { min, max } = expected;
  const format = (value: number) => formatMeasurement(measure, value);
  if (min === max && min !== undefined) return `${subject}: ${format(min)}`;
  const bounds = [
    ...(min === undefined ? [] : [`at least ${format(min)}`]),
    ...(max === undefined ? [] : [`at most ${format(max)}`]),
  ];
  return `${subject}: ${bounds.join(", ")}`;
}

/** A measured value with its unit. */
export function formatMeasurement(measure: MeasureName, value: number | string): string {
  return MEASURES[measure].unit === "duration" ? formatDuration(Number(value)) : String(value);
}

export function formatDuration(ms: number): string {
  if (ms % 1_000 !== 0 && ms < 60_000) return `${Number(ms.toFixed(3))} ms`;
  const parts = [
    [Math.floor(ms / 86_400_000), "d"],
    [Math.floor(ms / 3_600_000) % 24, "h"],
    [Math.floor(ms / 60_000) % 60, "m"],
    [Number(((ms % 60_000) / 1_000).toFixed(6)), "s"],
  ] as const;
  return parts.flatMap(([amount, unit]) => (amount === 0 ? [] : [`${amount}${unit}`])).join(" ") || "0s";
}
