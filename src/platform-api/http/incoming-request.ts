import type { RequestBody } from "../../http/body.ts";
import { type ErrorResponse, publishedCodeOf } from "../../http/errors.ts";
import { type IncomingCall, RequestError } from "../../http/request.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { FaultTarget } from "../../platform/model/fault.ts";
import type { DescribedRequest } from "../../simulation/request-log.ts";
import type { ReadScope } from "../../simulation/undurable-rows.ts";
import type { Transaction, WorldHandle } from "../../worlds/world-handle.ts";
import { type AuthenticatedCaller, authenticate } from "./authenticate.ts";
import { type MatchedFault, waitOutDelays } from "./fault-middleware.ts";
import { LaterBody } from "./later-body.ts";
import { idsInResponse, redactedBody, redactedPath } from "./request-journal.ts";

/** A response: a body as an object or as JSON text, or an error. */
export type RouteResponse =
  | { readonly status: number; readonly body: unknown }
  | ErrorResponse
  | NonNullable<MatchedFault["answer"]>;
/**
 * A response, or a connection that a fault drops. `unsentResponse`: the request was handled before the drop.
 */
export type RouteResult =
  | RouteResponse
  | { readonly lostBy: string; readonly unsentResponse?: RouteResponse };
export type AuthenticatedHandler = (transaction: Transaction, caller: AuthenticatedCaller) => RouteResponse;

export function isSuccess(result: RouteResult): result is Exclude<RouteResponse, ErrorResponse> {
  return "status" in result && !("code" in result) && result.status < 300;
}

/** A request that has been handled. */
export type Decided = {
  readonly requestId: string;
  /** Whether the body of an error has the id, too. */
  readonly namesRequest: boolean;
  /** `undefined` if the request names no world that can be opened. */
  readonly world: WorldHandle | undefined;
  readonly result: RouteResult;
};

/** A request that is being handled. */
export type IncomingRequest = {
  readonly context: IncomingCall;
  readonly requestId: string;
  readonly input: RequestBody | undefined;
  readonly operation: string | undefined;
  /** Set after authentication. */
  caller?: AuthenticatedCaller;
  matchedFault?: MatchedFault | undefined;
  /** Whether the rate limit has counted it. */
  isCounted?: boolean;
};

/**
 * Handles a delayed request in a transaction of its own. Authenticates again: the key may have been revoked
 * in the meantime.
 */
export async function handleAfterDelay(
  world: WorldHandle,
  request: IncomingRequest,
  handle: AuthenticatedHandler,
): Promise<RouteResult> {
  await waitOutDelays(world, request.matchedFault?.delays ?? []);
  return world.transact((transaction) => {
    const result = catchRefusal(() =>
      respond(transaction, request, authenticate(transaction, request.context), handle),
    );
    journalRequest(transaction, request, result);
    return result;
  });
}

/** Handles the request, or does what a fault says instead. */
export function respond(
  transaction: Transaction,
  { matchedFault }: IncomingRequest,
  caller: AuthenticatedCaller,
  handle: AuthenticatedHandler,
): RouteResult {
  if (matchedFault?.answer !== undefined) return matchedFault.answer;
  if (matchedFault?.lost === "before") return { lostBy: matchedFault.faultName };
  if (matchedFault?.lost === undefined) return handle(transaction, caller);
  const unsentResponse = catchRefusal(() => handle(transaction, caller));
  return { lostBy: matchedFault.faultName, unsentResponse };
}

/** Returns a `RequestError` as a response. An error that leaves a transaction would count as a bug. */
export function catchRefusal<T>(work: () => T): T | ErrorResponse {
  try {
    return work();
  } catch (error) {
    if (error instanceof RequestError) return error.response;
    throw error;
  }
}

export function faultTargetOf(
  { context, operation }: IncomingRequest,
  { principal: { account, scope } }: AuthenticatedCaller,
): FaultTarget {
  const { req } = context;
  const [projectId, branchId, endpointId] = [
    req.param("project_id"),
    req.param("branch_id"),
    req.param("endpoint_id"),
  ];
  return {
    kind: "request",
    operation,
    method: req.method === "HEAD" ? "GET" : req.method,
    ...omitUndefined({ projectId, branchId, endpointId }),
    accountId: account.id,
    organizationId: organizationIn(context, req.query()) ?? scope?.organizationId ?? account.organizationId,
  };
}

/**
 * The rows that the answer to a read depends on; `undefined` for the whole world. Reads wait for commits of these rows
 * only.
 */
export function readScopeOf({ context: { req }, caller }: IncomingRequest): ReadScope | undefined {
  // A list of keys, and a caller without one.
  if (caller === undefined || req.routePath.includes("/api_keys")) return undefined;
  const id = req.param("project_id");
  return { project: id === undefined ? "any" : { id }, keyId: caller.keyId };
}

export type ResultWithLaterBody = { readonly status: number; readonly body: LaterBody };

export function hasLaterBody(result: RouteResult): result is ResultWithLaterBody {
  return "body" in result && result.body instanceof LaterBody;
}

/** Writes the request log, unless the rest of the response is read later and may fail. Bodies and ids are stored only for requests that may change something. */
export function journalRequest(
  transaction: Transaction,
  request: IncomingRequest,
  result: RouteResult,
): void {
  if (!hasLaterBody(result)) transaction.logRequest(() => describeRequest(request, result));
}

function describeRequest(
  { context, requestId, input, operation, caller, matchedFault }: IncomingRequest,
  result: RouteResult,
): DescribedRequest {
  const { method, url, loggedPath } = context.req;
  const entry: { -readonly [K in keyof DescribedRequest]: DescribedRequest[K] } = {
    requestId,
    method,
    path: loggedPath ?? redactedPath(url),
  };
  if (operation !== undefined) entry.operationId = operation;
  if (caller !== undefined) {
    entry.accountId = caller.principal.account.id;
    if (caller.keyId !== undefined) entry.keyId = caller.keyId;
  }
  if (matchedFault !== undefined) entry.fault = matchedFault.faultName;
  const response = "lostBy" in result ? result.unsentResponse : result;
  if (!("lostBy" in result)) entry.status = result.status;
  if (response !== undefined && "code" in response) entry.code = response.code;
  // Bodies of requests without a valid key are not stored: anyone could fill the log with them.
  if (caller !== undefined && method !== "GET" && method !== "HEAD") {
    const body = input && redactedBody(input);
    if (body !== undefined) entry.body = body;
    const responseIds =
      response !== undefined && "body" in response ? idsInResponse(response.body) : undefined;
    if (responseIds !== undefined) entry.answered = responseIds;
  }
  return entry;
}

/** The organization that the path or the query names. */
export function organizationIn(context: IncomingCall, query: unknown): string | undefined {
  const pathOrganizationId = context.req.param("org_id") ?? context.req.param("source_org_id");
  return pathOrganizationId ?? (query as { org_id?: string } | undefined)?.org_id;
}

/** Gives the 404 of a handler the body that its operation defines. */
export function describeNotFound(
  fields: object | undefined,
  handle: AuthenticatedHandler,
): AuthenticatedHandler {
  if (fields === undefined) return handle;
  return (transaction, caller) => {
    const result = catchRefusal(() => handle(transaction, caller));
    if (result.status !== 404 || !("code" in result) || "body" in result) return result;
    const { code, message } = result;
    return { ...result, body: { code: publishedCodeOf(code), message, ...fields } };
  };
}
