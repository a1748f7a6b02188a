/**
 * A refusal is an ordinary "no": a code that a caller can switch on, and a sentence that names the facts.
 * No HTTP number lives here; the api room has the one table from code to status.
 */
export type RefusalCode =
  // the object is not there, or belongs to another account (D: told apart by nobody)
  | "ACCOUNT_NOT_FOUND"
  | "API_KEY_NOT_FOUND"
  | "PROJECT_NOT_FOUND"
  | "BRANCH_NOT_FOUND"
  | "ENDPOINT_NOT_FOUND"
  | "OPERATION_NOT_FOUND"
  | "ROLE_NOT_FOUND"
  | "DATABASE_NOT_FOUND"
  | "ORGANIZATION_NOT_FOUND"
  // the name or the place is taken
  | "READ_WRITE_ENDPOINT_EXISTS"
  | "BRANCH_ALREADY_EXISTS"
  | "ID_EXISTS"
  | "API_KEY_EXISTS"
  // understood, but the plan or the rules do not allow it
  | "PLAN_LIMIT_EXCEEDED"
  | "PROJECTS_LIMIT_EXCEEDED"
  | "BRANCHES_LIMIT_EXCEEDED"
  | "COMPUTE_SIZE_NOT_ALLOWED"
  | "SUSPEND_TIMEOUT_NOT_ALLOWED"
  | "BRANCH_IS_DEFAULT"
  | "BRANCH_IS_PROTECTED"
  | "BRANCH_HAS_CHILDREN"
  | "BRANCH_IS_ROOT"
  | "REGION_NOT_SUPPORTED"
  | "PARENT_TIMESTAMP_NOT_ALLOWED"
  | "ENDPOINT_DISABLED"
  // the project is busy
  | "OPERATIONS_IN_PROGRESS"
  // connections, told to the data plane only
  | "TOO_MANY_CONNECTIONS"
  | "CONNECTION_EXISTS"
  | "CONNECTION_NOT_FOUND"
  // worlds, their snapshots and their history
  | "WORLD_NOT_FOUND"
  | "WORLD_EXISTS"
  | "WORLD_IS_DEFAULT"
  | "WORLDS_LIMIT_EXCEEDED"
  | "WORLD_TOO_LARGE"
  | "SNAPSHOT_NOT_FOUND"
  | "SNAPSHOT_EXISTS"
  | "POINT_NOT_REACHED"
  | "HISTORY_FORGOTTEN"
  // the clock
  | "NOT_DUE"
  | "INSTANT_IN_THE_PAST";

export type Refusal = { readonly code: RefusalCode; readonly message: string };

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal };

export function accept<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function refuse(code: RefusalCode, message: string): { readonly ok: false; readonly refusal: Refusal } {
  return { ok: false, refusal: { code, message } };
}
