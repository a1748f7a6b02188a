import * as z from "zod";
import { DEFAULT_PROFILE, PG_VERSIONS } from "../../platform/catalog/profile-defaults-and-limits.ts";
import { ACTIVITY_KINDS } from "../../platform/compute/activity.ts";
import { DISTRIBUTION_RULE, parseDistribution } from "../../platform/core/distribution.ts";
import { duration, strictObject } from "../../traffic/pattern-fields.ts";
import { expectation } from "./expectation.ts";
import { LABEL_PATTERN, LABEL_RULE } from "./labels.ts";
import { after, instant, when } from "./time-fields.ts";
import { scenarioTraffic } from "./traffic-schema.ts";

const label = z.string().regex(LABEL_PATTERN, LABEL_RULE).meta({ id: "label" });
const name = z.string().min(1).max(200);

const compute = strictObject({
  type: z.enum(["read_write", "read_only"]).default("read_write"),
  autoscaling_limit_min_cu: z.number().optional(),
  autoscaling_limit_max_cu: z.number().optional(),
  suspend_timeout_seconds: z
    .int()
    .optional()
    .describe("the autosuspend delay; 0 means the platform's default, -1 means never"),
  disabled: z.boolean().optional(),
}).meta({ id: "compute", description: "a compute; the API calls it an endpoint" });

const branch = strictObject({
  parent: label.optional().describe("an earlier branch in this list (default: the default branch)"),
  protected: z.boolean().optional(),
  computes: z
    .record(label, compute)
    .default({})
    .describe("by label; the compute shop/main/replica-1 is replica-1 here"),
});

const project = strictObject({
  count: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe("number of identical projects: fleet becomes fleet-1, fleet-2 …"),
  region_id: z.string().optional(),
  pg_version: z.int().min(PG_VERSIONS.lowest).max(PG_VERSIONS.highest).optional(),
  branches: z
    .record(label, branch)
    .default({
      main: { protected: undefined, parent: undefined, computes: { primary: { type: "read_write" } } },
    })
    .describe("by label, the default branch first (default: main with one compute, primary)"),
}).meta({ id: "project" });

const account = strictObject({
  plan: z.enum(["paid", "free"]).optional(),
  projects: z.record(label, project).default({}),
});

const limit = z.int().min(0).max(1_000_000);

const world = strictObject({
  file: z
    .string()
    .optional()
    .describe(
      "a world file to start from, relative to this file, as standin record or standin export writes it",
    ),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(1)
    .describe("determines every id, every duration and all traffic"),
  start: instant
    .default(1_767_225_600_000)
    .describe("where the clock starts (default: 2026-01-01T00:00:00Z)"),
  profile: z
    .enum(["2024", "2026"])
    .default(DEFAULT_PROFILE)
    .describe("the platform's numbers as of this year"),
  plan: z.enum(["paid", "free"]).default("paid").describe("for accounts that set no plan"),
  operations: z
    .enum(["timed", "immediate"])
    .default("timed")
    .describe("timed: operations take time; immediate: they finish at once"),
  start_delay: z
    .string()
    .refine((text) => parseDistribution(text) !== undefined, DISTRIBUTION_RULE)
    .optional()
    .describe("time a suspended compute needs to start: 3s, 1s..5s, or 3s~0.5 (median~sigma)"),
  limits: strictObject({
    projects: limit.exactOptional(),
    branches: limit.exactOptional(),
    endpoints: limit.exactOptional(),
    snapshots: limit.exactOptional(),
  })
    .optional()
    .describe("override the limits of the plan"),
  accounts: z.record(label, account).default({}),
  projects: z
    .record(label, project)
    .default({})
    .describe("projects of the account main, for files that need only one account"),
});

const retry = strictObject({
  on: z.array(z.int().min(400).max(599)).min(1).default([423]),
  every: duration.default(3_000),
  times: z.int().min(1).max(1_000).default(5),
}).describe("repeats the request, as clients do");

const STATUS_RULE = "must be an HTTP status such as 201, or 0 for a lost connection";
const status = z.union([z.literal(0), z.int(STATUS_RULE).min(100, STATUS_RULE).max(599, STATUS_RULE)], {
  error: STATUS_RULE,
});

export const METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE"] as const;

const request = strictObject({
  method: z.enum(METHODS).default("GET"),
  path: z
    .string()
    .startsWith("/")
    .describe("after /api/v2; {shop}, {shop/main} and {shop/main/primary} become ids"),
  body: z.unknown().optional(),
  as: label.optional().describe("the account whose key is used (default: the first account)"),
  key: z.string().optional().describe("another key, such as a captured {key}"),
  status: z
    .union([status, z.array(status)], { error: `${STATUS_RULE}, or a list of them` })
    .optional()
    .describe("expected status (default: any 2xx); 0 means the connection is lost"),
  answer: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("expected values in the answer, by path: branch.name: main"),
  capture: z
    .record(
      z.string().regex(/^[a-z][a-z0-9_]*$/, "must consist of a-z, 0-9 and _, and start with a letter"),
      z.string(),
    )
    .optional()
    .describe("values to capture from the answer, by path, for use as {name} in later steps"),
  retry: retry.optional(),
});

const control = strictObject({
  method: z.enum(METHODS).default("GET"),
  path: z.string().startsWith("/").describe("after /_sim"),
  body: z.unknown().optional(),
}).describe("a call of the control API; the run ends if it is rejected");

const activity = strictObject({
  to: z.string().describe("a compute, or a branch for its primary compute"),
  kind: z.enum(ACTIVITY_KINDS).default("query"),
  duration: duration.optional(),
  queries: z.int().min(0).optional(),
  connection: z.string().min(1).max(256).optional(),
  pooled: z.boolean().optional(),
  load: z.number().min(0).optional(),
  outcome: z.enum(["served", "waits", "refused"]).optional().describe("expected outcome"),
});

const advance = z.union(
  [
    duration,
    strictObject({ to: when }),
    strictObject({ until: z.literal("settled"), within: duration.default(3_600_000) }).describe(
      "until no operation is running",
    ),
  ],
  { error: 'must be a duration such as 10m, {"to": …} or {"until": "settled"}' },
);

/** A step has exactly one of these actions. */
export const ACTIONS = [
  "request",
  "control",
  "activity",
  "advance",
  "fault",
  "clear_faults",
  "snapshot",
  "restore",
  "restart",
  "set",
  "expect",
  "repeat",
  "parallel",
] as const;

const stepFields = {
  name: name.optional(),
  at: when.optional().describe("the clock first moves to this time"),
  after: after.optional(),
  request: request.optional(),
  control: control.optional(),
  activity: activity.optional(),
  advance: advance.optional(),
  fault: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      "a fault as PUT /_sim/faults/{name} accepts it (retry_after without a unit is seconds); see docs/reference/faults.md",
    ),
  clear_faults: z
    .union([z.literal(true), z.string()])
    .optional()
    .describe("true for all faults, or the name of one"),
  snapshot: z.string().optional(),
  restore: z.string().optional(),
  restart: z.literal(true).optional().describe("kills the process and reopens the world from its file"),
  set: strictObject({
    clock: instant.optional(),
    plan: z.record(label, z.enum(["paid", "free"])).optional(),
  }).optional(),
  expect: z.array(expectation).optional(),
};

export type Step = z.output<z.ZodObject<typeof stepFields>> & {
  readonly repeat?:
    | { readonly times: number; readonly every?: number | undefined; readonly steps: readonly Step[] }
    | undefined;
  readonly parallel?: readonly (readonly Step[])[] | undefined;
};

const step: z.ZodType<Step> = z
  .lazy(() =>
    strictObject({
      ...stepFields,
      repeat: strictObject({
        times: z.int().min(1).max(1_000_000),
        every: duration.optional().describe("time from the start of one round to the start of the next"),
        steps: z.array(step).min(1),
      }).optional(),
      parallel: z
        .array(z.array(step).min(1))
        .min(1)
        .optional()
        .describe("lists of steps that run in parallel"),
    }).superRefine((given, context) => {
      const actions = ACTIONS.filter((action) => given[action] !== undefined);
      if (
        actions.length === 1 ||
        (actions.length === 0 && (given.at !== undefined || given.after !== undefined))
      )
        return;
      const message =
        actions.length === 0
          ? `has no action; add one of ${ACTIONS.join(", ")}`
          : `has several actions (${actions.join(", ")}); make each one a separate step`;
      context.addIssue({ code: "custom", message });
    }),
  )
  .meta({ id: "step" }) as z.ZodType<Step>;

const values = z.union([
  z.array(z.union([z.string(), z.number(), z.boolean()])).min(1),
  strictObject({ from: z.int(), to: z.int() }).refine(
    ({ from, to }) => from <= to && to - from < 10_000,
    "from must not be above to, and the range may hold at most 10,000 values",
  ),
]);

/** A scenario as its file states it. */
export const scenario = strictObject({
  version: z.literal(1),
  name: name.optional().describe("default: the name of the file"),
  about: z.string().optional().describe("what the scenario shows"),
  world: world.prefault({}),
  traffic: z.array(scenarioTraffic).default([]).describe("sources of traffic; see docs/reference/traffic.md"),
  steps: z.array(step).default([]),
  state: z
    .string()
    .optional()
    .describe("expected state of the world at the end, copied from the state of an earlier verdict"),
  length: duration.optional().describe("duration of the run (default: until the last step ends)"),
  expect: z.array(expectation).default([]).describe("conditions that must hold at the end"),
  always: z.array(expectation).default([]).describe("conditions that must hold at every instant"),
  never: z.array(expectation).default([]).describe("conditions that must not hold at any instant"),
  matrix: z
    .record(z.string().regex(/^[a-z][a-z0-9_]*$/), values)
    .optional()
    .describe(
      "runs the scenario once for each combination of these values; refer to a value by a dollar sign and its name in braces",
    ),
  $schema: z.string().optional().describe("for JSON files: location of this schema"),
}).describe("a standin scenario; see docs/reference/scenario-file.md");

export type Scenario = z.output<typeof scenario>;
export type WorldDescription = Scenario["world"];
/** All steps, including nested ones. */
export function* everyStep(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    yield* everyStep(step.repeat?.steps ?? []);
    for (const lane of step.parallel ?? []) yield* everyStep(lane);
  }
}

export type RequestStep = NonNullable<Step["request"]>;
export type ActivityStep = NonNullable<Step["activity"]>;
