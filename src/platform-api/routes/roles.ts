import * as z from "zod";
import { fail, unwrap } from "../../http/request.ts";
import { refuse } from "../../platform/catalog/refusal-codes.ts";
import { findRole } from "../../platform/rules/branch/role.ts";
import { findProject } from "../../platform/world/lookup.ts";
import { branchParams, branchTarget, requestedBranch } from "../http/branch-request.ts";
import { issuePassword, PASSWORDS_NOT_STORED } from "../http/passwords.ts";
import { postgresName } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { renderRole } from "../render/render-branch.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";

const roleParams = branchParams.extend({ role_name: z.string() });

/** S: roles of a branch. */
export function roleRoutes(): readonly ApiRoute[] {
  return [
    listProjectBranchRoles,
    createProjectBranchRole,
    getProjectBranchRole,
    deleteProjectBranchRole,
    getProjectBranchRolePassword,
    resetProjectBranchRolePassword,
  ];
}

const listProjectBranchRoles = route(
  "GET /projects/:project_id/branches/:branch_id/roles",
  { params: branchParams },
  (request) => {
    const branch = requestedBranch(request);
    return { roles: branch.roles.map((role) => renderRole(branch, role)) };
  },
);

const createProjectBranchRole = route(
  "POST /projects/:project_id/branches/:branch_id/roles",
  {
    status: 201,
    params: branchParams,
    body: z.object({ role: z.object({ name: postgresName, no_login: z.boolean().optional() }) }),
  },
  (request) => {
    const { account, body, params, transaction } = request;
    const { name, no_login } = body.role;
    const events = request.execute({
      type: "CreateRole",
      ...branchTarget(request),
      name,
      noLogin: no_login,
    });
    const branch = requestedBranch(request);
    const role = unwrap(findRole(branch, name));
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    const password = role.noLogin === true ? undefined : issuePassword(transaction, project, role);
    return {
      role: renderRole(branch, role, password),
      operations: renderScheduledOperations(events, transaction.now),
    };
  },
);

const getProjectBranchRole = route(
  "GET /projects/:project_id/branches/:branch_id/roles/:role_name",
  { params: roleParams },
  (request) => {
    const branch = requestedBranch(request);
    return { role: renderRole(branch, unwrap(findRole(branch, request.params.role_name))) };
  },
);

const deleteProjectBranchRole = route(
  "DELETE /projects/:project_id/branches/:branch_id/roles/:role_name",
  { params: roleParams },
  (request) => {
    const branch = requestedBranch(request);
    const role = unwrap(findRole(branch, request.params.role_name));
    const events = request.execute({ type: "DeleteRole", ...branchTarget(request), name: role.name });
    return {
      role: renderRole(branch, role),
      operations: renderScheduledOperations(events, request.transaction.now),
    };
  },
);

const getProjectBranchRolePassword = route(
  "GET /projects/:project_id/branches/:branch_id/roles/:role_name/reveal_password",
  { params: roleParams },
  (request) => {
    const { name, secretId, noLogin } = unwrap(findRole(requestedBranch(request), request.params.role_name));
    if (noLogin === true)
      return unwrap(refuse("ROLE_HAS_NO_PASSWORD", `role "${name}" cannot log in and has no password`));
    const password = request.transaction.readSecret(secretId);
    return password === undefined ? fail(PASSWORDS_NOT_STORED) : { password };
  },
);

const resetProjectBranchRolePassword = route(
  "POST /projects/:project_id/branches/:branch_id/roles/:role_name/reset_password",
  { params: roleParams },
  (request) => {
    const { account, params, transaction } = request;
    const events = request.execute({
      type: "ResetRolePassword",
      ...branchTarget(request),
      name: params.role_name,
    });
    const branch = requestedBranch(request);
    const role = unwrap(findRole(branch, params.role_name));
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    return {
      role: renderRole(branch, role, issuePassword(transaction, project, role)),
      operations: renderScheduledOperations(events, transaction.now),
    };
  },
);
