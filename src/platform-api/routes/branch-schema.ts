import * as z from "zod";
import { badRequest } from "../../http/errors.ts";
import { id, instant } from "../../http/fields.ts";
import { fail, unwrap } from "../../http/request.ts";
import type { Branch } from "../../platform/model/branch.ts";
import { contentAt } from "../../platform/rules/branch/content-history.ts";
import { type PointInTime, resolvePointInTime } from "../../platform/rules/branch/point-in-time.ts";
import { findBranch, findDatabase, findProject } from "../../platform/world/lookup.ts";
import { type BranchRequest, branchParams, requestedBranch } from "../http/branch-request.ts";
import { atMostOne, lsn } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";

/** S: schemas of the databases of a branch. There is no data, so each is empty. */
export function branchSchemaRoutes(): readonly ApiRoute[] {
  return [getProjectBranchSchema, getProjectBranchSchemaComparison];
}

const getProjectBranchSchema = route(
  "GET /projects/:project_id/branches/:branch_id/schema",
  {
    params: branchParams,
    query: z
      .object({
        db_name: z.string(),
        lsn: lsn.optional(),
        timestamp: instant.optional(),
        format: z.enum(["sql", "json"]).optional(),
      })
      .refine(...atMostOne("lsn", "timestamp")),
  },
  (request) => {
    const { db_name, timestamp, lsn } = request.query;
    checkDatabaseExists(request, requestedBranch(request), db_name, { prefix: "", timestamp, lsn });
    return request.query.format === "json" ? { json: { tables: [] } } : { sql: "" };
  },
);

const getProjectBranchSchemaComparison = route(
  "GET /projects/:project_id/branches/:branch_id/compare_schema",
  {
    params: branchParams,
    query: z
      .object({
        base_branch_id: id.optional(),
        db_name: z.string(),
        lsn: lsn.optional(),
        timestamp: instant.optional(),
        base_lsn: lsn.optional(),
        base_timestamp: instant.optional(),
      })
      .refine(...atMostOne("lsn", "timestamp"))
      .refine(...atMostOne("base_lsn", "base_timestamp")),
  },
  (request) => {
    const { account, params, query, transaction } = request;
    const branch = requestedBranch(request);
    const baseId = query.base_branch_id ?? branch.parentId;
    if (baseId === undefined)
      return fail(badRequest("base_branch_id: required, because the branch has no parent"));
    const base = unwrap(
      findBranch(
        transaction.world,
        unwrap(findProject(transaction.world, account.id, params.project_id)),
        baseId,
      ),
    );
    checkDatabaseExists(request, branch, query.db_name, {
      prefix: "",
      timestamp: query.timestamp,
      lsn: query.lsn,
    });
    checkDatabaseExists(request, base, query.db_name, {
      prefix: "base_",
      timestamp: query.base_timestamp,
      lsn: query.base_lsn,
    });
    return { diff: "" };
  },
);

/** Ends the request with an error if the branch did not have the database at that point in time. */
function checkDatabaseExists(
  { account, transaction, writtenAt }: BranchRequest,
  branch: Branch,
  databaseName: string,
  point: PointInTime,
): void {
  const project = unwrap(findProject(transaction.world, account.id, branch.projectId));
  const at = unwrap(
    resolvePointInTime(
      branch,
      project,
      { ...point, writtenAt: writtenAt(branch.id, point.lsn) },
      transaction.now,
    ),
  );
  unwrap(findDatabase(contentAt(branch, at), databaseName));
}
