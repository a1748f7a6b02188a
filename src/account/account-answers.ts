import * as z from "zod";

// Fields of the platform's answers that the file of an account stores. Other fields are ignored.

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

export const projectAnswer = z.object({
  id: z.string(),
  name: z.string(),
  org_id: z.string().nullish(),
  created_at: instant,
});

export const endpointAnswer = z.object({
  id: z.string(),
  branch_id: z.string(),
  type: z.string(),
  autoscaling_limit_min_cu: z.number(),
  autoscaling_limit_max_cu: z.number(),
  suspend_timeout_seconds: z.int(),
  disabled: z.boolean().nullish(),
  last_active: instant.nullish(),
  created_at: instant,
});

export const operationAnswer = z.object({
  id: z.string(),
  endpoint_id: z.string().nullish(),
  branch_id: z.string().nullish(),
  action: z.string(),
  status: z.string(),
  failures_count: z.int(),
  created_at: instant,
  total_duration_ms: z.number(),
});

/** Limits of the account's plan. S: the limits of `CurrentUserInfoResponse`. */
export const planAnswer = z.object({
  plan: z.string(),
  projects_limit: z.int(),
  branches_limit: z.int(),
  max_autoscaling_limit: z.number(),
});

export const operationsPage = z.object({
  operations: z.array(operationAnswer),
  pagination: z.object({ cursor: z.string().nullish() }).nullish(),
});

export const consumptionPage = z.object({
  projects: z.array(
    z.object({
      project_id: z.string(),
      periods: z.array(
        z.object({
          consumption: z.array(
            z.object({
              timeframe_start: instant,
              timeframe_end: instant,
              active_time_seconds: z.number(),
              compute_time_seconds: z.number(),
            }),
          ),
        }),
      ),
    }),
  ),
});

export type PlanAnswer = z.output<typeof planAnswer>;
export type ProjectAnswer = z.output<typeof projectAnswer>;
export type EndpointAnswer = z.output<typeof endpointAnswer>;
export type OperationAnswer = z.output<typeof operationAnswer>;
