import * as z from "zod";
import { ACTIVITY_KINDS } from "../../platform/compute/activity.ts";
import { DISTRIBUTION_RULE, parseDistribution } from "../../platform/core/distribution.ts";
import { duration, strictObject } from "../../traffic/pattern-fields.ts";
import { expectation } from "./expectation.ts";
import { after, instant, when } from "./time-fields.ts";
import { scenarioTraffic } from "./traffic-schema.ts";

/** What stands between the slashes of `shop/main/replica-1`. */
const LABEL_PATTERN = /^[a-z0-9][a-z0-9-]{0,39}$/;
const LABEL_RULE = "must be 1 to 40 of a-z, 0-9 and -, beginning with a letter or a digit";

const label = z.string().regex(LABEL_PATTERN, LABEL_RULE).meta({ id: "label" });
const name = z.string().min(1).max(200);

const compute = strictObject({
  type: z.enum(["read_write", "read_only"]).default("read_write"),
  autoscaling_limit_min_cu: z.number().optional(),
  autoscaling_limit_max_cu: z.number().optional(),
  suspend_timeout_seconds: z.int().optional().describe("the autosuspend delay; 0 is the default, -1 never"),
  disabled: z.boolean().optional(),
}).meta({ id: "compute", description: "a compute; an endpoint in the words of the API" });

const branch = strictObject({
  parent: label.optional().describe("a branch above this one; the default branch where it is left out"),
  protected: z.boolean().optional(),
  computes: z.record(label, compute).default({}).describe("by label: shop/main/replica-1 is replica-1 here"),
});

const project = strictObject({
  count: z.int().min(1).max(100_000).optional().describe("so many alike: fleet becomes fleet-1, fleet-2 …"),
  region_id: z.string().optional(),
  pg_version: z.int().min(14).max(18).optional(),
  branches: z
    .record(label, branch)
    .default({
      main: { protected: undefined, parent: undefined, computes: { primary: { type: "read_write" } } },
    })
    .describe("by label, the default branch first; left out: main, with the compute primary"),
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
    .describe("a world to begin with, beside this file, as standin record or standin export write it"),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(1)
    .describe("decides every id, every duration and all traffic"),
  start: instant
    .default(1_767_225_600_000)
    .describe("where the clock begins; 2026-01-01T00:00:00Z where it is left out"),
  profile: z.enum(["2024", "2026"]).default("2024").describe("the platform's numbers of this year"),
  plan: z.enum(["paid", "free"]).default("paid").describe("of accounts that say nothing of it"),
  operations: z.enum(["timed", "immediate"]).default("timed").describe("whether operations take their time"),
  start_delay: z
    .string()
    .refine((text) => parseDistribution(text) !== undefined, DISTRIBUTION_RULE)
    .optional()
    .describe("how long a start takes: 3s, 1s..5s, or 3s~0.5 (median~sigma)"),
  limits: strictObject({
    projects: limit.exactOptional(),
    branches: limit.exactOptional(),
    endpoints: limit.exactOptional(),
    snapshots: limit.exactOptional(),
  })
    .optional()
    .describe("in the place of the plan's"),
  accounts: z.record(label, account).default({}),
  projects: z
    .record(label, project)
    .default({})
    .describe("of the account main, for files that need no other"),
});

const retry = strictObject({
  on: z.array(z.int().min(400).max(599)).min(1).default([423]),
  every: duration.default(3_000),
  times: z.int().min(1).max(1_000).default(5),
}).describe("tries again, as clients do");

const STATUS_RULE = "must be a status like 201, or 0: the connection is lost";
const status = z.union([z.literal(0), z.int(STATUS_RULE).min(100, STATUS_RULE).max(599, STATUS_RULE)], {
  error: STATUS_RULE,
});

export const METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE"] as const;

const request = strictObject({
  method: z.enum(METHODS).default("GET"),
  path: z
    .string()
    .startsWith("/")
    .describe("behind /api/v2; {shop}, {shop/main} and {shop/main/primary} become ids"),
  body: z.unknown().optional(),
  as: label.optional().describe("the account whose key is used; the first one where it is left out"),
  key: z.string().optional().describe("another key: what was captured, like {key}"),
  status: z
    .union([status, z.array(status)], { error: `${STATUS_RULE}, or a list of them` })
    .optional()
    .describe("what must be answered; any 2xx where it is left out; 0: the connection is lost"),
  answer: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("parts of the answer by path: branch.name: main"),
  capture: z
    .record(
      z.string().regex(/^[a-z][a-z0-9_]*$/, "must be of a-z, 0-9 and _, beginning with a letter"),
      z.string(),
    )
    .optional()
    .describe("values of the answer by path, for {name} in later steps"),
  retry: retry.optional(),
});

const control = strictObject({
  method: z.enum(METHODS).default("GET"),
  path: z.string().startsWith("/").describe("behind /_sim"),
  body: z.unknown().optional(),
}).describe("a call of the control API; one that is refused ends the run");

const activity = strictObject({
  to: z.string().describe("a compute, or a branch for its primary"),
  kind: z.enum(ACTIVITY_KINDS).default("query"),
  duration: duration.optional(),
  queries: z.int().min(0).optional(),
  connection: z.string().min(1).max(256).optional(),
  pooled: z.boolean().optional(),
  load: z.number().min(0).optional(),
  outcome: z.enum(["served", "waits", "refused"]).optional().describe("what must become of it"),
});

const advance = z.union(
  [
    duration,
    strictObject({ to: when }),
    strictObject({ until: z.literal("settled"), within: duration.default(3_600_000) }).describe(
      "until no operation is under way",
    ),
  ],
  { error: 'must be a duration like 10m, {"to": …} or {"until": "settled"}' },
);

/** What a step does: exactly one of these. */
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
  at: when.optional().describe("the clock moves there first"),
  after: after.optional(),
  request: request.optional(),
  control: control.optional(),
  activity: activity.optional(),
  advance: advance.optional(),
  fault: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      "a fault as PUT /_sim/faults/{name} takes it (retry_after without a unit: seconds); see docs/reference/faults.md",
    ),
  clear_faults: z
    .union([z.literal(true), z.string()])
    .optional()
    .describe("all of them, or the one of this name"),
  snapshot: z.string().optional(),
  restore: z.string().optional(),
  restart: z
    .literal(true)
    .optional()
    .describe("the process dies, and the world is opened again from its file"),
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
        every: duration.optional().describe("from the beginning of one round to that of the next"),
        steps: z.array(step).min(1),
      }).optional(),
      parallel: z
        .array(z.array(step).min(1))
        .min(1)
        .optional()
        .describe("lanes of steps that run beside each other"),
    }).superRefine((given, context) => {
      const actions = ACTIONS.filter((action) => given[action] !== undefined);
      if (
        actions.length === 1 ||
        (actions.length === 0 && (given.at !== undefined || given.after !== undefined))
      )
        return;
      const message =
        actions.length === 0
          ? `does nothing; it needs one of ${ACTIONS.join(", ")}`
          : `does several things: ${actions.join(", ")}; make them steps of their own`;
      context.addIssue({ code: "custom", message });
    }),
  )
  .meta({ id: "step" }) as z.ZodType<Step>;

const values = z.union([
  z.array(z.union([z.string(), z.number(), z.boolean()])).min(1),
  strictObject({ from: z.int(), to: z.int() }).refine(
    ({ from, to }) => from <= to && to - from < 10_000,
    "must go from a smaller to a greater number",
  ),
]);

/** A scenario as its file says it. */
export const scenario = strictObject({
  version: z.literal(1),
  name: name.optional().describe("left out: the name of the file"),
  about: z.string().optional().describe("what it shows"),
  world: world.prefault({}),
  traffic: z.array(scenarioTraffic).default([]),
  steps: z.array(step).default([]),
  state: z.string().optional().describe("the world that it must end in, as a verdict's state tells it"),
  length: duration.optional().describe("how long it goes on; left out: until the last step is over"),
  expect: z.array(expectation).default([]).describe("what must be so at the end"),
  always: z.array(expectation).default([]).describe("what must be so at every instant"),
  never: z.array(expectation).default([]).describe("what must not be so at any instant"),
  matrix: z
    .record(z.string().regex(/^[a-z][a-z0-9_]*$/), values)
    .optional()
    .describe(
      "the same for all combinations of these values; written as a dollar sign and the name in braces",
    ),
  $schema: z.string().optional().describe("of JSON files: where this schema is"),
}).describe("a scenario of standin");

export type Scenario = z.output<typeof scenario>;
export type WorldDescription = Scenario["world"];
/** All steps, those within others included. */
export function* everyStep(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    yield* everyStep(step.repeat?.steps ?? []);
    for (const lane of step.parallel ?? []) yield* everyStep(lane);
  }
}

export type RequestStep = NonNullable<Step["request"]>;
export type ActivityStep = NonNullable<Step["activity"]>;
