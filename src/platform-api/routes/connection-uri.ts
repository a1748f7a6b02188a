import * as z from "zod";
import { id } from "../../http/fields.ts";
import { fail, unwrap } from "../../http/request.ts";
import type { Account } from "../../platform/model/account.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type { Project } from "../../platform/model/project.ts";
import { findRole } from "../../platform/rules/branch/role.ts";
import {
  defaultBranchOf,
  findBranch,
  findCompute,
  findDatabase,
  findProject,
  primaryComputeOf,
} from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";
import { PASSWORDS_NOT_STORED } from "../http/passwords.ts";
import { flag } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";

/** S: how to connect to a database of a project. */
export function connectionUriRoutes(): readonly ApiRoute[] {
  return [getConnectionURI];
}

const getConnectionURI = route(
  "GET /projects/:project_id/connection_uri",
  {
    params: z.object({ project_id: id }),
    query: z.object({
      branch_id: id.optional(),
      endpoint_id: id.optional(),
      database_name: z.string().min(1),
      role_name: z.string().min(1),
      pooled: flag.optional(),
    }),
  },
  ({ account, params, query, transaction, connectionUris }) => {
    const { world } = transaction;
    const project = unwrap(findProject(world, account.id, params.project_id));
    const compute = computeForConnection(world, project, account, query);
    const branch = unwrap(findBranch(world, project, compute.branchId));
    const password = transaction.readSecret(unwrap(findRole(branch, query.role_name)).secretId);
    unwrap(findDatabase(branch, query.database_name));
    if (password === undefined) return fail(PASSWORDS_NOT_STORED);
    return {
      uri: connectionUris.uri(
        world,
        compute,
        query.role_name,
        password,
        query.database_name,
        query.pooled ?? false,
      ),
    };
  },
);

/**
 * S: the named endpoint, else the primary of the named or default branch. R: the endpoint must be of that
 * branch.
 */
function computeForConnection(
  world: World,
  project: Project,
  account: Account,
  query: { branch_id?: string | undefined; endpoint_id?: string | undefined },
): Compute {
  const { branch_id, endpoint_id } = query;
  const requested =
    endpoint_id === undefined
      ? undefined
      : unwrap(findCompute(world, { accountId: account.id, projectId: project.id, computeId: endpoint_id }));
  if (requested !== undefined && (branch_id === undefined || requested.branchId === branch_id))
    return requested;
  const branch =
    branch_id === undefined
      ? defaultBranchOf(world, project.id)
      : unwrap(findBranch(world, project, branch_id));
  const primary =
    requested === undefined && branch !== undefined ? primaryComputeOf(world, branch.id) : undefined;
  return (
    primary ??
    fail({
      status: 404,
      code: "ENDPOINT_NOT_FOUND",
      message: `branch "${branch?.id ?? ""}" has no such endpoint to connect through`,
    })
  );
}
