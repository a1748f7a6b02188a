import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import type { z } from "zod";
import { issueText } from "../input-limits/issue-text.ts";
import type { JsonLimits } from "../input-limits/json-scanner.ts";
import { MAX } from "../input-limits/limits.ts";
import { messageOf } from "../kernel/message-of.ts";
import { findLoneSurrogate, findReservedName } from "../kernel/text.ts";
import type { Result } from "../platform/catalog/refusal-codes.ts";
import {
  CHANGE_UNKNOWN,
  NOTHING_CHANGED,
  StoreUnavailable,
  type WorldHandle,
} from "../worlds/world-handle.ts";
import { type BodyLimits, type RequestBody, readLimitedBody, smallBody } from "./body.ts";
import {
  badRequest,
  CODE_HEADER,
  type ErrorResponse,
  errorBody,
  errorResponseOf,
  shortened,
} from "./errors.ts";

/** An expected error response, thrown to end the handling of a request. */
export class RequestError extends Error {
  readonly response: ErrorResponse;
  constructor(response: ErrorResponse) {
    super(response.message);
    this.response = response;
  }
}

/** What is read of a request to handle it, unless it has a body: a context of hono, or a repeated request. */
export type IncomingCall = {
  readonly req: {
    readonly method: string;
    readonly url: string;
    readonly routePath: string;
    header(name: string): string | undefined;
    param(name: string): string | undefined;
    query(): Record<string, string>;
    /** The path as the request log has it, if it is known. */
    readonly loggedPath?: string;
  };
  readonly env: unknown;
};

/** Finds the world that a request addresses. Throws `RequestError` if there is none. */
export type WorldResolver = (call: IncomingCall) => WorldHandle;

/** Ends the handling of a request with this error response. */
export function fail(response: ErrorResponse): never {
  throw new RequestError(response);
}

/** The value of a result; a refusal ends the handling with its error response. */
export function unwrap<T>(result: Result<T>): T {
  return result.ok ? result.value : fail(errorResponseOf(result.refusal));
}

const JSON_LIMITS: JsonLimits = { levels: MAX.jsonLevels, values: MAX.httpValues };

/**
 * Reads the body up to its limits. `parseJsonBody` reports what exceeds them, after authentication. `admit` is
 * asked before more is read than anyone may send; without it, the caller is known.
 */
export async function readBody(context: Context, limits: Partial<BodyLimits> = {}): Promise<RequestBody> {
  try {
    return await readLimitedBody(context, {
      bytes: MAX.httpBody,
      smallBytes: MAX.httpBodyBeforeLogin,
      admit: async () => true,
      ...JSON_LIMITS,
      ...limits,
    });
  } catch {
    throw bodyEndedEarly();
  }
}

/** The client has closed the connection, so this response rarely arrives. */
export function bodyEndedEarly(): RequestError {
  return new RequestError(badRequest("the request body ended before it was complete"));
}

/** The same for a body of at most `MAX.httpBodyBeforeLogin` bytes that has been read. */
export function bodyOf(bytes: Buffer, contentType: string | undefined): RequestBody {
  return smallBody(bytes, contentType, JSON_LIMITS);
}

/** A NUL character, which Postgres cannot store in text. */
const NUL_ESCAPE = /(?<!\\)(?:\\\\)*\\u0000/;

/** In text that is valid UTF-8, only an escape can produce half of a surrogate pair. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** A name that `findReservedName` may report, or an escape that may spell it. */
const RESERVED_NAME = /__proto__|toString|\\u00[567]/;

/** Error messages for a body whose JSON exceeds a limit. */
const EXCESSES = {
  levels: `must not be nested more than ${MAX.jsonLevels} levels deep`,
  values: `must not contain more than ${MAX.httpValues} values`,
};

/**
 * Parses the body as JSON; `undefined` if it is empty. `maxEntries` limits each list and object. Without it, only the
 * total number of values is limited.
 */
export function parseJsonBody(
  { text, contentType, tooLarge: isTooLarge, isMalformed, excess, isRefused }: RequestBody,
  maxEntries: number = MAX.httpValues,
): unknown {
  if (isTooLarge) return fail(tooLarge(MAX.httpBody));
  // The key of the request has become valid in the meantime.
  if (isRefused) return fail(badRequest("the request body was not read, because the API key was not valid"));
  if (isMalformed === true) return fail(badRequest("the request body is not valid UTF-8"));
  if (excess !== undefined) return fail(badRequest(`request body: ${EXCESSES[excess]}`));
  if (text === "") return undefined;
  if (contentType !== undefined && !/^application\/json\s*(;|$)/i.test(contentType)) {
    return fail(badRequest(`Content-Type: expected application/json, got "${contentType}"`));
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fail(badRequest(`the request body is not valid JSON: ${messageOf(error)}`));
  }
  const reserved = RESERVED_NAME.test(text) ? findReservedName(value) : undefined;
  if (reserved !== undefined) {
    const name = reserved.slice(reserved.lastIndexOf(".") + 1);
    return fail(badRequest(`${reserved}: there is no field "${name}"`));
  }
  const tornField = SURROGATE_ESCAPE.test(text) ? findLoneSurrogate(value) : undefined;
  if (tornField !== undefined)
    return fail(
      badRequest(
        `${tornField || "request body"}: contains half of a surrogate pair, which is not a valid character`,
      ),
    );
  if (NUL_ESCAPE.test(text))
    return fail(badRequest("request body: contains a NUL character (\\u0000), which is not allowed in text"));
  // Each entry has at least two characters, so most bodies need no search.
  const tooLong = text.length < 2 * maxEntries ? undefined : findTooLong(value, maxEntries);
  if (tooLong !== undefined)
    return fail(badRequest(`${tooLong || "request body"}: must have at most ${maxEntries} entries`));
  return value;
}

/** The path of the first list or object with more entries than allowed. Recursive: levels are limited. */
function findTooLong(value: unknown, maxEntries: number): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const entries = Object.entries(value);
  if (entries.length > maxEntries) return "";
  for (const [name, inner] of entries) {
    const path = findTooLong(inner, maxEntries);
    if (path !== undefined) return path === "" ? name : `${name}.${path}`;
  }
  return undefined;
}

/** Parses input by a schema; invalid input ends the handling with 400. */
export function parseInput<S extends z.ZodType>(
  schema: S,
  input: unknown,
  what = "request body",
): z.output<S> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  // Only now with our texts: with a parameter, zod makes an object of a new hidden class for each input.
  const failed = schema.safeParse(input, { error: issueText });
  return failed.success ? failed.data : fail(badRequest(describeIssues(failed.error, what)));
}

/** All problems at once up to a limit, each with its field and what is expected. */
function describeIssues({ issues }: z.ZodError, what: string): string {
  const described = issues
    .slice(0, MAX.issues)
    .map((issue) => `${issue.path.length === 0 ? what : issue.path.map(String).join(".")}: ${issue.message}`)
    .map((text) => shortened(text, MAX.issueCharacters));
  const more = issues.length - described.length;
  return [...described, ...(more === 0 ? [] : [`and ${more} more problems`])].join("; ");
}

/** S: the request's X-Request-ID if it is valid, otherwise a new one. */
export function requestIdOf(context: IncomingCall): string {
  const provided = context.req.header("x-request-id");
  return provided !== undefined && provided.length <= MAX.requestId && /^[\x21-\x7e]+$/.test(provided)
    ? provided
    : randomUUID();
}

/** The response for an error that ended a handler. An unexpected error is a bug, and is reported. */
export function errorResponseFrom(error: unknown, onBug: (error: unknown) => void): ErrorResponse {
  if (error instanceof RequestError) return error.response;
  if (error instanceof StoreUnavailable) {
    const { message, outcome } = error;
    return {
      status: 503,
      code: outcome === CHANGE_UNKNOWN ? "OUTCOME_UNKNOWN" : "STORE_UNAVAILABLE",
      message: `${message}; ${outcome}`,
      // Only a request that has changed nothing can be repeated blindly.
      ...(outcome === NOTHING_CHANGED ? { headers: { "Retry-After": "1" } } : {}),
    };
  }
  onBug(error);
  return {
    status: 500,
    code: "INTERNAL",
    message: "internal error: this is a bug in standin, see its log. Nothing was changed",
  };
}

export function respondWithError(
  context: Context,
  response: ErrorResponse,
  requestId = requestIdOf(context),
): Response {
  const headers = {
    "Content-Type": "application/json",
    "X-Request-ID": requestId,
    [CODE_HEADER]: response.code,
    ...response.headers,
  };
  // Adds the hint to the message. Only the platform API must have the platform's exact messages.
  const message = response.hint === undefined ? response.message : `${response.message}: ${response.hint}`;
  return context.body(errorBody(requestId, { ...response, message }), response.status as 400, headers);
}

/** The rest of the body is not read, so the connection cannot be reused. */
export function tooLarge(limitBytes: number): ErrorResponse {
  return {
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
    message: `the request body must not exceed ${limitBytes} bytes`,
    headers: { Connection: "close" },
  };
}

/**
 * The query parameters. A repeated parameter is an error unless it is one of `lists`. For those, repeating
 * equals separating values by commas (S), and a name may end in `[]`, as the public client writes arrays (C).
 */
export function queryParameters(context: Context, lists: readonly string[] = []): Record<string, string> {
  // Without a prototype, a parameter named `__proto__` is one like any other.
  const parameters: Record<string, string> = Object.create(null);
  const given = new URL(context.req.url).searchParams;
  for (const name of new Set(given.keys())) {
    const values = given.getAll(name);
    const [value, second] = values;
    const list = lists.find((candidate) => name === candidate || name === `${candidate}[]`);
    if (list !== undefined) {
      parameters[list] = [...(parameters[list] === undefined ? [] : [parameters[list]]), ...values].join(",");
      continue;
    }
    if (second !== undefined) fail(badRequest(`${name}: is given more than once`));
    parameters[name] = value ?? "";
  }
  return parameters;
}
