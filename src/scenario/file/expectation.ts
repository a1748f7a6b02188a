import * as z from "zod";
import { documented, duration, strictObject } from "../../traffic/generated/pattern-fields.ts";
import { when } from "./time-fields.ts";

/** The measures of a run, with their units. */
export const MEASURES = {
  state: { unit: "state", about: "idle, starting, active, init or gone; requires one compute" },
  projects: { unit: "count", about: "number of projects" },
  branches: { unit: "count", about: "number of branches" },
  computes: { unit: "count", about: "number of computes" },
  active_computes: { unit: "count", about: "number of active computes" },
  activities: { unit: "count", about: "arrivals that were served or are waiting" },
  refused: { unit: "count", about: "arrivals that were rejected, or waited for a start that failed" },
  connections: { unit: "count", about: "number of open connections, direct and pooled" },
  cold_starts: { unit: "count", about: "starts triggered by an arrival" },
  starts: { unit: "count", about: "finished starts" },
  suspends: { unit: "count", about: "finished suspends" },
  resizes: { unit: "count", about: "size changes by autoscaling" },
  active_time: { unit: "duration", about: "total time that computes were active" },
  compute_time: { unit: "duration", about: "total of size in CU × active time, in this run" },
  wait_mean: { unit: "duration", about: "mean wait over all arrivals" },
  wait_p50: { unit: "duration", about: "50th percentile of the wait over all arrivals (nearest rank)" },
  wait_p90: { unit: "duration", about: "90th percentile of the wait over all arrivals (nearest rank)" },
  wait_p99: { unit: "duration", about: "99th percentile of the wait over all arrivals (nearest rank)" },
  wait_max: { unit: "duration", about: "longest wait of an arrival" },
  operations: { unit: "count", about: "operations by current status; with: action, status" },
  requests: { unit: "count", about: "requests of this scenario; with: method, status, code" },
  errors: {
    unit: "count",
    about:
      "requests answered with a status of 400 or more that their step did not expect, plus rejected arrivals",
  },
  events: { unit: "count", about: "events in the history of the world; with: type" },
} as const satisfies Readonly<
  Record<string, { readonly unit: "state" | "count" | "duration"; readonly about: string }>
>;

export type MeasureName = keyof typeof MEASURES;
const COMPUTE_STATES = ["init", "idle", "starting", "active", "gone"] as const;
export type ComputeState = (typeof COMPUTE_STATES)[number];

/** Both bounds are inclusive. */
type Bound = { readonly min?: number | undefined; readonly max?: number | undefined };
const BOUND_RULE = "must be an exact value, or {min: …, max: …}, both inclusive";

const count = z
  .union(
    [
      z.number(),
      strictObject({
        min: z.number().optional().meta(documented("smallest value allowed, inclusive", 1)),
        max: z.number().optional().meta(documented("largest value allowed, inclusive", 10)),
      }),
    ],
    {
      error: BOUND_RULE,
    },
  )
  .transform((given): Bound => (typeof given === "number" ? { min: given, max: given } : given))
  .meta({ id: "count" });

const durationBound = z
  .union(
    [
      duration,
      strictObject({
        min: duration.optional().meta(documented("shortest duration allowed, inclusive", "1s")),
        max: duration.optional().meta(documented("longest duration allowed, inclusive", "5s")),
      }),
    ],
    {
      error: BOUND_RULE,
    },
  )
  .transform((given): Bound => (typeof given === "number" ? { min: given, max: given } : given))
  .meta({ id: "time" });

const states = z.enum(COMPUTE_STATES);
const state = z.union([states, z.array(states).min(1)], {
  error: `must be one of ${COMPUTE_STATES.join(", ")}, or a list of them`,
});

type Examples = [unknown, ...unknown[]];
const EXAMPLES: Readonly<Record<(typeof MEASURES)[MeasureName]["unit"], Examples>> = {
  state: ["idle", ["starting", "active"]],
  count: [0, { min: 1 }, { max: 10 }],
  duration: [{ max: "5s" }, { min: "1m", max: "2h" }],
};

const measureSchema = (name: MeasureName) => {
  const { unit, about } = MEASURES[name];
  const schema =
    unit === "state" ? state.transform((given) => [given].flat()) : unit === "count" ? count : durationBound;
  return schema.optional().meta(documented(about, ...EXAMPLES[unit]));
};
type ExpectedValue = readonly ComputeState[] | Bound;
const measureFields = Object.fromEntries(
  (Object.keys(MEASURES) as MeasureName[]).map((name) => [name, measureSchema(name)]),
) as unknown as Record<MeasureName, z.ZodOptional<z.ZodType<ExpectedValue>>>;

/** One condition: a measure, its resource, and the expected value. */
export type Expectation = {
  readonly measure: MeasureName;
  /** A label; without one, the whole world. */
  readonly of?: string | undefined;
  /** Filters what is counted. */
  readonly where: Readonly<Record<string, string | number>>;
  readonly expected: ExpectedValue;
  /** For `always` and `never`: the window, from `from` (inclusive) to `until` (exclusive). */
  readonly from?: z.output<typeof when> | undefined;
  readonly until?: z.output<typeof when> | undefined;
};

/** The filters that a count accepts. */
const FILTERS: Partial<Record<MeasureName, readonly string[]>> = {
  operations: ["action", "status"],
  requests: ["method", "status", "code"],
  events: ["type"],
};

export const expectation = strictObject({
  of: z
    .string()
    .optional()
    .meta(
      documented(
        "label of an account, project, branch or compute (default: the whole world)",
        "shop",
        "shop/main",
        "shop/main/primary",
      ),
    ),
  with: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .optional()
    .meta(
      documented(
        "filters what is counted: action, status, method, code, type",
        { status: 423 },
        { action: "start_compute", status: "finished" },
      ),
    ),
  from: when.optional().meta(documented("under always and never: start of the window, inclusive", "10m")),
  until: when.optional().meta(documented("under always and never: end of the window, exclusive", "2h")),
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
        `must have exactly one measure${names.length > 1 ? ` but has ${names.join(", ")}` : ""}; the measures are ${Object.keys(MEASURES).join(", ")}`,
      );
    }
    if (measure === "state" && given.of === undefined)
      return reject("state needs the label of one compute, such as of: shop/main");
    const allowed = FILTERS[measure] ?? [];
    const unknownKey = Object.keys(given.with ?? {}).find((key) => !allowed.includes(key));
    if (unknownKey !== undefined)
      return reject(
        `with.${unknownKey}: ${allowed.length === 0 ? `remove it; ${measure} has no filters` : `must be one of ${allowed.join(", ")}`}`,
      );
    const invalidStatus = Object.entries(given.with ?? {}).find(
      ([key, value]) => key === "status" && measure === "requests" && !isStatus(value),
    );
    if (invalidStatus !== undefined)
      return reject("with.status: must be an HTTP status such as 423, or 0 for a lost connection");
    const expected = given[measure] as ExpectedValue;
    if (!isStateList(expected) && (expected.min ?? 0) > (expected.max ?? Number.POSITIVE_INFINITY))
      return reject(`${measure}: min must not be above max`);
    return { measure, of: given.of, where: given.with ?? {}, expected, from: given.from, until: given.until };
  })
  .meta({ id: "expectation", description: "one measure and its expected value" });

function isStatus(value: string | number): boolean {
  return (
    Number.isInteger(Number(value)) && (Number(value) === 0 || (Number(value) >= 100 && Number(value) <= 599))
  );
}

/** Whether a measured value meets the expectation. */
export function meetsExpectation(value: number | string, expected: ExpectedValue): boolean {
  if (isStateList(expected)) return expected.includes(value as ComputeState);
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = expected;
  return typeof value === "number" && value >= min && value <= max;
}

/**
 * The distance of a value to the nearest bound: negative if the expectation fails, 0 at an inclusive bound.
 * `undefined` for states.
 */
export function marginOf(
  value: number | string,
  expected: ExpectedValue,
  isNever: boolean,
): number | undefined {
  if (isStateList(expected) || typeof value !== "number") return undefined;
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = expected;
  const inside = Math.min(value - min, max - value);
  if (!Number.isFinite(inside)) return undefined;
  return isNever ? 0 - inside : inside;
}

function isStateList(expected: ExpectedValue): expected is readonly ComputeState[] {
  return Array.isArray(expected);
}

/** The expectation as text for reports. */
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

/** The name of a measure in JSON, with its unit: `wait_max_ms`. */
export function jsonMeasureName(measure: MeasureName): string {
  if (measure === "compute_time") return "compute_time_cu_ms";
  return MEASURES[measure].unit === "duration" ? `${measure}_ms` : measure;
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
