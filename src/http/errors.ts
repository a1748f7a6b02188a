import { MAX } from "../input-limits/limits.ts";
import type { Refusal, RefusalCode } from "../platform/catalog/refusal-codes.ts";

/** The HTTP status of every refusal code (`docs/evidence.md`). */
const STATUS_OF = {
  ACCOUNT_NOT_FOUND: 404,
  API_KEY_NOT_FOUND: 404,
  PROJECT_NOT_FOUND: 404,
  BRANCH_NOT_FOUND: 404,
  ENDPOINT_NOT_FOUND: 404,
  OPERATION_NOT_FOUND: 404,
  ROLE_NOT_FOUND: 404,
  DATABASE_NOT_FOUND: 404,
  ORGANIZATION_NOT_FOUND: 404,
  REGION_NOT_FOUND: 404,
  JWKS_NOT_FOUND: 404,
  VPC_ENDPOINT_NOT_FOUND: 404,
  PERMISSION_NOT_FOUND: 404,
  TRANSFER_REQUEST_NOT_FOUND: 404,
  MEMBER_NOT_FOUND: 404,
  INVITATION_NOT_FOUND: 404,
  SERVICE_RECORD_NOT_FOUND: 404,
  NOT_ENABLED: 404,
  READ_WRITE_ENDPOINT_EXISTS: 409,
  BRANCH_ALREADY_EXISTS: 409,
  ID_EXISTS: 409,
  API_KEY_EXISTS: 409,
  PERMISSION_EXISTS: 409,
  MEMBER_EXISTS: 409,
  SERVICE_RECORD_EXISTS: 409,
  ROLE_ALREADY_EXISTS: 409,
  DATABASE_ALREADY_EXISTS: 409,
  PLAN_LIMIT_EXCEEDED: 422,
  PROJECTS_LIMIT_EXCEEDED: 422,
  BRANCHES_LIMIT_EXCEEDED: 422,
  ROOT_BRANCHES_LIMIT_EXCEEDED: 422, // D
  COMPUTE_SIZE_NOT_ALLOWED: 422,
  SUSPEND_TIMEOUT_NOT_ALLOWED: 422,
  SUSPEND_TIMEOUT_NOT_PERMITTED: 412, // D
  JWKS_URL_NOT_ALLOWED: 400,
  BRANCH_IS_DEFAULT: 422,
  BRANCH_IS_PROTECTED: 422,
  HIPAA_NOT_ALLOWED: 400, // C
  LOGICAL_REPLICATION_NOT_ALLOWED: 400, // C
  BRANCH_HAS_CHILDREN: 422,
  BRANCH_IS_ROOT: 422,
  BRANCH_EXPIRATION_NOT_ALLOWED: 422,
  BRANCH_NOT_RECOVERABLE: 422,
  RESTORE_NOT_ALLOWED: 422,
  SNAPSHOTS_LIMIT_EXCEEDED: 422,
  SNAPSHOT_EXPIRATION_NOT_ALLOWED: 422,
  ENDPOINTS_LIMIT_EXCEEDED: 422,
  ROLE_NAME_NOT_ALLOWED: 422,
  ROLE_OWNS_DATABASE: 422,
  ROLE_HAS_NO_PASSWORD: 422,
  DATABASE_NAME_NOT_ALLOWED: 422,
  REGION_NOT_SUPPORTED: 422,
  PG_VERSION_NOT_SUPPORTED: 422,
  PRELOAD_LIBRARY_NOT_AVAILABLE: 422,
  PG_SETTING_NOT_AVAILABLE: 422,
  PARENT_TIMESTAMP_NOT_ALLOWED: 422,
  PARENT_LSN_NOT_ALLOWED: 422,
  ENDPOINT_DISABLED: 422,
  QUOTA_EXCEEDED: 422,
  CONSUMPTION_WINDOW: 406,
  PLAN_WITHOUT_CONSUMPTION_HISTORY: 403,
  VPC_ENDPOINT_NOT_ALLOWED: 422,
  TRANSFER_NOT_ALLOWED: 422,
  MEMBER_OWNS_ORGANIZATION: 422,
  // A: the API description has no 403. It separates objects that are visible but forbidden from invisible
  // ones, which are 404.
  ACCESS_DENIED: 403,
  LIMITS_UNSATISFIED: 406,
  PLAN_NOT_SATISFIED: 406,
  OPERATIONS_IN_PROGRESS: 423,
  BRANCH_NOT_READY: 422, // C
  TOO_MANY_CONNECTIONS: 422,
  CONNECTION_EXISTS: 409,
  ENDPOINT_NOT_ACTIVE: 409,
  SPAN_EXISTS: 409,
  SPAN_NOT_FOUND: 404,
  CONNECTION_NOT_FOUND: 404,
  WORLD_NOT_FOUND: 404,
  WORLD_EXISTS: 409,
  WORLD_IS_DEFAULT: 422,
  WORLDS_LIMIT_EXCEEDED: 422,
  WORLD_TOO_LARGE: 422,
  // With Retry-After: the router sends the next attempt to the other server.
  WORLD_MOVED: 503,
  WORLD_HAS_DATA: 422,
  ARRIVAL_NOT_FOUND: 404,
  ARRIVAL_REFUSED: 422,
  SNAPSHOT_NOT_FOUND: 404,
  SNAPSHOT_EXISTS: 409,
  POINT_NOT_REACHED: 422,
  HISTORY_FORGOTTEN: 422,
  DATA_DELETED: 422,
  DATA_LIMIT_EXCEEDED: 422,
  FAULT_NOT_FOUND: 404,
  NOT_DUE: 422,
  INSTANT_IN_THE_PAST: 400,
} as const satisfies Record<RefusalCode, number>;

/** Errors of the HTTP layer, before any rule of the platform applies. */
const BOUNDARY_CODES = [
  "UNAUTHORIZED",
  "BAD_REQUEST",
  "PAYLOAD_TOO_LARGE",
  "UNKNOWN_PATH",
  "METHOD_NOT_ALLOWED",
  "TOO_MANY_REQUESTS",
  "NOT_IMITATED",
  "STORE_UNAVAILABLE",
  "OUTCOME_UNKNOWN",
  "INTERNAL",
  "PASSWORDS_NOT_STORED",
  "SECRET_NOT_STORED",
  "SCHEMA_UNAVAILABLE",
  "FORBIDDEN",
  "TIMED_OUT",
  "NOTHING_DUE",
  "NOT_RECORDABLE",
  "NO_RUN",
] as const;
type BoundaryCode = (typeof BOUNDARY_CODES)[number];

/** All error codes, except those that a fault defines. */
export const ERROR_CODES: readonly string[] = [...Object.keys(STATUS_OF), ...BOUNDARY_CODES];

const KNOWN_CODES: ReadonlySet<string> = new Set(ERROR_CODES);

/** The header that names the code of an error. */
export const CODE_HEADER = "X-Standin-Code";

/** The row of a code on the page of errors, relative to the documentation; `undefined` for codes that only a fault has. */
export function errorPage(code: string): string | undefined {
  return KNOWN_CODES.has(code) ? `reference/errors.md#${code.toLowerCase()}` : undefined;
}

/** An error response; `code` and `message` go into the body with the request's id (S: GeneralError). */
export type ErrorResponse = {
  readonly status: number;
  readonly code: RefusalCode | BoundaryCode;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** For a person who reads the response; see `Refusal`. */
  readonly hint?: string;
  /** Replaces the ordinary body where the API description defines another one. */
  readonly body?: unknown;
};

const NO_INTEGRATION = "none";

export function errorResponseOf(refusal: Refusal): ErrorResponse {
  const status = STATUS_OF[refusal.code];
  const response = {
    status,
    code: refusal.code,
    message: refusal.message,
    ...(status === 503 ? { headers: { "Retry-After": "1" } } : {}),
    ...(refusal.hint === undefined ? {} : { hint: refusal.hint }),
  };
  const { shortfalls, projectIds } = refusal;
  // S: the 422 of a transfer of several projects lists them with their integrations. A: projects here have
  // none, so a project that is refused for another reason names none.
  if (projectIds !== undefined)
    return { ...response, body: { projects: projectIds.map((id) => ({ id, integration: NO_INTEGRATION })) } };
  if (shortfalls === undefined) return response;
  // S: the two calls that transfer projects report the reasons in different shapes.
  const limits = shortfalls.map(({ name, expected, actual }) => ({ name, expected, actual }));
  const reasons = shortfalls.map(({ code, message }) => ({ code, message }));
  return { ...response, body: refusal.code === "LIMITS_UNSATISFIED" ? { limits } : { reasons } };
}

export function badRequest(message: string): ErrorResponse {
  return { status: 400, code: "BAD_REQUEST", message };
}

export function notImitated(message: string): ErrorResponse {
  return { status: 501, code: "NOT_IMITATED", message };
}

/**
 * D for 400, 401, 404, A for the others: the platform leaves `code` empty. What it names is in public sources
 * (`docs/evidence.md`).
 */
const STATUSES_WITHOUT_CODE: ReadonlySet<number> = new Set([400, 401, 404, 412, 423]);

/** Codes of refusals that the platform does not send, although their status has none. */
const CODES_WITHOUT_NAME: ReadonlySet<string> = new Set([
  ...Object.entries(STATUS_OF).flatMap(([code, status]) => (STATUSES_WITHOUT_CODE.has(status) ? [code] : [])),
  "BRANCH_NOT_READY",
  "BAD_REQUEST",
  "UNAUTHORIZED",
  "UNKNOWN_PATH",
  "NOT_FOUND",
]);

/** The `code` in a body of the platform API. */
export function publishedCodeOf(code: string): string {
  return CODES_WITHOUT_NAME.has(code) ? "" : code;
}

/** S: the body of every error. In JSON, an undefined id is absent. */
export function errorBody(
  requestId: string | undefined,
  { code, message }: { readonly code: string; readonly message: string },
): string {
  return JSON.stringify({ request_id: requestId, code, message: shortened(message, MAX.messageCharacters) });
}

/** The beginning of a text that is longer than allowed. */
export function shortened(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters - 1)}…` : text;
}
