import { PUBLIC_OPERATIONS } from "../../../src/platform-api/coverage/public-operations.ts";

export type Route = readonly [method: string, path: string, body?: unknown];
const endpoint = {
  autoscaling_limit_min_cu: 1,
  autoscaling_limit_max_cu: 2,
  suspend_timeout_seconds: 300,
  settings: { pg_settings: { a: "b" } },
};
const activity = {
  ...{
    endpoint_id: "{endpoint}",
    kind: "query",
    duration_ms: 5,
    at: "2026-01-01T00:05:00Z",
    load: 0.5,
    database: "neondb",
  },
  ...{
    connection_id: "c",
    pooled: true,
    queries: 2,
    source: "cron",
    blocks: { hits: 1, misses: 2, writes: 3 },
  },
};
const project = {
  name: "p",
  pg_version: 16,
  region_id: "aws-us-east-2",
  settings: { quota: {} },
  branch: { name: "main", role_name: "r" },
};

/** Valid requests to start from. */
export const ROUTES: readonly Route[] = [
  [
    "POST",
    "/api/v2/projects",
    { project: { ...project, default_endpoint_settings: endpoint, history_retention_seconds: 5 } },
  ],
  [
    "PATCH",
    "/api/v2/projects/{project}",
    { project: { name: "q", default_endpoint_settings: endpoint, settings: { hipaa: true } } },
  ],
  [
    "POST",
    "/api/v2/projects/{project}/branches",
    {
      branch: { name: "b", parent_id: "{branch}", parent_timestamp: "2026-01-01T00:00:20Z" },
      endpoints: [{ type: "read_write" }],
      annotation_value: { a: "b" },
    },
  ],
  [
    "POST",
    "/api/v2/projects/{project}/branches",
    { branch: { parent_lsn: "0/1E88838", init_source: "schema-only", expires_at: "x" } },
  ],
  ["PATCH", "/api/v2/projects/{project}/branches/{branch}", { branch: { name: "trunk", protected: true } }],
  [
    "POST",
    "/api/v2/projects/{project}/endpoints",
    {
      endpoint: {
        branch_id: "{branch}",
        type: "read_only",
        name: "n",
        pooler_mode: "transaction",
        ...endpoint,
      },
    },
  ],
  [
    "PATCH",
    "/api/v2/projects/{project}/endpoints/{endpoint}",
    { endpoint: { ...endpoint, branch_id: "{branch}", disabled: false, pooler_enabled: true } },
  ],
  ...["start", "suspend", "restart"].map(
    (verb): Route => ["POST", `/api/v2/projects/{project}/endpoints/{endpoint}/${verb}`],
  ),
  ["DELETE", "/api/v2/projects/{project}/endpoints/{replica}"],
  ["DELETE", "/api/v2/projects/{project}/branches/{branch}"],
  ["POST", "/api/v2/projects/{project}/branches/{branch}/set_as_default"],
  ["DELETE", "/api/v2/projects/{project}"],
  ["POST", "/api/v2/api_keys", { key_name: "k" }],
  ["DELETE", "/api/v2/api_keys/3"],
  ["POST", "/_sim/activity", activity],
  [
    "POST",
    "/_sim/activity",
    [
      activity,
      { endpoint_id: "{replica}", kind: "connect", connection_id: "d" },
      { endpoint_id: "{replica}", kind: "transaction" },
    ],
  ],
  ["POST", "/_sim/clock/advance", { by: "10s" }],
  ["POST", "/_sim/clock/advance", { to: "2026-01-02T00:00:00Z" }],
  ["POST", "/_sim/clock/advance", { next: true }],
  ["PUT", "/_sim/clock", { mode: "scaled", factor: 60 }],
  ["POST", "/_sim/wait", { until: { endpoint_id: "{endpoint}", state: "active" }, timeout: "1ms" }],
  ["POST", "/_sim/wait", { until: { operation_id: "{operation}" }, timeout: "1ms" }],
  [
    "POST",
    "/_sim/accounts",
    { id: "other", name: "n", email: "a@b.example", plan: "free", key_name: "k", api_key: "s".repeat(20) },
  ],
  ["POST", "/_sim/api_keys", { account_id: "thrifty", key_name: "k", api_key: "t".repeat(20) }],
  ["DELETE", "/_sim/api_keys/1"],
  ["POST", "/_sim/reset"],
  ...[
    "health",
    "clock",
    "state",
    "events",
    "events/stream",
    "requests/stream",
    "invariants",
    "endpoints",
    "endpoints/{endpoint}/stats",
    "metrics",
    "accounts",
    "api_keys",
  ].map((path): Route => ["GET", `/_sim/${path}`]),
];

/** S: all operations of the public document, imitated or not. */
export const PUBLIC_ROUTES: readonly Route[] = PUBLIC_OPERATIONS.map(({ method, path }) => [
  method,
  `/api/v2${path.replaceAll("_id}", "}")}`,
]);
