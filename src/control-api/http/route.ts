import type { Context } from "hono";
import type * as z from "zod";
import type { ControlRoute } from "../document/answers.ts";
import {
  type ControlOptions,
  type DocumentedHandler,
  handler,
  type ParsedRequest,
  type RequestSchemas,
} from "./handler.ts";
import { requireRightFor } from "./team-token.ts";

/** A route of the control API: its method and path, its request, and its answer. */
export type ControlApiRoute = {
  readonly method: string;
  readonly path: string;
  readonly handlerFor: (server: ControlOptions) => DocumentedHandler;
};

/** One request, parsed, and the server that it was sent to. */
export type ControlRequest<Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType> = ParsedRequest<
  Q,
  B
> & {
  readonly server: ControlOptions;
};

/** A route, which `document/answers.ts` must describe. */
export function route<Q extends z.ZodType = z.ZodUnknown, B extends z.ZodType = z.ZodUnknown>(
  methodAndPath: ControlRoute,
  options: RequestSchemas<Q, B> & {
    /** The path may name a world that does not exist: the request is for the default world. */
    readonly isForDefaultWorld?: true;
  },
  respond: (request: ControlRequest<Q, B>, context: Context) => unknown,
): ControlApiRoute {
  const [method = "", path = ""] = methodAndPath.split(" ");
  const handlerFor = (server: ControlOptions) => {
    const { onBug, defaultWorld } = server;
    const worldOf = options.isForDefaultWorld === true ? defaultWorld : server.worldOf;
    const authorize = (context: Context) => requireRightFor(context, methodAndPath);
    return handler({ worldOf, onBug, authorize }, options, (request, context) =>
      respond({ ...request, server }, context),
    );
  };
  return { method, path, handlerFor };
}
