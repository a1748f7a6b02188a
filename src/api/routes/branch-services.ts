import type * as public_ from "@neondatabase/api-client";
import { Hono } from "hono";
import * as z from "zod";
import { id } from "../../http/fields.ts";
import { fail, unwrap } from "../../http/request.ts";
import { findDatabase } from "../../platform/branch/database.ts";
import { NOT_ENABLED } from "../coverage/not-enabled.ts";
import { branchParams, requestedBranch } from "../http/branch-request.ts";
import { limitParameter } from "../http/paging.ts";
import type { RouteHandlers } from "../http/request-context.ts";

const MAX_PAGE = 1_000; // S
const BRANCH = "/projects/:project_id/branches/:branch_id";

/** Lists of the services of a branch. Nothing can be created in them here, so each is empty. */
export function branchServiceRoutes(handlers: RouteHandlers): Hono {
  const app = new Hono();

  app.get(
    `${BRANCH}/buckets`,
    handlers.route({ params: branchParams }, (request) => {
      requestedBranch(request);
      return { buckets: [] } satisfies public_.BucketsListResponse;
    }),
  );

  app.get(
    `${BRANCH}/functions`,
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

  app.get(
    `${BRANCH}/credentials`,
    handlers.route({ params: branchParams }, (request) => {
      requestedBranch(request);
      return { credentials: [] } satisfies public_.ListCredentialsResponse;
    }),
  );

  return app;
}

/** Services that are not enabled on any branch. */
export function notEnabledRoutes(handlers: RouteHandlers): Hono {
  const app = new Hono();

  app.get(
    `${BRANCH}/auth`,
    handlers.route({ params: branchParams }, (request) => {
      const branch = requestedBranch(request);
      return failNotEnabled("getNeonAuth", `branch "${branch.id}"`);
    }),
  );

  app.get(
    `${BRANCH}/data-api/:database_name`,
    handlers.route(
      { params: z.object({ project_id: id, branch_id: id, database_name: z.string() }) },
      (request) => {
        const branch = requestedBranch(request);
        const database = unwrap(findDatabase(branch, request.params.database_name));
        return failNotEnabled(
          "getProjectBranchDataAPI",
          `database "${database.name}" of branch "${branch.id}"`,
        );
      },
    ),
  );

  return app;
}

/** A: the real platform's code and message are not published; clients read the status only (C). */
function failNotEnabled(operationId: string, where: string): never {
  return fail({
    status: 404,
    code: "NOT_ENABLED",
    message: `${NOT_ENABLED[operationId]} is not enabled for ${where}`,
  });
}
