import type { ControlRoute } from "../../../../src/control-api/document/answers.ts";
import type { Ids } from "../../../support/document/contract-scene.ts";

/** One call of a route of the control API. */
export type ControlCall = {
  /** In the order of the path. */
  readonly params?: readonly string[];
  readonly body?: unknown;
  readonly query?: string;
};

/** The calls of a route, or why none can reach the data of a branch. */
export type ControlOperation = ((ids: Ids) => readonly ControlCall[]) | string;

const once = (): readonly ControlCall[] => [{}];
const FAULT = {
  on: { operation: "getProjectOperation" },
  when: { first: 1 },
  effect: { answer: { status: 503 } },
};
const MOVES = "a world with the data of Postgres clients cannot be moved";
const PAGE = "only of a server of a scenario run";
const ENDLESS = "reads, and does not end";

/** Every route of the control API, in the order in which they are called. */
export const CONTROL_OPERATIONS = {
  "POST /spans": ({ endpoint_id }) => [
    { body: { kind: "begin", endpoint_id } },
    { body: { kind: "end", endpoint_id, arrivals: 2, data: { written_bytes: 1 } } },
  ],
  "GET /health/live": once,
  "GET /health": once,
  "GET /health/ready": once,
  "GET /openapi.json": once,
  "GET /clock": once,
  "PUT /clock": () => [{ body: { mode: "scaled", factor: 60 } }, { body: { mode: "manual" } }],
  "POST /activity": ({ endpoint_id }) => [
    { body: { endpoint_id, blocks: { hits: 9, misses: 1, writes: 1 } } },
  ],
  "GET /accounts": once,
  "POST /accounts": () => [{ body: { name: "other", email: "other@standin.example" } }],
  "PATCH /accounts/:account_id": "changes the plan of an account",
  "GET /api_keys": once,
  "POST /api_keys": () => [{ body: { key_name: "second" } }],
  "DELETE /api_keys/:key_id": "removes a key of an account",
  "POST /organizations/:org_id/invitations/:invitation_id/accept": "adds a member to an organization",
  "GET /state": once,
  "GET /explain/endpoints/:endpoint_id": ({ endpoint_id }) => [{ params: [endpoint_id] }],
  "GET /explain/operations/:operation_id": ({ operation_id }) => [{ params: [operation_id] }],
  "GET /faults": once,
  "PUT /faults": () => [{ body: [{ name: "again", ...FAULT }] }],
  "GET /faults/:name": () => [{ params: ["again"] }],
  "PUT /faults/:name": () => [{ params: ["again"], body: FAULT }],
  "DELETE /faults/:name": () => [{ params: ["again"] }],
  "DELETE /faults": once,
  "GET /requests": () => [{}, { query: "?count=true" }],
  "DELETE /requests": once,
  "GET /requests/stream": ENDLESS,
  "GET /events": once,
  "GET /events/stream": ENDLESS,
  "POST /whatif": () => [{ body: { policy: "fixed:60" } }],
  "POST /whatif/advice": () => [{ body: {} }],
  "GET /scenario": once,
  "GET /shadow": once,
  "GET /account-report": once,
  "GET /run": PAGE,
  "POST /run": PAGE,
  "GET /run/stream": PAGE,
  "GET /timeline": ({ endpoint_id }) => [{ query: `?points=50&endpoint_id=${endpoint_id}` }],
  "GET /coverage": once,
  "GET /invariants": once,
  "GET /metrics": once,
  "GET /endpoints": once,
  "GET /endpoints/:endpoint_id/stats": ({ endpoint_id }) => [{ params: [endpoint_id] }],
  "GET /data": once,
  "GET /branches/:branch_id/data": ({ branch_id }) => [{ params: [branch_id] }],
  "POST /endpoints/:endpoint_id/sql": ({ endpoint_id }) => [
    { params: [endpoint_id], body: { query: "select count(*) from pg_database", role: "neondb_owner" } },
    { params: [endpoint_id], body: { query: "select $1::text || 'x'", params: ["a"], pooled: true } },
  ],
  "POST /wait": ({ project_id }) => [{ body: { until: { project_id } } }],
  "POST /clock/advance": () => [{ body: { by: "10m" } }],
  "GET /snapshots": once,
  "POST /snapshots": () => [{ body: { name: "one" } }],
  "GET /snapshots/:name": () => [{ params: ["one"] }],
  "POST /snapshots/:name/restore": () => [{ params: ["one"], body: {} }],
  "DELETE /snapshots/:name": () => [{ params: ["one"] }],
  "GET /worlds": once,
  "POST /worlds": () => [{ body: { name: "another" } }],
  "PUT /world": () => [{ body: { if_exists: "keep" } }],
  "GET /worlds/:name": () => [{ params: ["another"] }],
  "DELETE /worlds/:name": () => [{ params: ["another"] }],
  "POST /worlds/:name/move": MOVES,
  "GET /worlds/:name/move": MOVES,
  "DELETE /worlds/:name/move": MOVES,
  "POST /worlds/:name/arrival": MOVES,
  "PUT /worlds/:name/arrival/:id/:part": MOVES,
  "POST /worlds/:name/arrival/:id/prepare": MOVES,
  "POST /worlds/:name/arrival/:id/complete": MOVES,
  "DELETE /worlds/:name/arrival": MOVES,
  "POST /compact": () => [{ body: { keep: "1d" } }],
  "POST /reset": once,
} as const satisfies Record<ControlRoute, ControlOperation>;
