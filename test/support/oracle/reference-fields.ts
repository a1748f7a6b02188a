// The fields of answers, by the tables of the reference. It shares no code with src.

/** Content of a field: a value of a kind, or one of a list of values. */
type Kind = keyof typeof KINDS;
type Value = Kind | readonly (string | number | boolean)[];
/** Content of each field. A field must be present unless it is `absent` or `optional`. Other fields are not checked. */
export type Fields = Readonly<Record<string, Value | "absent" | { readonly optional: Value }>>;

/** ISO 8601 in UTC. */
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const KINDS = {
  string: (value: unknown) => typeof value === "string",
  number: (value: unknown) => typeof value === "number",
  integer: (value: unknown) => Number.isInteger(value),
  boolean: (value: unknown) => typeof value === "boolean",
  object: (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value),
  timestamp: isTimestamp,
  "timestamp or null": (value: unknown) => value === null || isTimestamp(value),
  uuid: (value: unknown) => typeof value === "string" && UUID.test(value),
  "id of a compute": (value: unknown) => typeof value === "string" && value.startsWith("ep-"),
} satisfies Record<string, (value: unknown) => boolean>;

/** The fields that are not as the table says. */
export function wrongFields(answer: Readonly<Record<string, unknown>>, fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, expected]) => {
    const value = answer[name];
    if (expected === "absent") return value === undefined ? [] : [`${name} must be absent`];
    if (typeof expected === "object" && "optional" in expected)
      return value === undefined || isOf(value, expected.optional) ? [] : [wrong(name, value)];
    return isOf(value, expected) ? [] : [wrong(name, value)];
  });
}

function isTimestamp(value: unknown): boolean {
  return typeof value === "string" && TIMESTAMP.test(value);
}

function isOf(value: unknown, expected: Value): boolean {
  return typeof expected === "string"
    ? KINDS[expected](value)
    : (expected as readonly unknown[]).includes(value);
}

function wrong(name: string, value: unknown): string {
  return `${name} is ${JSON.stringify(value)}`;
}

/** Fields of a compute in a list. `last_active` is absent before its first activity. */
export const LISTED_COMPUTE: Fields = {
  id: "id of a compute",
  host: "string",
  project_id: "string",
  branch_id: "string",
  region_id: "string",
  type: ["read_write", "read_only"],
  autoscaling_limit_min_cu: "number",
  autoscaling_limit_max_cu: "number",
  current_state: ["init", "active", "idle"],
  pending_state: "absent",
  settings: "object",
  pooler_enabled: "boolean",
  pooler_mode: ["transaction"],
  disabled: "boolean",
  passwordless_access: "boolean",
  last_active: { optional: "timestamp" },
  created_at: "timestamp",
  updated_at: "timestamp",
  proxy_host: "string",
};
export const NEW_COMPUTE: Fields = {
  ...LISTED_COMPUTE,
  current_state: ["init"],
  pending_state: ["active"],
  last_active: "absent",
};
export const UPDATED_COMPUTE: Fields = { ...LISTED_COMPUTE, pending_state: ["active", "idle", "init"] };

export const OPERATION: Fields = {
  id: "uuid",
  project_id: "string",
  branch_id: "string",
  endpoint_id: "id of a compute",
  action: ["start_compute", "apply_config", "suspend_compute"],
  status: ["running", "scheduling"],
  failures_count: [0],
  created_at: "timestamp",
  updated_at: "timestamp",
};

export const CREATED_KEY: Fields = { id: "integer", key: "string" };
export const LISTED_KEY: Fields = {
  id: "integer",
  key: "absent",
  name: "string",
  created_at: "timestamp",
  last_used_at: "timestamp or null",
  last_used_from_addr: "string",
};
export const REVOKED_KEY: Fields = {
  id: "integer",
  key: "absent",
  name: "string",
  revoked: [true],
  last_used_at: "timestamp or null",
  last_used_from_addr: "string",
};

export const LISTED_PROJECT: Fields = {
  id: "string",
  name: "string",
  platform_id: "string",
  region_id: "string",
  provisioner: "string",
  pg_version: "integer",
  locked: "boolean",
  cpu_used_sec: "integer",
  branch_logical_size_limit: "integer",
  proxy_host: "string",
  created_at: "timestamp",
  updated_at: "timestamp",
};

/** S: the reference does not give the body of an error. */
export const ERROR: Fields = { request_id: "string", code: "string", message: "string" };
