import * as z from "zod";
import { id, instant } from "../../http/fields.ts";
import { unwrap } from "../../http/request.ts";
import { recoverableBranchesOf } from "../../platform/rules/project/recovery.ts";
import { branchesOf, findProject } from "../../platform/world/lookup.ts";
import { branchListQuery, branchPage, filterBySearch, nameMatches } from "../http/branch-page.ts";
import { branchParams, branchTarget, changeBranch, requestedBranch } from "../http/branch-request.ts";
import { branchCreation, createBranch } from "../http/create-branch.ts";
import { flag, name } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { listBody, objectBody } from "../render/body-of-rows.ts";
import { listedBranch, renderAnnotation, renderBranch } from "../render/render-branch.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";

const projectParams = z.object({ project_id: id });
const createBody = z
  .object({ ...branchCreation, annotation_value: z.record(z.string(), z.string()).optional() })
  .optional();

/** S: branches of a project. */
export function branchRoutes(): readonly ApiRoute[] {
  return [
    createProjectBranch,
    listProjectBranches,
    countProjectBranches,
    getProjectBranch,
    updateProjectBranch,
    deleteProjectBranch,
    setDefaultProjectBranch,
  ];
}

const createProjectBranch = route(
  "POST /projects/:project_id/branches",
  { status: 201, params: projectParams, body: createBody },
  (request) => createBranch(request, request.body ?? {}),
);

const listProjectBranches = route(
  "GET /projects/:project_id/branches",
  { params: projectParams, query: branchListQuery },
  ({ account, principal, params, query, transaction }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    // S: "to list deleted branches available for recovery": they are added to the others.
    const deleted =
      query.include_deleted === true
        ? recoverableBranchesOf(transaction.world, project.id, transaction.now)
        : [];
    const { page, pagination } = branchPage(
      { world: transaction.world, principal },
      project.id,
      filterBySearch([...branchesOf(transaction.world, project.id), ...deleted], query.search),
      query,
    );
    const annotated = page.filter((branch) => Object.keys(branch.annotations).length > 0);
    const { world, now } = transaction;
    return listBody(transaction, "branches", page, {
      json: listedBranch,
      render: (branch) => renderBranch(world, branch, now),
      fields: {
        annotations: Object.fromEntries(annotated.map((branch) => [branch.id, renderAnnotation(branch)])),
        pagination,
      },
      // When the first deleted one cannot be recovered any more is not looked at.
      until: query.include_deleted === true ? now + 1 : undefined,
    });
  },
);

const countProjectBranches = route(
  "GET /projects/:project_id/branches/count",
  { params: projectParams, query: z.object({ search: z.string().optional() }) },
  ({ account, params, query, transaction }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    const { search = "" } = query;
    return {
      count: branchesOf(transaction.world, project.id).filter((branch) => nameMatches(branch, search)).length,
    };
  },
);

const getProjectBranch = route(
  "GET /projects/:project_id/branches/:branch_id",
  { params: branchParams },
  (request) => {
    const branch = requestedBranch(request);
    const { world, now } = request.transaction;
    return objectBody(request.transaction, "branch", branch, {
      json: listedBranch,
      render: (row) => renderBranch(world, row, now),
      fields: { annotation: renderAnnotation(branch) },
    });
  },
);

const updateProjectBranch = route(
  "PATCH /projects/:project_id/branches/:branch_id",
  {
    params: branchParams,
    body: z.object({
      branch: z.object({
        name: name.optional(),
        protected: z.boolean().optional(),
        expires_at: instant.nullable().optional(),
      }),
    }),
  },
  (request) => {
    const { name: newName, protected: isProtected, expires_at } = request.body.branch;
    return changeBranch(request, {
      type: "UpdateBranch",
      name: newName,
      protected: isProtected,
      expiresAt: expires_at,
    });
  },
);

const deleteProjectBranch = route(
  "DELETE /projects/:project_id/branches/:branch_id",
  { params: branchParams, query: z.object({ hard_delete: flag.optional() }) },
  (request) => {
    const branch = requestedBranch(request);
    const events = request.execute({
      type: "DeleteBranch",
      ...branchTarget(request),
      hard: request.query.hard_delete,
    });
    return {
      branch: renderBranch(request.transaction.world, branch, request.transaction.now),
      operations: renderScheduledOperations(events, request.transaction.now),
    };
  },
);

const setDefaultProjectBranch = route(
  "POST /projects/:project_id/branches/:branch_id/set_as_default",
  { params: branchParams },
  (request) => changeBranch(request, { type: "SetDefaultBranch" }),
);
