/**
 * The fields that the vendor's published answers always have, with their types. Sources: the examples of the
 * public document (`public-v2-for-users.gen.yaml` in `@neondatabase/api-client`), the answers of 2025 in the
 * vendor's rule files for assistants (`neon-rest-api/*.md`), and those of 2026 in its API reference
 * (neon.com/docs/reference/api). The public document marks most of them optional; clients rely on them.
 *
 * Left out: `slug` and `project_slug` of 2026, which the public document does not declare, and fields that
 * depend on a state, such as `compute_last_active_at` before the first activity.
 */

type FieldType = "string" | "instant" | "integer" | "number" | "boolean" | "array" | "object";
export type FieldTypes = Readonly<Record<string, FieldType>>;

const SHARED_PROJECT_FIELDS: FieldTypes = {
  id: "string",
  platform_id: "string",
  region_id: "string",
  name: "string",
  provisioner: "string",
  "default_endpoint_settings.autoscaling_limit_min_cu": "number",
  "default_endpoint_settings.autoscaling_limit_max_cu": "number",
  "default_endpoint_settings.suspend_timeout_seconds": "integer",
  "settings.allowed_ips.ips": "array",
  "settings.allowed_ips.protected_branches_only": "boolean",
  "settings.enable_logical_replication": "boolean",
  "settings.maintenance_window.weekdays": "array",
  "settings.maintenance_window.start_time": "string",
  "settings.maintenance_window.end_time": "string",
  "settings.block_public_connections": "boolean",
  "settings.block_vpc_connections": "boolean",
  "settings.hipaa": "boolean",
  pg_version: "integer",
  proxy_host: "string",
  branch_logical_size_limit: "integer",
  branch_logical_size_limit_bytes: "integer",
  store_passwords: "boolean",
  cpu_used_sec: "integer",
  creation_source: "string",
  history_retention_seconds: "integer",
  created_at: "instant",
  updated_at: "instant",
  synthetic_storage_size: "integer",
  owner_id: "string",
  org_id: "string",
};

/** Published fields by kind of object. */
export const PUBLISHED_FIELDS = {
  "project in a list": { ...SHARED_PROJECT_FIELDS, active_time: "integer", quota_reset_at: "instant" },
  project: {
    ...SHARED_PROJECT_FIELDS,
    data_storage_bytes_hour: "integer",
    data_transfer_bytes: "integer",
    written_data_bytes: "integer",
    compute_time_seconds: "integer",
    active_time_seconds: "integer",
    consumption_period_start: "instant",
    consumption_period_end: "instant",
  },
  branch: {
    id: "string",
    project_id: "string",
    name: "string",
    current_state: "string",
    state_changed_at: "instant",
    creation_source: "string",
    primary: "boolean",
    default: "boolean",
    protected: "boolean",
    logical_size: "integer",
    cpu_used_sec: "integer",
    compute_time_seconds: "integer",
    active_time_seconds: "integer",
    written_data_bytes: "integer",
    data_transfer_bytes: "integer",
    created_at: "instant",
    updated_at: "instant",
    "created_by.name": "string",
    "created_by.image": "string",
    init_source: "string",
  },
  "branch with a parent": { parent_id: "string", parent_lsn: "string", parent_timestamp: "instant" },
  endpoint: {
    host: "string",
    id: "string",
    project_id: "string",
    branch_id: "string",
    autoscaling_limit_min_cu: "number",
    autoscaling_limit_max_cu: "number",
    region_id: "string",
    type: "string",
    current_state: "string",
    settings: "object",
    pooler_enabled: "boolean",
    pooler_mode: "string",
    disabled: "boolean",
    passwordless_access: "boolean",
    creation_source: "string",
    created_at: "instant",
    updated_at: "instant",
    proxy_host: "string",
    suspend_timeout_seconds: "integer",
    provisioner: "string",
  },
  operation: {
    id: "string",
    project_id: "string",
    action: "string",
    status: "string",
    failures_count: "integer",
    created_at: "instant",
    updated_at: "instant",
    total_duration_ms: "integer",
  },
  role: {
    branch_id: "string",
    name: "string",
    protected: "boolean",
    authentication_method: "string",
    created_at: "instant",
    updated_at: "instant",
  },
  database: {
    id: "integer",
    branch_id: "string",
    name: "string",
    owner_name: "string",
    created_at: "instant",
    updated_at: "instant",
  },
  "connection URI": {
    connection_uri: "string",
    "connection_parameters.database": "string",
    "connection_parameters.password": "string",
    "connection_parameters.role": "string",
    "connection_parameters.host": "string",
    "connection_parameters.pooler_host": "string",
  },
  "API key in a list": {
    id: "integer",
    name: "string",
    created_at: "instant",
    "created_by.id": "string",
    "created_by.name": "string",
    "created_by.image": "string",
    last_used_from_addr: "string",
  },
  "created API key": {
    id: "integer",
    key: "string",
    name: "string",
    created_at: "instant",
    created_by: "string",
  },
  "revoked API key": {
    id: "integer",
    name: "string",
    created_at: "instant",
    created_by: "string",
    last_used_from_addr: "string",
    revoked: "boolean",
  },
} as const satisfies Readonly<Record<string, FieldTypes>>;

export type PublishedObject = keyof typeof PUBLISHED_FIELDS;
type Found = readonly [PublishedObject, Readonly<Record<string, unknown>>];

/** The kind of object under each name of an answer, alone or in a list. */
const KIND_OF: Readonly<Record<string, PublishedObject>> = {
  project: "project",
  projects: "project in a list",
  branch: "branch",
  branches: "branch",
  endpoint: "endpoint",
  endpoints: "endpoint",
  operation: "operation",
  operations: "operation",
  role: "role",
  roles: "role",
  database: "database",
  databases: "database",
  connection_uris: "connection URI",
};

/** Answers that are an object or a list of objects by themselves. */
const KIND_OF_ANSWER: Readonly<Record<string, PublishedObject>> = {
  listApiKeys: "API key in a list",
  listOrgApiKeys: "API key in a list",
  createApiKey: "created API key",
  createOrgApiKey: "created API key",
  revokeApiKey: "revoked API key",
  revokeOrgApiKey: "revoked API key",
};

/** Operations that use the same names for other things: ids in histories, VPC endpoints, roles of members. */
const WITHOUT_OBJECTS = /^getConsumptionHistory|VPCEndpoint|OrganizationMember/;

/** All published objects in the answer to an operation. */
export function publishedObjectsIn(operationId: string, body: unknown): Found[] {
  if (WITHOUT_OBJECTS.test(operationId) || typeof body !== "object" || body === null) return [];
  const kind = KIND_OF_ANSWER[operationId];
  if (kind !== undefined) return listOf(body).map((object) => [kind, object]);
  return Object.entries(body).flatMap(([name, value]) => {
    const kind = KIND_OF[name];
    if (kind === undefined || value === null) return [];
    return listOf(value).flatMap((object): Found[] =>
      kind === "branch" && object["parent_id"] !== undefined
        ? [
            [kind, object],
            ["branch with a parent", object],
          ]
        : [[kind, object]],
    );
  });
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return (Array.isArray(value) ? value : [value]) as readonly Readonly<Record<string, unknown>>[];
}

/** The fields that an object lacks or has with another type, as `<kind>.<path>: <what it is>`. */
export function missingFields([kind, object]: Found): string[] {
  return wrongFields(kind, object, PUBLISHED_FIELDS[kind]);
}

/** The fields that are absent or of another type, each by its path below `place`. */
export function wrongFields(place: string, object: unknown, types: FieldTypes): string[] {
  return Object.entries(types).flatMap(([path, type]) => {
    const value = path
      .split(".")
      .reduce<unknown>((part, name) => (part as Record<string, unknown> | null | undefined)?.[name], object);
    return isOfType(value, type) ? [] : [`${place}.${path}: ${JSON.stringify(value) ?? "absent"}`];
  });
}

function isOfType(value: unknown, type: FieldType): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (type === "instant") return typeof value === "string" && !Number.isNaN(Date.parse(value));
  return typeof value === type;
}
