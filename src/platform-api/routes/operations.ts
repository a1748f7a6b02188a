import * as z from "zod";
import { id, instant } from "../../http/fields.ts";
import { fail, unwrap } from "../../http/request.ts";
import { exactTimestamp } from "../../http/timestamps.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Operation } from "../../platform/model/operation.ts";
import { findProject } from "../../platform/world/lookup.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { cursorOf, decodeCursor, invalidCursor, limitParameter } from "../http/paging.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { listBody } from "../render/body-of-rows.ts";
import { listedOperation, renderOperation } from "../render/render-operation.ts";

const MAX_PAGE = 1_000; // S
const MICROSECONDS = 1_000;
const DEFAULT_PAGE = 100; // A

const listQuery = z.object({
  limit: limitParameter(MAX_PAGE, DEFAULT_PAGE),
  cursor: cursorOf(positionOf),
});

/** After which operation a page begins. */
type OperationPosition =
  | { readonly at: SimTime; readonly microseconds: number }
  | { readonly projectId: string; readonly number: number };

/**
 * C: a cursor is the instant at which the last operation of a page was created. Its microseconds tell operations of
 * one millisecond apart. Up to release 0.4 it held the project and the operation's number.
 */
function positionOf(text: string): OperationPosition | undefined {
  const at = instant.safeParse(text).data;
  if (at !== undefined) return { at, microseconds: Number(/\.\d{3}(\d{3})/.exec(text)?.[1] ?? 0) };
  const earlier = decodeCursor("operations", z.tuple([id, z.int()]), text);
  return earlier && { projectId: earlier[0], number: earlier[1] };
}

function cursorAfter({ createdAt, number }: Operation): string {
  return exactTimestamp(createdAt, number % MICROSECONDS);
}

/** The number below which the page begins; undefined for the newest operations. */
function pageStart(
  transaction: Transaction,
  projectId: string,
  position: OperationPosition | undefined,
): number | undefined {
  if (position === undefined) return undefined;
  if ("number" in position) return position.projectId === projectId ? position.number : invalidCursor();
  const { at, microseconds } = position;
  for (let before: number | undefined; ; ) {
    const page = transaction.operations(projectId, MAX_PAGE, before);
    const last = page.find(
      ({ createdAt, number }) => createdAt === at && number % MICROSECONDS === microseconds,
    );
    if (last !== undefined) return last.number;
    const earlier = page.find(({ createdAt }) => createdAt < at);
    if (earlier !== undefined) return earlier.number + 1;
    before = page.at(-1)?.number;
    if (before === undefined || page.length < MAX_PAGE) return 0;
  }
}

/** S: operations of a project, newest first, finished ones included. */
export function operationRoutes(): readonly ApiRoute[] {
  return [listProjectOperations, getProjectOperation];
}

const listProjectOperations = route(
  "GET /projects/:project_id/operations",
  { params: z.object({ project_id: id }), query: listQuery },
  ({ account, params, query, transaction }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    const { limit } = query;
    const before = pageStart(transaction, project.id, query.cursor);
    const page = transaction.operations(project.id, limit, before);
    const last = page.at(-1);
    return listBody(transaction, "operations", page, {
      json: listedOperation,
      render: (operation) => renderOperation(operation, transaction.now),
      fields: last && { pagination: { cursor: cursorAfter(last) } },
      // Old operations are deleted without an event.
      hasSameRows: (later) => later.operations(project.id, limit, before) === page,
    });
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
