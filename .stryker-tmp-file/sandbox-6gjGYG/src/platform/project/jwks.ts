// @ts-nocheck
import { checkRoleName } from "../branch/role.ts";
import type { Context } from "../core/context.ts";
import { omitUndefined } from "../core/omit-undefined.ts";
import type { World } from "../core/world.ts";
import type { Event } from "../events.ts";
import type { Deciders } from "../handlers.ts";
import { branchesOf, findBranch, findProject } from "../lookup.ts";
import type { ProjectRef } from "../object-refs.ts";
import { accept, type Result, refuse } from "../refusal-codes.ts";
import { findRecord, recordCreated, recordDeleted } from "./evolve-settings-record.ts";

export type JwksCommand = AddJwks | DeleteJwks;

export const jwksDeciders = {
  AddJwks: decideAddJwks,
  DeleteJwks: decideDeleteJwks,
} satisfies Deciders<JwksCommand>;

type AddJwks = ProjectRef & {
  readonly type: "AddJwks";
  readonly jwksUrl: string;
  readonly providerName: string;
  readonly branchId?: string | undefined;
  readonly jwtAudience?: string | undefined;
  readonly roleNames?: readonly string[] | undefined;
  /** S: the roles are not created. A: so they have to exist. */
  readonly skipRoleCreation?: boolean | undefined;
};
type DeleteJwks = ProjectRef & { readonly type: "DeleteJwks"; readonly jwksId: string };

/**
 * S: applies to all branches unless one is named, and to the default roles unless some are named. The effects
 * in the databases are not imitated, so named roles must exist only if their creation is skipped.
 */
function decideAddJwks(world: World, command: AddJwks, context: Context): Result<Event[]> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const { jwksUrl, providerName, branchId, jwtAudience, roleNames, skipRoleCreation } = command;
  const branch = branchId === undefined ? undefined : findBranch(world, project.value, branchId);
  if (branch?.ok === false) return branch;
  const branches = branch === undefined ? branchesOf(world, project.value.id) : [branch.value];
  for (const [index, name] of (roleNames ?? []).entries()) {
    if (branches.some(({ roles }) => roles.some((role) => role.name === name))) continue;
    if (skipRoleCreation === true)
      return refuse("ROLE_NOT_FOUND", `role_names.${index}: role "${name}" not found`);
    const allowed = checkRoleName(name, `role_names.${index}`);
    if (!allowed.ok) return allowed;
  }
  const fields = omitUndefined({
    jwksUrl,
    providerName,
    branchId,
    jwtAudience,
    roleNames: roleNames ?? DEFAULT_ROLES,
  });
  return accept([recordCreated(world, context, project.value.id, "jwks", fields)]);
}

function decideDeleteJwks(world: World, command: DeleteJwks, { now }: Context): Result<Event[]> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const jwks = findRecord(world, project.value.id, "jwks", command.jwksId);
  return jwks === undefined
    ? refuse("JWKS_NOT_FOUND", `JWKS "${command.jwksId}" not found`)
    : accept([recordDeleted(jwks, now)]);
}

const DEFAULT_ROLES: readonly string[] = ["authenticator", "authenticated", "anonymous"];
