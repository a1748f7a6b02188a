import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { badRequest } from "../../http/errors.ts";
import { id, instant } from "../../http/fields.ts";
import { fail, unwrap } from "../../http/request.ts";
import { unifiedDiff } from "../../kernel/unified-diff.ts";
import type { Branch } from "../../platform/model/branch.ts";
import { dataOf } from "../../platform/model/branch-data.ts";
import type { SchemaRequest } from "../../platform/model/database-schema.ts";
import { originalId } from "../../platform/rules/branch/build-branch.ts";
import { contentAt } from "../../platform/rules/branch/content-history.ts";
import {
  type PointInTime,
  resolvePointInTime,
  writtenPosition,
} from "../../platform/rules/branch/point-in-time.ts";
import { checkDataAvailable } from "../../platform/rules/branch-data/available-data.ts";
import { findBranch, findDatabase, findProject } from "../../platform/world/lookup.ts";
import { type BranchRequest, branchParams, requestedBranch } from "../http/branch-request.ts";
import { LaterBody } from "../http/later-body.ts";
import { atMostOne, lsn } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { renderSchema } from "../render/render-schema.ts";

/**
 * S: schemas of the databases of a branch, from its data. D: the answers list no operations, as those of calls that
 * start a compute do, so no compute is started. Without Postgres, there is no data, and each is empty.
 */
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
    const schema = schemaAt(request, requestedBranch(request), db_name, { prefix: "", timestamp, lsn });
    return new LaterBody(async () => {
      const read = await request.readSchema(schema);
      return (
        request.query.format === "json" ? { json: { tables: [...read.tables] } } : { sql: renderSchema(read) }
      ) as public_.BranchSchemaResponse;
    });
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
    const compared = schemaAt(request, branch, query.db_name, {
      prefix: "",
      timestamp: query.timestamp,
      lsn: query.lsn,
    });
    const original = schemaAt(request, base, query.db_name, {
      prefix: "base_",
      timestamp: query.base_timestamp,
      lsn: query.base_lsn,
    });
    return new LaterBody(async () => {
      const before = renderSchema(await request.readSchema(original));
      const after = renderSchema(await request.readSchema(compared));
      const difference = unifiedDiff(before, after);
      // D: both sides are named after the database.
      const names = `--- a/${query.db_name}\n+++ b/${query.db_name}\n`;
      return {
        diff: difference === "" ? "" : `${names}${difference}`,
      } satisfies public_.BranchSchemaCompareResponse;
    });
  },
);

/** Ends the request with an error if the branch did not have the database at that point in time. */
function schemaAt(
  { account, transaction, writtenAt }: BranchRequest,
  branch: Branch,
  databaseName: string,
  point: PointInTime,
): SchemaRequest {
  const { world, now } = transaction;
  const project = unwrap(findProject(world, account.id, branch.projectId));
  const resolved = { ...point, writtenAt: writtenAt(branch.id, point.lsn) };
  const at = unwrap(resolvePointInTime(branch, project, resolved, now));
  const { prefix } = point;
  unwrap(checkDataAvailable(world, branch.id, { prefix, isLsn: point.lsn !== undefined, at }));
  const database = unwrap(findDatabase(contentAt(branch, at), databaseName));
  const row = world.branchData.get(branch.id);
  const source = { id: branch.id, at, ...writtenPosition(resolved) };
  return {
    branchId: branch.id,
    isHead: point.lsn === undefined && point.timestamp === undefined,
    reference: row === undefined ? { at } : dataOf(row, source),
    database: { id: originalId(database), name: database.name },
  };
}
