import * as z from "zod";
import { id } from "../../http/fields.ts";
import { fail, unwrap } from "../../http/request.ts";
import { findProject } from "../../platform/world/lookup.ts";
import { checkCursor, cursorParameter, encodeCursor, limitParameter } from "../http/paging.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { renderOperation } from "../render/render-operation.ts";

const MAX_PAGE = 1_000; // S
const DEFAULT_PAGE = 100; // A

const listQuery = z.object({
  limit: limitParameter(MAX_PAGE, DEFAULT_PAGE),
  cursor: cursorParameter("operations", z.tuple([id, z.int()])),
});

/** S: operations of a project, newest first, finished ones included. */
export function operationRoutes(): readonly ApiRoute[] {
  return [listProjectOperations, getProjectOperation];
}

const listProjectOperations = route(
  "GET /projects/:project_id/operations",
  { params: z.object({ project_id: id }), query: listQuery },
  ({ account, params, query, transaction }) => {
    checkCursor(query.cursor, [params.project_id]);
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    const page = transaction.operations(project.id, query.limit, query.cursor?.[1]);
    const last = page.at(-1);
    return {
      operations: page.map((operation) => renderOperation(operation, transaction.now)),
      ...(last === undefined
        ? {}
        : { pagination: { cursor: encodeCursor("operations", [project.id, last.number]) } }),
    };
  },
);

const getProjectOperation = route(
  "GET /projects/:project_id/operations/:operation_id",
  { params: z.object({ project_id: id, operation_id: z.guid("must be a UUID") }) },
  ({ account, params, transaction }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    const operation = transaction.operation(params.operation_id);
    if (operation === undefined || operation.projectId !== project.id) {
      return fail({
        status: 404,
        code: "OPERATION_NOT_FOUND",
        message: `operation "${params.operation_id}" not found`,
      });
    }
    return { operation: renderOperation(operation, transaction.now) };
  },
);
