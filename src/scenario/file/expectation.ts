import * as z from "zod";
import { duration, object } from "../../traffic/fields.ts";
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
    about: "requests that were answered with 400 or more and whose step did not ask for it, and arrivals that were refused",
  },
  events: { unit: "count", about: "of the world's history; with: type" },
} as const satisfies Readonly<Record<string, { readonly unit: "state" | "count" | "duration"; readonly about: string }>>;

export type MeasureName = keyof typeof MEASURES;
const COMPUTE_STATES = ["init", "idle", "starting", "active", "gone"] as const;
export type ComputeState = (typeof COMPUTE_STATES)[number];

/** Inclusive on both sides. */
type Bound = { readonly min?: number | undefined; readonly max?: number | undefined };
const BOUND_RULE = "must be what it is, or {min: …, max: …}, both included";

const count = z
  .union([z.number(), object({ min: z.number().optional(), max: z.number().optional() })], { error: BOUND_RULE })
  .transform((given): Bound => (typeof given === "number" ? { min: given, max: given } : given))
  .meta({ id: "count" });

const durationBound = z
  .union([duration, object({ min: duration.optional(), max: duration.optional() })], { error: BOUND_RULE })
  .transform((given): Bound => (typeof given === "number" ? { min: given, max: given } : given))
  .meta({ id: "time" });

const states = z.enum(COMPUTE_STATES);
const state = z.union([states, z.array(states).min(1)], { error: `must be one of ${COMPUTE_STATES.join(", ")}, or a list of them` });

const ofMeasure = (name: MeasureName) => {
  const { unit, about } = MEASURES[name];
  const schema = unit === "state" ? state.transform((given) => [given].flat()) : unit === "count" ? count : durationBound;
  return schema.optional().describe(about);
};
type Wanted = readonly ComputeState[] | Bound;
const shape = Object.fromEntries((Object.keys(MEASURES) as MeasureName[]).map((name) => [name, ofMeasure(name)])) as unknown as Record<
  MeasureName,
  z.ZodOptional<z.ZodType<Wanted>>
>;

/** One thing that must be so: a measure, of what, and what it must be. */
export type Expectation = {
  readonly measure: MeasureName;
  /** A label, or everything. */
  readonly of?: string | undefined;
  /** Which of them are counted. */
  readonly where: Readonly<Record<string, string | number>>;
  readonly wanted: Wanted;
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

export const expectation = object({
  of: z.string().optional().describe("a label: an account, a project, a branch or a compute; left out: all of the world"),
  with: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .optional()
    .describe("which of them: action, status, method, code, type"),
  from: when.optional().describe("of what is watched: from then on"),
  until: when.optional().describe("of what is watched: before then"),
  ...shape,
})
  .transform((given, context): Expectation => {
    const names = (Object.keys(MEASURES) as MeasureName[]).filter((name) => given[name] !== undefined);
    const [measure] = names;
    const wrong = (message: string) => {
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    };
    if (measure === undefined || names.length > 1) {
      return wrong(`must have one measure${names.length > 1 ? `, and has ${names.join(", ")}` : ""}: ${Object.keys(MEASURES).join(", ")}`);
    }
    if (measure === "state" && given.of === undefined) return wrong("a state is that of one compute: of: shop/main");
    const known = FILTERS[measure] ?? [];
    const unknown = Object.keys(given.with ?? {}).find((key) => !known.includes(key));
    if (unknown !== undefined)
      return wrong(
        `with.${unknown}: ${known.length === 0 ? `leave it out; ${measure} has no kinds` : `must be one of ${known.join(", ")}`}`,
      );
    const kind = Object.entries(given.with ?? {}).find(([key, value]) => key === "status" && measure === "requests" && !isStatus(value));
    if (kind !== undefined) return wrong("with.status: must be a status like 423, or 0 for a connection that was lost");
    const wanted = given[measure] as Wanted;
    if (!isStates(wanted) && (wanted.min ?? 0) > (wanted.max ?? Number.POSITIVE_INFINITY))
      return wrong(`${measure}: min must not be above max`);
    return { measure, of: given.of, where: given.with ?? {}, wanted, from: given.from, until: given.until };
  })
  .meta({ id: "expectation", description: "one measure, and what it must be" });

function isStatus(value: string | number): boolean {
  return Number.isInteger(Number(value)) && (Number(value) === 0 || (Number(value) >= 100 && Number(value) <= 599));
}

/** Whether a measured value is what is wanted. */
export function isWanted(value: number | string, wanted: Wanted): boolean {
  if (isStates(wanted)) return wanted.includes(value as ComputeState);
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = wanted;
  return typeof value === "number" && value >= min && value <= max;
}

function isStates(wanted: Wanted): wanted is readonly ComputeState[] {
  return Array.isArray(wanted);
}

/** What was wanted, in words. */
export function describeWanted({ measure, of, where, wanted }: Expectation): string {
  const which = Object.entries(where).map(([key, value]) => `${key} ${value}`);
  const what = [measure, ...(of === undefined ? [] : [`of ${of}`]), ...(which.length === 0 ? [] : [`with ${which.join(", ")}`])].join(" ");
  if (isStates(wanted)) return `${what}: ${wanted.join(" or ")}`;
  const { min, max } = wanted;
  const shown = (value: number) => showMeasured(measure, value);
  if (min === max && min !== undefined) return `${what}: ${shown(min)}`;
  const bounds = [...(min === undefined ? [] : [`at least ${shown(min)}`]), ...(max === undefined ? [] : [`at most ${shown(max)}`])];
  return `${what}: ${bounds.join(", ")}`;
}

/** A measured value with its unit. */
export function showMeasured(measure: MeasureName, value: number | string): string {
  return MEASURES[measure].unit === "duration" ? showDuration(Number(value)) : String(value);
}

export function showDuration(ms: number): string {
  if (ms % 1_000 !== 0 && ms < 60_000) return `${Number(ms.toFixed(3))} ms`;
  const parts = [
    [Math.floor(ms / 86_400_000), "d"],
    [Math.floor(ms / 3_600_000) % 24, "h"],
    [Math.floor(ms / 60_000) % 60, "m"],
    [Number(((ms % 60_000) / 1_000).toFixed(6)), "s"],
  ] as const;
  return parts.flatMap(([amount, unit]) => (amount === 0 ? [] : [`${amount}${unit}`])).join(" ") || "0s";
}
