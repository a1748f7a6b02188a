import type { Context } from "hono";
import type { RequestBody } from "../../http/body.ts";
import { badRequest } from "../../http/errors.ts";
import {
  fail,
  type IncomingCall,
  parseInput,
  parseJsonBody,
  queryParameters,
  RequestError,
} from "../../http/request.ts";
import { MAX } from "../../input-limits/limits.ts";
import type { Profile } from "../../platform/catalog/defaults-and-limits.ts";
import { operationIdOf } from "../coverage/operation-ids.ts";
import { bodyFailure, contentTypeFailure, queryFailure } from "../decoding/decode-request.ts";
import type { ApiRoute } from "./route.ts";

/** As the schemas of a route return it. */
export type ParsedRequest = { readonly params: unknown; readonly query: unknown; readonly body: unknown };

type GivenBody = { readonly input: RequestBody | undefined; readonly form?: object | undefined };

/** The parameters and the body of a request by the schemas of its route. Invalid ones end it with 400. */
export function parseRequest(
  context: Context,
  given: GivenBody,
  options: ApiRoute["options"],
  profile: Profile,
): ParsedRequest {
  const { params, query, listParameters } = options;
  const isNamed = profile.decodeErrorsNameOperation;
  return {
    params:
      params && decoded(context, { isNamed, part: "params" }, () => parseInput(params, context.req.param())),
    query:
      query &&
      decoded(
        context,
        {
          isNamed,
          part: "params",
          failure: (operation) => queryFailure(operation, new URL(context.req.url).searchParams),
        },
        () => parseInput(query, queryParameters(context, listParameters), "query"),
      ),
    body: parseBody(context, given, options, profile),
  };
}

/** The body of a request by the schema of its route. An invalid one ends it with 400. */
export function parseBody(
  call: IncomingCall,
  { input, form }: GivenBody,
  { body }: ApiRoute["options"],
  { decodeErrorsNameOperation: isNamed }: Profile,
): unknown {
  return (
    body &&
    decoded(
      call,
      {
        isNamed,
        part: "request",
        ...(form === undefined ? { format: "decode application/json: " } : {}),
        ...(form === undefined && input !== undefined
          ? { failure: (operation) => failureOf(operation, input) }
          : {}),
      },
      () => parseInput(body, form ?? (input && parseJsonBody(input, MAX.apiEntries))),
    )
  );
}

/** The platform's message about a body that does not decode. Absent if a limit of standin rejects the body. */
function failureOf(operation: string, { text, contentType, excess, isRefused, isMalformed }: RequestBody) {
  if (excess !== undefined || isRefused === true || isMalformed === true) return undefined;
  return contentTypeFailure(operation, text, contentType) ?? bodyFailure(operation, text);
}

/** The part of an error message before its cause. */
type Decoding = {
  readonly isNamed: boolean;
  readonly part: "params" | "request";
  readonly format?: string;
  /** The platform's message if its decoder cannot read this part of the operation's request. */
  readonly failure?: (operationId: string) => string | undefined;
};

/**
 * D: the platform's message of a part that its decoder cannot read. Then the hint has each wrong field and what is valid.
 * Otherwise the message begins as the platform's, and continues with them.
 */
function decoded<T>(
  { req }: IncomingCall,
  { isNamed, part, format = "", failure }: Decoding,
  decode: () => T,
): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof RequestError) || error.response.code !== "BAD_REQUEST") throw error;
    const { message } = error.response;
    const operation = operationIdOf(req.method, req.routePath);
    const name = operation?.replace(/^./, (first) => first.toUpperCase());
    const start = `invalid request: ${isNamed && name !== undefined ? `operation ${name}: decode ${part}: ` : ""}`;
    const published = operation && failure?.(operation);
    if (published === undefined) return fail(badRequest(`${start}${format}${message}`));
    return fail({ ...badRequest(start + published), hint: message });
  }
}
