import * as z from "zod";
import { ACTIVITY_KINDS } from "../../platform/compute/activity.ts";

const instant = z.string().meta({ format: "date-time" });
const nullableInstant = instant.nullable();
const seq = z.int().min(0);
const bytes = z.int();

const clock = z.strictObject({
  now: instant,
  mode: z.enum(["real", "scaled", "manual"]),
  factor: z.number(),
  next_due: nullableInstant,
});
const event = z.looseObject({
  seq,
  at: instant,
  type: z.string(),
  decision: seq,
  endpoint_id: z.string().optional(),
  operation: z.looseObject({ action: z.string(), endpoint_id: z.string().optional() }).optional(),
});
const apiKey = {
  id: z.int(),
  name: z.string(),
  account_id: z.string(),
  organization_id: z.string().optional(),
  project_id: z.string().nullable().optional(),
  created_at: instant,
  last_used_at: nullableInstant,
  last_used_from_addr: z.string(),
};
const newApiKey = z.strictObject({
  id: z.int(),
  key: z.string(),
  name: z.string(),
  account_id: z.string(),
  created_at: instant,
});
const account = z.looseObject({ id: z.string(), name: z.string() });
const world = {
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
const snapshot = z.strictObject({
  name: z.string(),
  kind: z.enum(["automatic", "backup", "manual"]),
  created_at: instant,
  now: instant,
  seq,
  history_id: z.string(),
  size_bytes: bytes,
  error: z.string().optional(),
});
const fault = z.strictObject({
  name: z.string(),
  on: z.looseObject({}),
  when: z.looseObject({}),
  effect: z.union([z.string(), z.looseObject({})]),
  seen: z.int(),
  hits: z.int(),
  set_at: instant,
});
const endpoint = z.looseObject({
  endpoint_id: z.string(),
  project_id: z.string(),
  project_name: z.string().optional(),
  branch_id: z.string(),
  branch_name: z.string().optional(),
  status: z.enum(["Active", "Idle"]),
  current_state: z.enum(["init", "active", "idle"]),
  pending_state: z.enum(["active", "idle"]).nullable(),
  current_size_cu: z.number(),
  connections: z.looseObject({ direct: z.int(), pooled: z.int() }),
  autosuspend: z.strictObject({
    delay_s: z.number().nullable(),
    idle_since: nullableInstant,
    suspend_at: nullableInstant,
    suspend_in_ms: z.number().nullable(),
  }),
});
const request = z.strictObject({
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
const activity = z.strictObject({
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
const explanation = z.looseObject({
  at: instant,
  summary: z.string(),
  reasons: z.array(z.strictObject({ about: z.string(), text: z.string(), events: z.array(seq) })),
  events: z.array(event),
});
const ready = z.strictObject({
  status: z.literal("ready"),
  live: z.boolean(),
  ready: z.boolean(),
  world: z.string(),
  now: instant,
  size_bytes: bytes,
  history: z.strictObject({ id: z.string(), seq, forgotten_seq: seq }),
  version: z.string(),
});
const lane = z.strictObject({
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
const mark = z.strictObject({
  at: instant,
  seq,
  kind: z.enum(["fault", "restart", "start_failed", "suspend_failed"]),
  endpoint_id: z.string().nullable(),
  project_id: z.string().nullable(),
  name: z.string().nullable(),
});
const timelineOperation = z.strictObject({
  id: z.string(),
  action: z.string(),
  project_id: z.string(),
  branch_id: z.string().nullable(),
  endpoint_id: z.string().nullable(),
  since: instant,
  until: nullableInstant,
  status: z.enum(["running", "finished", "failed", "cancelled"]),
});
const deleted = z.strictObject({ name: z.string(), deleted: z.literal(true) });
const rows = z.array(z.looseObject({}));

/** What each call of the control API answers, in JSON unless it says otherwise. */
export const CONTROL_ANSWERS = {
  "GET /health/live": answer(
    "Whether the process responds",
    z.strictObject({
      status: z.literal("live"),
      version: z.string(),
      pid: z.int(),
      proof: z.string().optional(),
    }),
  ),
  "GET /health": answer("Whether the world responds", ready),
  "GET /health/ready": answer("Whether the world responds", ready),
  "GET /openapi.json": answer("This document", z.looseObject({ openapi: z.string() })),
  "GET /clock": answer("Reads the clock", clock),
  "PUT /clock": answer("Sets the mode of the clock", clock),
  "POST /clock/advance": answer(
    "Advances the clock",
    z.strictObject({ now: instant, events: z.array(event), next_since: seq.optional() }),
  ),
  "POST /activity": answer(
    "Reports activity of clients",
    z.strictObject({ now: instant, activities: z.array(activity) }),
  ),
  "GET /accounts": answer("Lists accounts", z.strictObject({ accounts: z.array(account) })),
  "POST /accounts": answer(
    "Creates an account with a key",
    z.strictObject({ account, api_key: newApiKey }),
    201,
  ),
  "PATCH /accounts/:account_id": answer("Changes the plan of an account", z.strictObject({ account })),
  "GET /api_keys": answer("Lists API keys", z.strictObject({ api_keys: z.array(z.strictObject(apiKey)) })),
  "POST /api_keys": answer("Creates an API key", newApiKey),
  "DELETE /api_keys/:key_id": answer(
    "Revokes an API key",
    z.strictObject({ ...apiKey, revoked: z.literal(true) }),
  ),
  "POST /organizations/:org_id/invitations/:invitation_id/accept": answer(
    "Accepts an invitation",
    z.strictObject({
      member: z.strictObject({
        id: z.string(),
        account_id: z.string(),
        organization_id: z.string(),
        role: z.string(),
        joined_at: instant,
      }),
    }),
  ),
  "GET /state": answer(
    "The state of the world, now or at a point of its history",
    z.looseObject({ seq, at: instant, accounts: rows, projects: rows, branches: rows, endpoints: rows }),
  ),
  "GET /explain/endpoints/:endpoint_id": answer("Explains the state of a compute", explanation),
  "GET /explain/operations/:operation_id": answer("Explains the state of an operation", explanation),
  "POST /compact": answer(
    "Deletes old history",
    z.strictObject({ history_id: z.string(), seq, forgotten_seq: seq, now: instant, size_bytes: bytes }),
  ),
  "GET /snapshots": answer("Lists snapshots", z.strictObject({ snapshots: z.array(snapshot) })),
  "POST /snapshots": answer("Takes a snapshot", z.strictObject({ snapshot }), 201),
  "GET /snapshots/:name": answer("Reads a snapshot", z.strictObject({ snapshot })),
  "POST /snapshots/:name/restore": answer(
    "Restores a snapshot",
    z.strictObject({
      restored: z.string(),
      former_kept_as: z.string(),
      now: instant,
      seq,
      history_id: z.string(),
    }),
  ),
  "DELETE /snapshots/:name": answer("Deletes a snapshot", deleted),
  "GET /worlds": answer("Lists worlds", z.strictObject({ worlds: z.array(z.strictObject(world)) })),
  "POST /worlds": answer(
    "Forks a world",
    z.strictObject({ world: z.strictObject({ ...world, from: z.string() }) }),
    201,
  ),
  "GET /worlds/:name": answer("Reads a world", z.strictObject({ world: z.strictObject(world) })),
  "DELETE /worlds/:name": answer("Deletes a world", deleted),
  "GET /faults": answer("Lists faults", z.strictObject({ faults: z.array(fault) })),
  "PUT /faults": answer("Replaces all faults", z.strictObject({ faults: z.array(fault) })),
  "DELETE /faults": answer("Removes all faults", z.strictObject({ removed: z.array(fault) })),
  "GET /faults/:name": answer("Reads a fault", z.strictObject({ fault })),
  "PUT /faults/:name": answer("Sets a fault", z.strictObject({ fault })),
  "DELETE /faults/:name": answer("Removes a fault", z.strictObject({ removed: fault })),
  "GET /requests": answer(
    "Lists or counts requests to the imitated API",
    z.union([
      z.strictObject({ requests: z.array(request), next_since: z.int() }),
      z.strictObject({ count: z.int() }),
    ]),
  ),
  "DELETE /requests": answer(
    "Clears the request log",
    z.strictObject({ requests: z.array(request).max(0), next_since: z.literal(0) }),
  ),
  "POST /whatif": answer("Replays the traffic under other policies", z.looseObject({})),
  "GET /timeline": answer(
    "What computes did over a period",
    z.strictObject({
      now: instant,
      from: instant,
      to: instant,
      history_begins_at: instant,
      point_ms: z.number(),
      endpoints: z.array(lane),
      marks: z.array(mark),
      operations: z.array(timelineOperation),
    }),
  ),
  "GET /events": answer(
    "Lists events",
    z.strictObject({ events: z.array(event), next_since: seq, forgotten_seq: seq.optional() }),
  ),
  "GET /events/stream": answer("Streams events as server-sent events", "text/event-stream"),
  "GET /coverage": answer("How each operation of the imitated API is covered", z.unknown()),
  "GET /invariants": answer(
    "Checks the invariants of the world",
    z.strictObject({
      ok: z.boolean(),
      checked: z.int(),
      violations: z.array(z.strictObject({ invariant: z.string(), message: z.string() })),
    }),
  ),
  "POST /wait": answer("Waits for a condition", z.strictObject({ now: instant, until: z.looseObject({}) })),
  "POST /reset": answer("Deletes everything in the world", z.strictObject({ now: instant, seq })),
  "GET /endpoints": answer("Lists computes", z.strictObject({ now: instant, endpoints: z.array(endpoint) })),
  "GET /endpoints/:endpoint_id/stats": answer("Statistics of a compute", endpoint),
  "GET /metrics": answer("Metrics in the format of Prometheus", "text/plain"),
} as const;

export type ControlRoute = keyof typeof CONTROL_ANSWERS;
/** The parsed JSON of an answer. */
export type ControlAnswer<R extends ControlRoute> = (typeof CONTROL_ANSWERS)[R]["content"] extends infer C
  ? C extends z.ZodType
    ? z.output<C>
    : never
  : never;

function answer<const C extends z.ZodType | string>(summary: string, content: C, status: 200 | 201 = 200) {
  return { summary, content, status };
}
