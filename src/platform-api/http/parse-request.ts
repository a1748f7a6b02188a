import type { Context } from "hono";
import type { RequestBody } from "../../http/body.ts";
import { badRequest } from "../../http/errors.ts";
import { fail, parseInput, parseJsonBody, queryParameters, RequestError } from "../../http/request.ts";
import { MAX } from "../../input-limits/limits.ts";
import { operationIdOf } from "../coverage/operation-ids.ts";
import type { ApiRoute } from "./route.ts";

type GivenBody = { readonly input: RequestBody | undefined; readonly form: object | undefined };

/** The parameters and the body of a request by the schemas of its route. Invalid ones end it with 400. */
export function parseRequest(
  context: Context,
  { input, form }: GivenBody,
  { params, query, listParameters, body }: ApiRoute["options"],
) {
  return {
    params: params && decoded(context, "params", () => parseInput(params, context.req.param())),
    query:
      query &&
      decoded(context, "params", () => parseInput(query, queryParameters(context, listParameters), "query")),
    body:
      body &&
      decoded(context, form === undefined ? "request: decode application/json" : "request", () =>
        parseInput(body, form ?? (input && parseJsonBody(input, MAX.apiEntries))),
      ),
  };
}

/** D: the beginning of the platform's message. The rest names each wrong field and what is valid. */
function decoded<T>({ req }: Context, what: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof RequestError) || error.response.code !== "BAD_REQUEST") throw error;
    const operation = operationIdOf(req.method, req.routePath);
    const where =
      operation === undefined ? "" : `operation ${operation.replace(/^./, (c) => c.toUpperCase())}: `;
    return fail(badRequest(`invalid request: ${where}decode ${what}: ${error.response.message}`));
  }
}
