// Rows of `GET /state`. Each has further fields, which the rules of its noun describe.

import * as z from "zod";
import { instant, seq } from "./answer-objects.ts";

const rows = z.array(z.looseObject({}));
const named = z.looseObject({ name: z.string(), owner_name: z.string().optional() });

const accountRow = z.looseObject({
  id: z.string(),
  name: z.string(),
  plan: z.string(),
  email: z.string(),
  organization_id: z.string(),
});
const projectRow = z.looseObject({
  id: z.string(),
  name: z.string(),
  account_id: z.string(),
  region_id: z.string(),
  pg_version: z.int(),
  created_at: instant,
  deleted_at: instant.optional(),
  settings: z.looseObject({
    quota: z.looseObject({ compute_time_seconds: z.number().optional() }).optional(),
  }),
});
const branchRow = z.looseObject({
  id: z.string(),
  project_id: z.string(),
  parent_id: z.string().optional(),
  parent_timestamp: instant.optional(),
  name: z.string(),
  default: z.boolean(),
  protected: z.boolean(),
  state: z.string(),
  created_at: instant,
  deleted_at: instant.optional(),
  roles: z.array(named),
  databases: z.array(named),
});
const computeRow = z.looseObject({
  id: z.string(),
  project_id: z.string(),
  branch_id: z.string(),
  name: z.string().optional(),
  type: z.enum(["read_write", "read_only"]),
  range: z.looseObject({ min_cu: z.number(), max_cu: z.number() }),
  suspend_timeout_seconds: z.number(),
  disabled: z.boolean(),
  created_at: instant,
  started_at: instant.optional(),
  last_active_at: instant.optional(),
  suspended_at: instant.optional(),
  phase: z.looseObject({
    state: z.enum(["init", "idle", "active"]),
    size_cu: z.number().optional(),
    suspending: z.boolean().optional(),
  }),
});
const operationRow = z.looseObject({
  id: z.string(),
  action: z.string(),
  project_id: z.string(),
  branch_id: z.string().optional(),
  endpoint_id: z.string().optional(),
  cause: z.string(),
  state: z.looseObject({
    status: z.string(),
    started_at: instant.optional(),
    due_at: instant.optional(),
  }),
});

/** The state of a world, or some of its fields. */
export const state = z.looseObject({
  seq,
  at: instant,
  world: z.looseObject({ seed: z.number(), profile: z.string() }).optional(),
  accounts: z.array(accountRow).optional(),
  projects: z.array(projectRow).optional(),
  branches: z.array(branchRow).optional(),
  endpoints: z.array(computeRow).optional(),
  connections: rows.optional(),
  operations: z.array(operationRow).optional(),
  usage: rows.optional(),
  branch_snapshots: rows.optional(),
  faults: rows.optional(),
});
