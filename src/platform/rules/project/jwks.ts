import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { ProjectRef } from "../../model/object-refs.ts";
import type { Deciders } from "../../world/handlers.ts";
import { branchesOf, findBranch, findProject } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { checkRoleName } from "../branch/role.ts";
import { findRecord, recordCreated, recordDeleted } from "../settings/evolve-settings-record.ts";

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
