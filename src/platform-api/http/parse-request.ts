import type { Context } from "hono";
import type { RequestBody } from "../../http/body.ts";
import { badRequest } from "../../http/errors.ts";
import { fail, parseInput, parseJsonBody, queryParameters, RequestError } from "../../http/request.ts";
import { MAX } from "../../input-limits/limits.ts";
import { operationIdOf } from "../coverage/operation-ids.ts";
import { bodyFailure, contentTypeFailure, queryFailure } from "../decoding/decode-request.ts";
import type { ApiRoute } from "./route.ts";

type GivenBody = { readonly input: RequestBody | undefined; readonly form: object | undefined };

/** The parameters and the body of a request by the schemas of its route. Invalid ones end it with 400. */
export function parseRequest(
  context: Context,
  { input, form }: GivenBody,
  { params, query, listParameters, body }: ApiRoute["options"],
) {
  const bodyPart = form === undefined ? "request: decode application/json" : "request";
  return {
    params: params && decoded(context, "params", () => parseInput(params, context.req.param())),
    query:
      query &&
      decoded(
        context,
        "params",
        () => parseInput(query, queryParameters(context, listParameters), "query"),
        (operation) => queryFailure(operation, new URL(context.req.url).searchParams),
      ),
    body:
      body &&
      decoded(
        context,
        bodyPart,
        () => parseInput(body, form ?? (input && parseJsonBody(input, MAX.apiEntries))),
        (operation) => (form === undefined && input !== undefined ? failureOf(operation, input) : undefined),
      ),
  };
}

/** Of a body that has been read. Limits of standin are not the platform's. */
function failureOf(operation: string, { text, contentType, excess, isRefused, isMalformed }: RequestBody) {
  if (excess !== undefined || isRefused === true || isMalformed === true) return undefined;
  return contentTypeFailure(operation, text, contentType) ?? bodyFailure(operation, text);
}

/**
 * D: what the platform says if its decoder cannot read this part of a request. Then each wrong field and what is valid is
 * in the hint. Otherwise the message begins as the platform's, and goes on with them.
 */
function decoded<T>(
  { req }: Context,
  what: string,
  decode: () => T,
  failure: (operationId: string) => string | undefined = () => undefined,
): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof RequestError) || error.response.code !== "BAD_REQUEST") throw error;
    const { message } = error.response;
    const operation = operationIdOf(req.method, req.routePath);
    if (operation === undefined) return fail(badRequest(`invalid request: decode ${what}: ${message}`));
    const start = `invalid request: operation ${operation.replace(/^./, (first) => first.toUpperCase())}`;
    const published = failure(operation);
    if (published === undefined) return fail(badRequest(`${start}: decode ${what}: ${message}`));
    return fail({ ...badRequest(`${start}: ${published}`), hint: message });
  }
}
