import * as z from "zod";
import { ACTIVITY_KINDS } from "../../platform/model/activity.ts";
import { documented, duration, strictObject } from "../../traffic/generated/pattern-fields.ts";
import { expectation } from "./expectation.ts";
import { METHODS, requestStep } from "./request-step.ts";
import { sqlStep } from "./sql-step.ts";
import { after, instant, when } from "./time-fields.ts";
import { label } from "./world-schema.ts";

const name = z.string().min(1).max(200);

const control = strictObject({
  method: z.enum(METHODS).default("GET").meta(documented("HTTP method (default: GET)", "POST")),
  path: z
    .string()
    .startsWith("/")
    .meta(documented("path after /_sim", "/endpoints/{shop/main/primary}/ends", "/clock")),
  body: z
    .unknown()
    .optional()
    .meta(documented("body of the call, sent as JSON", { mode: "manual" })),
});

const activity = strictObject({
  to: z
    .string()
    .meta(documented("a compute, or a branch for its primary compute", "shop/main", "shop/main/replica-1")),
  kind: z
    .enum(ACTIVITY_KINDS)
    .default("query")
    .meta(documented("kind of activity (default: query)", "query")),
  duration: duration
    .optional()
    .meta(documented("how long the activity keeps the compute busy (default: 0)", "30s")),
  queries: z.int().min(0).optional().meta(documented("number of queries", 3)),
  connection: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .meta(documented("name of the connection; required to open and to close it", "worker-1")),
  pooled: z
    .boolean()
    .optional()
    .meta(documented("whether the connection goes through the pooler (default: false)", true)),
  load: z
    .number()
    .min(0)
    .optional()
    .meta(documented("number of vCPUs that are kept busy, which drives autoscaling (default: none)", 0.5)),
  outcome: z
    .enum(["served", "waits", "refused"])
    .optional()
    .meta(documented("expected outcome (default: served or waits)", "waits")),
});

const advance = z.union(
  [
    duration,
    strictObject({
      to: when.meta(documented("moves the clock to this time", "2h", "2026-01-31T12:00:00Z")),
    }),
    strictObject({
      until: z
        .literal("settled")
        .meta(documented("moves the clock until no operation is running", "settled")),
      within: duration
        .default(3_600_000)
        .meta(documented("the step fails if it takes longer (default: 1h)", "5m")),
    }),
  ],
  { error: 'must be a duration such as 10m, {"to": …} or {"until": "settled"}' },
);

/** A step has exactly one of these actions. */
export const ACTIONS = [
  "request",
  "control",
  "activity",
  "sql",
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
  name: name.optional().meta(documented("name of the step, for reports and for after", "deploy")),
  at: when.optional().meta(documented("the clock first moves to this time", "10m", "2026-01-31T12:00:00Z")),
  after: after.optional(),
  request: requestStep.optional().meta(
    documented("a call of the imitated API", {
      method: "POST",
      path: "/projects/{shop}/branches",
      body: { branch: { name: "dev" } },
      status: 201,
    }),
  ),
  control: control.optional().meta(
    documented("a call of the control API; the run ends if it is rejected", {
      method: "DELETE",
      path: "/faults",
    }),
  ),
  activity: activity
    .optional()
    .meta(documented("client activity on a compute", { to: "shop/main", duration: "30s" })),
  sql: sqlStep.optional().meta(
    documented("executes one statement with Postgres, and starts the compute if it is idle", {
      on: "shop/main",
      query: "select count(*)::int as orders from orders",
      rows: [{ orders: 2 }],
    }),
  ),
  advance: advance.optional().meta(documented("moves the clock", "10m", { to: "2h" }, { until: "settled" })),
  fault: z
    .record(z.string(), z.unknown())
    .optional()
    .meta(
      documented(
        "a fault as PUT /_sim/faults/{name} accepts it (retry_after without a unit is seconds); see docs/reference/faults.md",
        {
          name: "busy",
          on: { operation: "createProjectBranch" },
          when: { first: 2 },
          effect: { answer: { status: 423 } },
        },
      ),
    ),
  clear_faults: z
    .union([z.literal(true), z.string()])
    .optional()
    .meta(documented("removes all faults (true), or the one with this name", true, "busy")),
  snapshot: z
    .string()
    .optional()
    .meta(documented("takes a snapshot of the world under this name", "before-deploy")),
  restore: z
    .string()
    .optional()
    .meta(documented("restores the world to a snapshot that an earlier step took", "before-deploy")),
  restart: z
    .literal(true)
    .optional()
    .meta(documented("kills the process and reopens the world from its file", true)),
  set: strictObject({
    clock: instant.optional().meta(documented("moves the clock to this instant", "2026-01-31T12:00:00Z")),
    plan: z
      .record(label, z.enum(["paid", "free"]))
      .optional()
      .meta(documented("changes the plan of accounts, by label", { hobby: "paid" })),
  })
    .optional()
    .meta(documented("changes the clock, or the plan of accounts", { plan: { hobby: "paid" } })),
  expect: z
    .array(expectation)
    .optional()
    .meta(documented("conditions that must hold at this step", [{ state: "active", of: "shop/main" }])),
};

export type Step = z.output<z.ZodObject<typeof stepFields>> & {
  readonly repeat?:
    | { readonly times: number; readonly every?: number | undefined; readonly steps: readonly Step[] }
    | undefined;
  readonly parallel?: readonly (readonly Step[])[] | undefined;
};

/** One step; it may contain further steps. */
export const step: z.ZodType<Step> = z
  .lazy(() =>
    strictObject({
      ...stepFields,
      repeat: strictObject({
        times: z.int().min(1).max(1_000_000).meta(documented("number of rounds", 3)),
        every: duration
          .optional()
          .meta(documented("time from the start of one round to the start of the next", "10s")),
        steps: z
          .array(step)
          .min(1)
          .meta(documented("steps of each round", [{ advance: "10m" }])),
      })
        .optional()
        .meta(
          documented("repeats steps; {loop} is the round of the innermost repeat, from 1", {
            times: 3,
            every: "10s",
            steps: [{ request: { path: "/projects/{shop}" } }],
          }),
        ),
      parallel: z
        .array(z.array(step).min(1))
        .min(1)
        .optional()
        .meta(
          documented("lists of steps that run in parallel", [
            [{ activity: { to: "shop/main" } }],
            [{ request: { path: "/projects/{shop}" } }],
          ]),
        ),
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
  .meta({ id: "step", description: "one action, with its time" }) as z.ZodType<Step>;

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
