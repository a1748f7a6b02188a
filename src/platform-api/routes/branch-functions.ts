import type * as public_ from "@neondatabase/api-client";
import { Hono } from "hono";
import * as z from "zod";
import { branchParams, requestedBranch } from "../http/branch-request.ts";
import { limitParameter } from "../http/paging.ts";
import type { RouteHandlers } from "../http/request-context.ts";

const MAX_PAGE = 1_000; // S

/** S: the functions of a branch. None can be deployed here, so the list is empty. */
export function branchFunctionRoutes(handlers: RouteHandlers): Hono {
  const app = new Hono();
  app.get(
    "/projects/:project_id/branches/:branch_id/functions",
    handlers.route(
      {
        params: branchParams,
        query: z.object({
          limit: limitParameter(MAX_PAGE, MAX_PAGE),
          cursor: z.undefined("not a cursor of this list, which has one page; omit it").optional(),
        }),
      },
      (request) => {
        requestedBranch(request);
        return { functions: [] } satisfies public_.NeonFunctionsListResponse;
      },
    ),
  );
  return app;
}
