import type { Context } from "./context.ts";
import type { Event } from "./events.ts";
import { findBranch, findProject } from "./lookup.ts";
import { findRecord, recordCreated, recordDeleted } from "./record-life.ts";
import { accept, type Result, refuse } from "./refusals.ts";
import type { World } from "./world.ts";

type InProject = { readonly accountId: string; readonly projectId: string };
export type AddJwks = InProject & {
  readonly type: "AddJwks";
  readonly jwksUrl: string;
  readonly providerName: string;
  readonly branchId?: string | undefined;
  readonly jwtAudience?: string | undefined;
  readonly roleNames?: readonly string[] | undefined;
};
export type DeleteJwks = InProject & { readonly type: "DeleteJwks"; readonly jwksId: string };

/** S: for all branches where none is named, for the default roles where none are. */
export function decideAddJwks(world: World, command: AddJwks, context: Context): Result<Event[]> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const { jwksUrl, providerName, branchId, jwtAudience, roleNames } = command;
  if (branchId !== undefined) {
    const branch = findBranch(world, project.value, branchId);
    if (!branch.ok) return branch;
  }
  const fields = {
    jwksUrl,
    providerName,
    ...(branchId === undefined ? {} : { branchId }),
    ...(jwtAudience === undefined ? {} : { jwtAudience }),
    roleNames: roleNames ?? DEFAULT_ROLES,
  };
  return accept([recordCreated(world, context, project.value.id, "jwks", fields)]);
}

export function decideDeleteJwks(world: World, command: DeleteJwks, { now }: Context): Result<Event[]> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const jwks = findRecord(world, project.value.id, "jwks", command.jwksId);
  return jwks === undefined ? refuse("JWKS_NOT_FOUND", `JWKS "${command.jwksId}" not found`) : accept([recordDeleted(jwks, now)]);
}

const DEFAULT_ROLES: readonly string[] = ["authenticator", "authenticated", "anonymous"]; // S
