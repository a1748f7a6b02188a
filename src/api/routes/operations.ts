import { Hono } from "hono";
import * as z from "zod";
import { fail, found } from "../../http/request.ts";
import { findProject } from "../../platform/lookup.ts";
import { checkPlace, cursorOf, encodeCursor, limitOf } from "../http/paging.ts";
import { id } from "../http/query-fields.ts";
import type { Caller } from "../http/request-context.ts";
import { renderOperation } from "../render/render-objects.ts";

const MAX_PAGE = 1_000; // S
const DEFAULT_PAGE = 100; // A

/** S: a project's operations, newest first; finished ones stay to be read. */
export function operationRoutes(caller: Caller): Hono {
  const app = new Hono();
  const query = z.object({ limit: limitOf(MAX_PAGE, DEFAULT_PAGE), cursor: cursorOf("operations", z.tuple([id, z.int()])) });

  app.get(
    "/projects/:project_id/operations",
    caller.route({ params: z.object({ project_id: id }), query }, ({ account, params, query, turn }) => {
      checkPlace(query.cursor, [params.project_id]);
      const project = found(findProject(turn.world, account.id, params.project_id));
      const page = turn.operations(project.id, query.limit, query.cursor?.[1]);
      const last = page.at(-1);
      return {
        operations: page.map((operation) => renderOperation(operation, turn.now)),
        ...(last === undefined ? {} : { pagination: { cursor: encodeCursor("operations", [project.id, last.number]) } }),
      };
    }),
  );

  app.get(
    "/projects/:project_id/operations/:operation_id",
    caller.route({ params: z.object({ project_id: id, operation_id: z.guid("must be a UUID") }) }, ({ account, params, turn }) => {
      const project = found(findProject(turn.world, account.id, params.project_id));
      const operation = turn.operation(params.operation_id);
      if (operation === undefined || operation.projectId !== project.id) {
        return fail({ status: 404, code: "OPERATION_NOT_FOUND", message: `operation "${params.operation_id}" not found` });
      }
      return { operation: renderOperation(operation, turn.now) };
    }),
  );

  return app;
}
