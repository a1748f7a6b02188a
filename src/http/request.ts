import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import type { z } from "zod";
import { findLoneSurrogate } from "../platform/core/text.ts";
import type { Result } from "../platform/refusals.ts";
import { StoreUnavailable, type WorldHandle } from "../worlds/world-handle.ts";
import { badRequest, type ErrorResponse, errorBody, errorResponseOf } from "./errors.ts";

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_REQUEST_ID_LENGTH = 128;

/** An ordinary "no" on its way out of a handler: carries the answer past the rest of it. */
export class RequestError extends Error {
  readonly response: ErrorResponse;
  constructor(response: ErrorResponse) {
    super(response.message);
    this.response = response;
  }
}

/** The world that a request is for; ends its handling where there is none. */
export type WorldResolver = (context: Context) => WorldHandle;

/** Ends the handling of a request with this error. */
export function fail(response: ErrorResponse): never {
  throw new RequestError(response);
}

/** The value of a decision or look-up; a refusal ends the handling with the answer that belongs to it. */
export function unwrap<T>(result: Result<T>): T {
  return result.ok ? result.value : fail(errorResponseOf(result.refusal));
}

export type RequestBody = {
  readonly text: string;
  readonly contentType: string | undefined;
  readonly tooLarge: boolean;
  readonly isMalformed?: true;
};

/** Reads the body up to its limit; whether it is too large is for `jsonOf` to say, after the caller is known. */
export async function readBody(context: Context): Promise<RequestBody> {
  const contentType = context.req.header("content-type");
  const declared = context.req.header("content-length");
  if (declared !== undefined) {
    const tooLarge = Number(declared) > MAX_BODY_BYTES;
    return tooLarge
      ? { text: "", contentType, tooLarge }
      : decodeBody(Buffer.from(await context.req.arrayBuffer()), contentType);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of context.req.raw.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) return { text: "", contentType, tooLarge: true };
    chunks.push(chunk);
  }
  return decodeBody(Buffer.concat(chunks), contentType);
}

function decodeBody(bytes: Buffer, contentType: string | undefined): RequestBody {
  const text = bytes.toString("utf8");
  // What cannot be decoded leaves this mark, which may as well have been sent.
  const isMalformed = text.includes("\ufffd") && !isUtf8(bytes);
  return { text, contentType, tooLarge: false, ...(isMalformed ? { isMalformed } : {}) };
}

/** Postgres keeps no text with it, and neither does what is built on it. */
const NUL_ESCAPE = /(?<!\\)(?:\\\\)*\\u0000/;

/** Only by such an escape can half a surrogate pair get into text that came as UTF-8. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** The body as JSON; `undefined` where there is none. */
export function parseJsonBody({ text, contentType, tooLarge, isMalformed }: RequestBody): unknown {
  if (tooLarge) return fail(TOO_LARGE);
  if (isMalformed === true) return fail(badRequest("the request body is not valid UTF-8"));
  if (text === "") return undefined;
  if (contentType !== undefined && !/^application\/json\s*(;|$)/i.test(contentType)) {
    return fail(badRequest(`Content-Type: "${contentType}" is not understood; it must be application/json`));
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fail(
      badRequest(
        `the request body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`,
      ),
    );
  }
  const tornField = SURROGATE_ESCAPE.test(text) ? findLoneSurrogate(value) : undefined;
  if (tornField !== undefined)
    return fail(
      badRequest(`${tornField || "request body"}: has half of a surrogate pair, which is no character`),
    );
  if (NUL_ESCAPE.test(text))
    return fail(badRequest("request body: has a NUL character (\\u0000), which no text may have"));
  return value;
}

/** What a schema makes of an input; what does not fit ends the handling with 400. */
export function parseInput<S extends z.ZodType>(
  schema: S,
  input: unknown,
  what = "request body",
): z.output<S> {
  const parsed = schema.safeParse(input);
  return parsed.success ? parsed.data : fail(badRequest(describeIssues(parsed.error, what)));
}

/** All that does not fit at once, each with its field and what would be right. */
function describeIssues(error: z.ZodError, what: string): string {
  return error.issues
    .map((issue) => `${issue.path.length === 0 ? what : issue.path.map(String).join(".")}: ${issue.message}`)
    .join("; ");
}

/** S: taken from the request, or made. */
export function requestIdOf(context: Context): string {
  const provided = context.req.header("x-request-id");
  return provided !== undefined && provided.length <= MAX_REQUEST_ID_LENGTH && /^[\x21-\x7e]+$/.test(provided)
    ? provided
    : randomUUID();
}

/** The error that a handler ended with; what is none of ours is a bug, and is reported. */
export function errorResponseFrom(error: unknown, onBug: (error: unknown) => void): ErrorResponse {
  if (error instanceof RequestError) return error.response;
  if (error instanceof StoreUnavailable) {
    return {
      status: 503,
      code: "STORE_UNAVAILABLE",
      message: `${error.message}; nothing was changed`,
      headers: { "Retry-After": "1" },
    };
  }
  onBug(error);
  return {
    status: 500,
    code: "INTERNAL",
    message: "standin has a bug here; its log says more. Nothing was changed",
  };
}

export function respondWithError(
  context: Context,
  response: ErrorResponse,
  requestId = requestIdOf(context),
): Response {
  const headers = { "Content-Type": "application/json", "X-Request-ID": requestId, ...response.headers };
  return context.body(errorBody(requestId, response), response.status as 400, headers);
}

/** What is left of the body is not read, so nothing can follow it on its connection. */
const TOO_LARGE: ErrorResponse = {
  status: 413,
  code: "PAYLOAD_TOO_LARGE",
  message: `the request body must not exceed ${MAX_BODY_BYTES} bytes`,
  headers: { Connection: "close" },
};

/**
 * The query parameters; one that is given twice is no parameter of ours, unless it is one of `lists`: there, several mean the same as
 * one with commas (S), and a name that ends in `[]` is what the public client makes of an array (C).
 */
export function queryParameters(context: Context, lists: readonly string[] = []): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const [name, values] of Object.entries(context.req.queries())) {
    const [value, another] = values;
    const list = lists.find((candidate) => name === candidate || name === `${candidate}[]`);
    if (list !== undefined) {
      parameters[list] = [...(parameters[list] === undefined ? [] : [parameters[list]]), ...values].join(",");
      continue;
    }
    if (another !== undefined) fail(badRequest(`${name}: is given more than once`));
    parameters[name] = value ?? "";
  }
  return parameters;
}
