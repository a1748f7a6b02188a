import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { branchParams, requestedBranch } from "../http/branch-request.ts";
import { limitParameter } from "../http/paging.ts";
import { type ApiRoute, route } from "../http/route.ts";

const MAX_PAGE = 1_000; // S

/** S: the functions of a branch. None can be deployed here, so the list is empty. */
export function branchFunctionRoutes(): readonly ApiRoute[] {
  return [listProjectBranchFunctions];
}

const listProjectBranchFunctions = route(
  "GET /projects/:project_id/branches/:branch_id/functions",
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
);
