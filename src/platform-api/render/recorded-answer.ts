import { profileOfWorld, type World } from "../../platform/world/world.ts";

/** Whether errors of this world have the id of their request. S: the document of December 2024 lacks it. */
export function errorsNameTheirRequest(world: World): boolean {
  return !hasAnswersOf2024(world);
}

/**
 * The body of a successful answer as clients recorded it, in worlds with recorded answers; in others, the body itself.
 * The recordings are in `test/recorded-answers/`.
 */
export function answerAsRecorded(world: World, operationId: string | undefined, body: unknown): unknown {
  if (world.settings.answers !== "recorded" || !isPlain(body)) return body;
  const newer = hasAnswersOf2024(world) ? (NEWER_FIELDS_OF_ANSWERS[operationId ?? ""] ?? []) : [];
  return Array.isArray(body)
    ? body.map((item) => (isPlain(item) ? withoutFields(item, newer) : item))
    : objectsAsRecorded(world, withoutFields(body, newer));
}

function hasAnswersOf2024(world: World): boolean {
  return world.settings.answers === "recorded" && profileOfWorld(world).name === "2024";
}

type Fields = readonly string[];

const NEWER_SETTINGS: Fields = [
  "settings.maintenance_window",
  "settings.block_public_connections",
  "settings.block_vpc_connections",
  "settings.audit_log_level",
  "settings.hipaa",
  "settings.preload_libraries",
];
const NEWER_IN_PROJECT: Fields = [
  ...NEWER_SETTINGS,
  "maintenance_scheduled_for",
  "hipaa_enabled_at",
  "effective_project_permission",
  "owner.name",
];
const NEWER_IN_BRANCH: Fields = [
  "state_changed_at",
  "created_by",
  "init_source",
  "expires_at",
  "ttl_interval_seconds",
  "restore_status",
  "restored_from",
  "restored_as",
  "restricted_actions",
  "recovery",
];
const NEWER_IN_ENDPOINT: Fields = ["name", "started_at", "suspended_at", "settings.preload_libraries"];
const NEWER_IN_ROLE: Fields = ["authentication_method"];
const NEWER_IN_ORGANIZATION: Fields = ["plan", "managed_by", "allow_hipaa_projects", "require_mfa"];

/**
 * S: fields that the document of 2026 has and the one of December 2024 (`@neondatabase/api-client` 1.10.3) lacks, by
 * the property that contains the object or the list of objects. No recording of 2024 has one of these fields.
 */
const NEWER_FIELDS: Readonly<Record<string, Fields>> = {
  project: NEWER_IN_PROJECT,
  projects: [...NEWER_IN_PROJECT, "org_name", "history_retention_seconds", "deleted_at", "recoverable_until"],
  branch: NEWER_IN_BRANCH,
  branches: NEWER_IN_BRANCH,
  endpoint: NEWER_IN_ENDPOINT,
  endpoints: NEWER_IN_ENDPOINT,
  role: NEWER_IN_ROLE,
  roles: NEWER_IN_ROLE,
  organizations: NEWER_IN_ORGANIZATION,
  billing_account: ["state", "plan_details", "spending_limit_cents"],
};

/** S: fields that answers of 2024 lack, for operations whose answer is the object itself or a list of objects. */
const NEWER_FIELDS_OF_ANSWERS: Readonly<Record<string, Fields>> = {
  createApiKey: ["created_by"],
  listApiKeys: ["created_by"],
  revokeApiKey: ["created_by", "created_at"],
  getOrganization: NEWER_IN_ORGANIZATION,
};

/** D: recorded lists of projects lack `locked`, and computes an empty `pg_settings`. The reference has both. */
const CONTRADICTED_FIELDS: Readonly<Record<string, (object: object) => Fields>> = {
  projects: () => ["locked"],
  endpoint: emptySettings,
  endpoints: emptySettings,
};

function emptySettings(endpoint: object): Fields {
  const { settings } = endpoint as { readonly settings?: { readonly pg_settings?: object } };
  return Object.keys(settings?.pg_settings ?? {}).length === 0 ? ["settings.pg_settings"] : [];
}

function objectsAsRecorded(world: World, body: object): object {
  const isOf2024 = hasAnswersOf2024(world);
  return Object.fromEntries(
    Object.entries(body).map(([property, value]) => {
      const newer = isOf2024 ? (NEWER_FIELDS[property] ?? []) : [];
      const recorded = (object: unknown) =>
        isPlain(object)
          ? withoutFields(object, [...newer, ...(CONTRADICTED_FIELDS[property]?.(object) ?? [])])
          : object;
      return [property, Array.isArray(value) ? value.map(recorded) : recorded(value)];
    }),
  );
}

/** A copy without these fields. A path such as `settings.hipaa` names a field of an inner object. */
function withoutFields(object: object, paths: Fields): object {
  if (paths.length === 0) return object;
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      if (paths.includes(name)) return [];
      const inner = paths
        .filter((path) => path.startsWith(`${name}.`))
        .map((path) => path.slice(name.length + 1));
      return [[name, isPlain(value) ? withoutFields(value, inner) : value]];
    }),
  );
}

/** An object or a list of JSON, not a body that is read later. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}
