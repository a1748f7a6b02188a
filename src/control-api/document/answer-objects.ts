// Objects in the answers of the control API.

import * as z from "zod";
import { ACTIVITY_KINDS } from "../../platform/model/activity.ts";

export const instant = z.string().meta({ format: "date-time" });
const nullableInstant = instant.nullable();
export const seq = z.int().min(0);
export const bytes = z.int();

export const clock = z.strictObject({
  now: instant,
  mode: z.enum(["real", "scaled", "manual"]),
  factor: z.number(),
  next_due: nullableInstant,
});
export const event = z.looseObject({
  seq,
  at: instant,
  type: z.string(),
  decision: seq,
  endpoint_id: z.string().optional(),
  operation: z.looseObject({ action: z.string(), endpoint_id: z.string().optional() }).optional(),
});
export const apiKey = {
  id: z.int(),
  name: z.string(),
  account_id: z.string(),
  organization_id: z.string().optional(),
  project_id: z.string().nullable().optional(),
  created_at: instant,
  last_used_at: nullableInstant,
  last_used_from_addr: z.string(),
};
export const newApiKey = z.strictObject({
  id: z.int(),
  key: z.string(),
  name: z.string(),
  account_id: z.string(),
  created_at: instant,
});
export const account = z.looseObject({ id: z.string(), name: z.string() });
export const world = {
  name: z.string(),
  api_url: z.string(),
  control_url: z.string(),
  open: z.boolean(),
  now: instant,
  seq,
  history_id: z.string(),
  size_bytes: bytes,
  error: z.string().optional(),
};
export const snapshot = z.strictObject({
  name: z.string(),
  kind: z.enum(["automatic", "backup", "manual"]),
  created_at: instant,
  now: instant,
  seq,
  history_id: z.string(),
  size_bytes: bytes,
  error: z.string().optional(),
});
export const fault = z.strictObject({
  name: z.string(),
  on: z.looseObject({}),
  when: z.looseObject({}),
  effect: z.union([z.string(), z.looseObject({})]),
  seen: z.int(),
  hits: z.int(),
  set_at: instant,
});
export const endpoint = z.looseObject({
  endpoint_id: z.string(),
  project_id: z.string(),
  project_name: z.string().optional(),
  branch_id: z.string(),
  branch_name: z.string().optional(),
  host: z.string().optional(),
  pooler_host: z.string().optional(),
  pg_version: z.int().optional(),
  running_pg_version: z.int().nullable(),
  status: z.enum(["Active", "Idle"]),
  current_state: z.enum(["init", "active", "idle"]),
  pending_state: z.enum(["active", "idle"]).nullable(),
  current_size_cu: z.number(),
  vcpu: z.number(),
  ram_gb: z.number(),
  max_connections: z.int(),
  connections: z.looseObject({ direct: z.int(), pooled: z.int() }),
  queries: z.int(),
  cache: z.looseObject({
    file_cache_hits: z.number(),
    file_cache_misses: z.number(),
    file_cache_used: z.number(),
    file_cache_writes: z.number(),
    file_cache_hit_ratio: z.number().nullable(),
  }),
  autosuspend: z.strictObject({
    delay_s: z.number().nullable(),
    idle_since: nullableInstant,
    suspend_at: nullableInstant,
    suspend_in_ms: z.number().nullable(),
  }),
});
export const request = z.strictObject({
  number: z.int(),
  at: instant,
  seq,
  request_id: z.string(),
  method: z.string(),
  path: z.string(),
  operation_id: z.string().nullable(),
  status: z.int().nullable(),
  code: z.string().optional(),
  account_id: z.string().nullable(),
  key_id: z.int().nullable(),
  body: z.unknown().optional(),
  answered: z.unknown().optional(),
  fault: z.string().optional(),
});
export const activity = z.strictObject({
  endpoint_id: z.string(),
  kind: z.enum(ACTIVITY_KINDS),
  at: instant,
  outcome: z.enum(["served", "waits", "scheduled", "refused"]),
  woke: z.boolean().optional(),
  waited_ms: z.number().optional(),
  connection_id: z.string().optional(),
  code: z.string().optional(),
  message: z.string().optional(),
});
export const explanation = z.looseObject({
  at: instant,
  summary: z.string(),
  reasons: z.array(z.strictObject({ about: z.string(), text: z.string(), events: z.array(seq) })),
  events: z.array(event),
});
export const ready = z.strictObject({
  status: z.literal("ready"),
  live: z.boolean(),
  ready: z.boolean(),
  world: z.string(),
  now: instant,
  size_bytes: bytes,
  history: z.strictObject({
    ...{ id: z.string(), seq, forgotten_seq: seq },
    upkeep_failure: z.string().optional(),
  }),
  version: z.string(),
});
export const lane = z.strictObject({
  endpoint_id: z.string(),
  project_id: z.string(),
  branch_id: z.string(),
  spans: z.array(
    z.strictObject({
      since_ms: z.number(),
      until_ms: z.number(),
      state: z.enum(["starting", "active", "suspending", "suspended", "mixed"]),
      size_cu: z.number(),
      active_share: z.number().optional(),
    }),
  ),
  arrivals: z.array(z.strictObject({ at_ms: z.number(), count: z.int(), waiting: z.int() })),
});
export const mark = z.strictObject({
  at: instant,
  seq,
  kind: z.enum(["fault", "restart", "start_failed", "suspend_failed"]),
  endpoint_id: z.string().nullable(),
  project_id: z.string().nullable(),
  name: z.string().nullable(),
});
export const timelineOperation = z.strictObject({
  id: z.string(),
  action: z.string(),
  project_id: z.string(),
  branch_id: z.string().nullable(),
  endpoint_id: z.string().nullable(),
  since: instant,
  until: nullableInstant,
  status: z.enum(["running", "finished", "failed", "cancelled"]),
});
export const deleted = z.strictObject({ name: z.string(), deleted: z.literal(true) });
