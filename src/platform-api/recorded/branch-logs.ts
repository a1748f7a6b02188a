import * as z from "zod";
import { instant, parsedText } from "../../http/fields.ts";
import { RequestError } from "../../http/request.ts";
import { DAY, HOUR, parseDuration } from "../../kernel/time.ts";
import { branchParams, requestedBranch } from "../http/branch-request.ts";
import { integerParameter } from "../http/paging.ts";
import { type ApiRoute, route } from "../http/route.ts";

const MAX_WINDOW_MS = 7 * DAY; // C
const MAX_RECORDS = 1_000; // C

const duration = parsedText(parseDuration, "must be a count and a unit (ms, s, m, h, d), such as 30m");
const source = z.enum(["function", "storage", "pg_endpoint"]);
const window = { since: duration.optional(), start_time: instant.optional(), end_time: instant.optional() };
const filters = {
  source: source.optional(),
  service_name: z.string().optional(),
  scope_name: z.string().optional(),
  minimum_severity: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]).optional(),
  severity_text: z.string().optional(),
  body_contains: z.string().optional(),
  trace_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/, "must be 32 lowercase hexadecimal digits")
    .optional(),
};

/**
 * C: logs of a branch, in newer clients. A: nothing here emits a record in the platform's form, so a query that is
 * valid finds none, and no field has been observed.
 */
export function branchLogRoutes(): readonly ApiRoute[] {
  return [queryProjectBranchLogs, listProjectBranchLogFields, listProjectBranchLogFieldValues];
}

const notFound = { reason: "branch_not_found" };

const queryProjectBranchLogs = route(
  "POST /projects/:project_id/branches/:branch_id/logs/query",
  {
    permission: "read",
    params: branchParams,
    notFound,
    body: z.object({
      ...window,
      ...filters,
      limit: z.int().min(1).max(MAX_RECORDS).optional(),
      cursor: z.string().optional(),
      sort_order: z.enum(["asc", "desc"]).optional(),
      logql: z.string().optional(),
    }),
  },
  (request) => {
    requestedBranch(request);
    const { body } = request;
    checkWindow(body, request.transaction.now, HOUR);
    if (body.logql !== undefined && Object.keys(filters).some((name) => name in body))
      reject("conflicting_filters", "logql: cannot be combined with other filters");
    if (body.cursor !== undefined)
      reject("invalid_cursor", "cursor: not a cursor of this query, which has one page; omit it");
    return { logs: [], is_truncated: false };
  },
);

const listProjectBranchLogFields = route(
  "GET /projects/:project_id/branches/:branch_id/logs/fields",
  { params: branchParams, notFound },
  (request) => {
    requestedBranch(request);
    return { fields: [] };
  },
);

const listProjectBranchLogFieldValues = route(
  "GET /projects/:project_id/branches/:branch_id/logs/fields/:field_name/values",
  {
    params: branchParams.extend({ field_name: z.string() }),
    notFound,
    query: z.object({
      ...window,
      source: source.optional(),
      limit: integerParameter(1, MAX_RECORDS).optional(),
    }),
  },
  (request) => {
    requestedBranch(request);
    checkWindow(request.query, request.transaction.now, 6 * HOUR);
    return reject(
      "unknown_field",
      `field_name: the logs of this branch have no field "${request.params.field_name}"`,
    );
  },
);

type Window = { readonly [K in keyof typeof window]?: z.output<(typeof window)[K]> };

function checkWindow({ since, start_time, end_time }: Window, now: number, defaultMs: number): void {
  if (since !== undefined && start_time !== undefined)
    reject("conflicting_time_range", "since and start_time cannot be combined");
  const end = end_time ?? now;
  const length = start_time === undefined ? (since ?? defaultMs) : end - start_time;
  if (length <= 0) reject("invalid_time_range", "end_time: must be after start_time");
  if (length > MAX_WINDOW_MS) reject("time_range_too_large", "the time range must not exceed 7 days");
}

/** C: a query that cannot be served has its reason in a field of its own. */
function reject(reason: string, message: string): never {
  const code = "BAD_REQUEST";
  throw new RequestError({ status: 400, code, message, body: { code, message, reason } });
}
