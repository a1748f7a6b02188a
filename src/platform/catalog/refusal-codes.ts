/** Why a command is rejected. The table from code to HTTP status is in `src/http/errors.ts`. */
export type RefusalCode =
  // the object does not exist or belongs to another account (D: the answer does not tell which)
  | "ACCOUNT_NOT_FOUND"
  | "API_KEY_NOT_FOUND"
  | "PROJECT_NOT_FOUND"
  | "BRANCH_NOT_FOUND"
  | "ENDPOINT_NOT_FOUND"
  | "OPERATION_NOT_FOUND"
  | "ROLE_NOT_FOUND"
  | "DATABASE_NOT_FOUND"
  | "ORGANIZATION_NOT_FOUND"
  | "REGION_NOT_FOUND"
  | "JWKS_NOT_FOUND"
  | "VPC_ENDPOINT_NOT_FOUND"
  | "PERMISSION_NOT_FOUND"
  | "TRANSFER_REQUEST_NOT_FOUND"
  | "MEMBER_NOT_FOUND"
  | "INVITATION_NOT_FOUND"
  | "SERVICE_RECORD_NOT_FOUND"
  | "NOT_ENABLED"
  // the name or the place is already in use
  | "READ_WRITE_ENDPOINT_EXISTS"
  | "BRANCH_ALREADY_EXISTS"
  | "ID_EXISTS"
  | "API_KEY_EXISTS"
  | "PERMISSION_EXISTS"
  | "MEMBER_EXISTS"
  | "SERVICE_RECORD_EXISTS"
  | "ROLE_ALREADY_EXISTS"
  | "DATABASE_ALREADY_EXISTS"
  // not allowed by the plan or by the rules
  | "PLAN_LIMIT_EXCEEDED"
  | "PROJECTS_LIMIT_EXCEEDED"
  | "BRANCHES_LIMIT_EXCEEDED"
  | "ROOT_BRANCHES_LIMIT_EXCEEDED"
  | "COMPUTE_SIZE_NOT_ALLOWED"
  | "SUSPEND_TIMEOUT_NOT_ALLOWED"
  | "SUSPEND_TIMEOUT_NOT_PERMITTED"
  | "JWKS_URL_NOT_ALLOWED"
  | "BRANCH_IS_DEFAULT"
  | "BRANCH_IS_PROTECTED"
  | "BRANCH_HAS_CHILDREN"
  | "BRANCH_IS_ROOT"
  | "BRANCH_EXPIRATION_NOT_ALLOWED"
  | "BRANCH_NOT_RECOVERABLE"
  | "RESTORE_NOT_ALLOWED"
  | "HIPAA_NOT_ALLOWED"
  | "LOGICAL_REPLICATION_NOT_ALLOWED"
  | "SNAPSHOTS_LIMIT_EXCEEDED"
  | "SNAPSHOT_EXPIRATION_NOT_ALLOWED"
  | "ENDPOINTS_LIMIT_EXCEEDED"
  | "ROLE_NAME_NOT_ALLOWED"
  | "ROLE_OWNS_DATABASE"
  | "ROLE_HAS_NO_PASSWORD"
  | "DATABASE_NAME_NOT_ALLOWED"
  | "REGION_NOT_SUPPORTED"
  | "PG_VERSION_NOT_SUPPORTED"
  | "PRELOAD_LIBRARY_NOT_AVAILABLE"
  | "PG_SETTING_NOT_AVAILABLE"
  | "PARENT_TIMESTAMP_NOT_ALLOWED"
  | "PARENT_LSN_NOT_ALLOWED"
  | "ENDPOINT_DISABLED"
  | "ENDPOINT_NOT_ACTIVE"
  | "SPAN_EXISTS"
  | "SPAN_NOT_FOUND"
  | "QUOTA_EXCEEDED"
  | "CONSUMPTION_WINDOW"
  | "PLAN_WITHOUT_CONSUMPTION_HISTORY"
  | "VPC_ENDPOINT_NOT_ALLOWED"
  | "TRANSFER_NOT_ALLOWED"
  | "MEMBER_OWNS_ORGANIZATION"
  // visible to this caller, but not permitted
  | "ACCESS_DENIED"
  // S: the receiving account cannot own the project; the answer lists the reasons
  | "LIMITS_UNSATISFIED"
  | "PLAN_NOT_SATISFIED"
  // the project is busy
  | "OPERATIONS_IN_PROGRESS"
  | "BRANCH_NOT_READY"
  // connections, reported to the data plane only
  | "TOO_MANY_CONNECTIONS"
  | "CONNECTION_EXISTS"
  | "CONNECTION_NOT_FOUND"
  // worlds, their snapshots and their history
  | "WORLD_NOT_FOUND"
  | "WORLD_EXISTS"
  | "WORLD_IS_DEFAULT"
  | "WORLDS_LIMIT_EXCEEDED"
  | "WORLD_TOO_LARGE"
  | "WORLD_MOVED"
  | "WORLD_HAS_DATA"
  | "ARRIVAL_NOT_FOUND"
  | "ARRIVAL_REFUSED"
  | "SNAPSHOT_NOT_FOUND"
  | "SNAPSHOT_EXISTS"
  | "POINT_NOT_REACHED"
  | "HISTORY_FORGOTTEN"
  | "DATA_DELETED"
  | "DATA_LIMIT_EXCEEDED"
  | "FAULT_NOT_FOUND"
  // the clock
  | "NOT_DUE"
  | "INSTANT_IN_THE_PAST";

/** A reason why an account cannot own a project. */
export type Shortfall = {
  readonly name: "projects_count" | "subscription_type";
  readonly code: RefusalCode;
  readonly message: string;
  readonly expected: string;
  readonly actual: string;
};

export type Refusal = {
  readonly code: RefusalCode;
  readonly message: string;
  /** Additional advice for a person. It is not part of the message, because programs compare messages. */
  readonly hint?: string;
  readonly shortfalls?: readonly Shortfall[];
  /** The projects that prevent a transfer, if the caller named several. */
  readonly projectIds?: readonly string[];
};

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

/** The result of a check that passes. */
export const ACCEPTED: Result<undefined> = { ok: true, value: undefined };

export function accept<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function refuse(
  code: RefusalCode,
  message: string,
  more: Pick<Refusal, "hint" | "shortfalls"> = {},
): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { code, message, ...more } };
}
