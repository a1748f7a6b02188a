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
  if (!isKeySetUrl(jwksUrl))
    return refuse("JWKS_URL_NOT_ALLOWED", `jwks_url: "${jwksUrl}" does not return a JSON Web Key Set`, {
      hint: `no request is sent to it; a segment of its path must be ${KEY_SET_SEGMENTS.join(", ")}`,
    });
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

/**
 * S: the URL returns a JSON Web Key Set. C: the platform reads it, and refuses that of an unknown provider. A: nothing
 * is read here, so the path must have the form of a known provider: `jwks.json` (Auth0, Clerk, Cognito, Stack), `jwks`
 * (Stytch, WorkOS), `jwk` (Firebase), `certs` (Google, Keycloak) or `keys` (Azure, Okta).
 */
const KEY_SET_SEGMENTS: readonly string[] = ["jwks.json", "jwks", "jwk", "certs", "keys"];

function isKeySetUrl(url: string): boolean {
  const [path = ""] = url.split(/[?#]/);
  return path
    .split("/")
    .slice(3)
    .some((segment) => KEY_SET_SEGMENTS.includes(segment));
}

const DEFAULT_ROLES: readonly string[] = ["authenticator", "authenticated", "anonymous"];
