import * as z from "zod";
import { accountReport } from "./account-report-objects.ts";
import {
  account,
  activity,
  apiKey,
  bytes,
  clock,
  deleted,
  endpoint,
  event,
  explanation,
  fault,
  instant,
  lane,
  mark,
  newApiKey,
  ready,
  request,
  seq,
  snapshot,
  timelineOperation,
  world,
} from "./answer-objects.ts";
import { runState } from "./run-objects.ts";
import { agreement } from "./shadow-objects.ts";
import { state } from "./state-objects.ts";

/** Answer of each call of the control API; JSON unless stated otherwise. */
export const CONTROL_ANSWERS = {
  "GET /health/live": answer(
    "Whether the process responds",
    z.strictObject({
      status: z.literal("live"),
      version: z.string(),
      cell: z.string().optional(),
      pid: z.int(),
      proof: z.string().optional(),
      team_proofs: z.array(z.string()).optional(),
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
  "POST /spans": answer("Reports the begin or the end of work that lasts", z.strictObject({ now: instant })),
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
  "GET /state": answer("The state of the world, now or at a point of its history", state),
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
  "PUT /world": answer(
    "Creates the world of this path as a fork",
    z.strictObject({
      world: z.strictObject({ ...world, from: z.string().optional() }),
      created: z.boolean(),
    }),
  ),
  "POST /worlds/:name/move": answer(
    "Moves a world to another server",
    z.strictObject({ name: z.string(), to: z.string(), seq }),
  ),
  "GET /worlds/:name/move": answer(
    "Reads the progress of a move",
    z.union([
      z.strictObject({ moving: z.literal(false) }),
      z.strictObject({ moving: z.literal(true), to: z.string(), sent_bytes: bytes, total_bytes: bytes }),
    ]),
  ),
  "DELETE /worlds/:name/move": answer("Forgets a move, so that the name can be used here again", deleted),
  "POST /worlds/:name/arrival": answer(
    "Begins to receive a world from another server",
    z.strictObject({ id: z.string() }),
    201,
  ),
  "PUT /worlds/:name/arrival/:id/:part": answer(
    "Receives a portion of a part of a world",
    z.strictObject({ received_bytes: bytes }),
  ),
  "POST /worlds/:name/arrival/:id/prepare": answer(
    "Reads what has arrived of a world, so that its completion takes little time",
    z.strictObject({ name: z.string(), seq: seq.nullable() }),
  ),
  "POST /worlds/:name/arrival/:id/complete": answer(
    "Completes the arrival of a world",
    z.strictObject({ name: z.string(), seq }),
  ),
  "DELETE /worlds/:name/arrival": answer(
    "Ends an arrival, and tells whether it was complete",
    z.strictObject({ arrived: z.boolean() }),
  ),
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
  "POST /whatif/advice": answer(
    "Says what to change, and what it saves on the whole bill",
    z.looseObject({}),
  ),
  "GET /scenario": answer(
    "Makes a scenario file of a part of history",
    z.strictObject({
      scenario: z.string(),
      steps: z.int(),
      state: z.string().nullable(),
      omitted: z.array(z.string()),
    }),
  ),
  "GET /shadow": answer(
    "How well the rules agree with the account whose past standin shadow wrote into the world",
    z.strictObject({ agreement: agreement.nullable() }),
  ),
  "GET /account-report": answer(
    "What other delays would have cost the account whose past was written into the world",
    z.strictObject({ report: accountReport.nullable() }),
  ),
  "GET /run": answer("The scenario run that this server shows", runState),
  "POST /run": answer("Steps, continues or stops the run", runState),
  "GET /run/stream": answer("Streams the run as server-sent events", "text/event-stream"),
  "GET /timeline": answer(
    "What computes did over a period",
    z.strictObject({
      now: instant,
      from: instant,
      to: instant,
      history_begins_at: instant,
      read: z.strictObject({ seq, at: instant, of: seq }).optional(),
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
  "GET /requests/stream": answer("Streams requests as server-sent events", "text/event-stream"),
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
  "GET /data": answer(
    "What the data of all branches takes on disk, and what a bill of the world would have",
    z.strictObject({
      volumes: z.int(),
      size_bytes: bytes,
      waiting_bytes: bytes,
      limit_bytes: bytes.nullable(),
      billed: z.strictObject({ storage_bytes: bytes, history_bytes: bytes }).nullable(),
      snapshot_bytes: bytes.nullable(),
      extra_branches: z.strictObject({ free: z.int(), launch: z.int(), scale: z.int() }),
    }),
  ),
  "GET /branches/:branch_id/data": answer(
    "What is stored of a branch's data",
    z.strictObject({
      engine: z.string().nullable(),
      as_of: instant.nullable(),
      exact: z.boolean(),
      size_bytes: bytes,
      points: z.int(),
      available_since: instant.nullable(),
    }),
  ),
  "POST /endpoints/:endpoint_id/sql": answer(
    "Executes SQL on a compute",
    z.union([
      z.strictObject({
        now: instant,
        outcome: z.literal("done"),
        command: z.string(),
        row_count: z.int().nullable(),
        rows: z.array(z.record(z.string(), z.json())),
      }),
      z.strictObject({
        now: instant,
        outcome: z.literal("refused"),
        error: z.looseObject({ message: z.string(), code: z.string().nullable() }),
      }),
    ]),
  ),
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
