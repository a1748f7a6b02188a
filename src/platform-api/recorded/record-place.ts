import * as z from "zod";
import { id } from "../../http/fields.ts";
import { fail, unwrap } from "../../http/request.ts";
import type { Branch } from "../../platform/model/branch.ts";
import { defaultBranchOf, findBranch, findProject } from "../../platform/world/lookup.ts";
import { branchParams } from "../http/branch-request.ts";
import type { RequestContext } from "../http/route.ts";

/** Path of operations on the records of a branch, and how the branch is found. */
export type Place = {
  readonly path: `/${string}`;
  readonly params: z.ZodObject;
  readonly branchOf: (request: RecordedRequest) => Branch;
  /** The project that the body names; used if the path names none. */
  readonly projectIn?: (body: unknown) => string | undefined;
};

export type RecordedRequest = RequestContext<Readonly<Record<string, string>>, unknown, unknown>;
type NamingBody = { readonly project_id: string; readonly branch_id?: string };

export const ON_BRANCH: Place = {
  path: "/projects/:project_id/branches/:branch_id",
  params: branchParams,
  branchOf: (request) => {
    const { project_id, branch_id = "" } = request.params;
    return unwrap(findBranch(request.transaction.world, projectOf(request, project_id), branch_id));
  },
};

/** D: deprecated calls that name a project only. A: they concern its default branch. */
export const ON_PROJECT: Place = {
  path: "/projects/:project_id",
  params: z.object({ project_id: id }),
  branchOf: (request) => defaultBranch(request, request.params["project_id"]),
};

/**
 * D: deprecated calls that name the project, and perhaps a branch, in their body. A: the default branch if they name
 * none.
 */
export const IN_BODY: Place = {
  path: "/projects/auth",
  params: z.object({}),
  branchOf: (request) => {
    const { project_id, branch_id } = request.body as NamingBody;
    if (branch_id === undefined) return defaultBranch(request, project_id);
    return unwrap(findBranch(request.transaction.world, projectOf(request, project_id), branch_id));
  },
  projectIn: (body) => (body as NamingBody).project_id,
};

function projectOf({ account, transaction }: RecordedRequest, projectId = "") {
  return unwrap(findProject(transaction.world, account.id, projectId));
}

function defaultBranch(request: RecordedRequest, projectId: string | undefined): Branch {
  const branch = defaultBranchOf(request.transaction.world, projectOf(request, projectId).id);
  return (
    branch ?? fail({ status: 404, code: "BRANCH_NOT_FOUND", message: "the project has no default branch" })
  );
}
