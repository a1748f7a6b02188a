import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Account } from "../../model/account.ts";
import type { ApiKey } from "../../model/api-key.ts";
import type { Project } from "../../model/project.ts";
import { concernsEmail, type MemberRole } from "../../model/settings-record.ts";
import { findOrganization, projectNotFound } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { isOfKind } from "../settings/evolve-settings-record.ts";
import { memberRoleIn } from "./organization.ts";

/** The identity of an API key: a person or, with a scope, an organization or one of its projects. */
export type Principal = {
  /** The person's account, or that of the organization. */
  readonly account: Account;
  readonly scope?: ApiKey["scope"];
};

/**
 * `read` and `write`: what is in a project. `view`: what concerns the organization itself. `create`: add
 * projects or people. `admin`: members, keys and money, and deleting or transferring a project.
 */
type RolePermission = "read" | "write" | "view" | "create" | "admin";

/**
 * What an operation requires of its caller: a permission of a role; to be a person; or `claim`, to accept a
 * transfer. A claim needs no access to the project, but `create` in the organization that receives it.
 */
export type Permission = RolePermission | "person" | "claim";

/** The caller's role in the organization or project that the operation concerns. */
type AccessRole = "admin" | "member" | "viewer" | "collaborator" | "guest";

/**
 * S: only admins change members and spending limits. D: members work in all projects and create new ones, but
 * delete none. D: a guest (a user with whom a project was shared, or a key to a single project) works in
 * that project, but neither deletes nor shares it. A: the rest.
 */
const PERMISSIONS_OF_ROLE: Readonly<Record<AccessRole, readonly RolePermission[]>> = {
  admin: ["read", "write", "view", "create", "admin"],
  member: ["read", "write", "view", "create"],
  viewer: ["read", "view"],
  collaborator: ["view"],
  guest: ["read", "write"],
};

const ACCESS_ROLE_OF: Readonly<Record<MemberRole, AccessRole>> = {
  admin: "admin",
  member: "member",
  editor: "member", // A
  viewer: "viewer",
  collaborator: "collaborator", // D: sees only the projects that were shared with the account
};

/** The project or the organization that an operation names, if any. */
export type AccessTarget = {
  readonly projectId?: string | undefined;
  readonly organizationId?: string | undefined;
};

/**
 * The account on whose behalf the caller acts. What the caller may not see is reported as not found; what the
 * caller sees but may not do is denied. A project that does not exist passes: the operation reports it.
 */
export function authorize(
  world: World,
  principal: Principal,
  permission: Permission,
  target: AccessTarget,
): Result<Account> {
  const { account, scope } = principal;
  if (permission === "person") {
    return scope === undefined
      ? accept(account)
      : refuse("ACCESS_DENIED", "this operation needs the API key of a person, not of an organization");
  }
  if (target.projectId !== undefined && permission !== "claim")
    return authorizeInProject(world, principal, permission, target.projectId);
  const rolePermission = permission === "claim" ? "create" : permission;
  if (target.organizationId !== undefined)
    return authorizeInOrganization(world, principal, rolePermission, target.organizationId);
  return requirePermission(accessRoleOfKey(principal), rolePermission, account);
}

/** Whether lists show this project to the caller. */
export function canRead(world: World, { account, scope }: Principal, project: Project): boolean {
  if (project.accountId === account.id)
    return scope?.projectId === undefined || scope.projectId === project.id;
  return scope === undefined && accessRoleOfPerson(world, account, project) !== undefined;
}

/** D: the projects of others that were shared with a person, oldest first. */
export function sharedProjects(world: World, { account, scope }: Principal): Project[] {
  if (scope !== undefined) return [];
  const shared = new Map<string, Project>();
  for (const record of world.records.by("concern", concernsEmail(account.email)).values()) {
    if (!isOfKind(record, "projectPermission")) continue;
    const project = world.projects.get(record.scope);
    if (project !== undefined && project.deletedAt === undefined && project.accountId !== account.id)
      shared.set(project.id, project);
  }
  return [...shared.values()].sort((a, b) => a.number - b.number);
}

/** Nearly every request takes this path. For the caller's own project it costs one comparison. */
function authorizeInProject(
  world: World,
  principal: Principal,
  permission: RolePermission,
  projectId: string,
): Result<Account> {
  const { account, scope } = principal;
  const project = world.projects.get(projectId);
  if (project === undefined) return accept(account);
  if (scope !== undefined) {
    if (!canRead(world, principal, project)) return projectNotFound(projectId);
    return requirePermission(accessRoleOfKey(principal), permission, account);
  }
  if (project.accountId === account.id) return accept(account);
  const owner = world.accounts.get(project.accountId);
  const accessRole = accessRoleOfPerson(world, account, project);
  if (owner === undefined || accessRole === undefined) return projectNotFound(projectId);
  return requirePermission(accessRole, permission, owner);
}

function authorizeInOrganization(
  world: World,
  principal: Principal,
  permission: RolePermission,
  organizationId: string,
): Result<Account> {
  const { account, scope } = principal;
  const owner = findOrganization(world, organizationId);
  if (!owner.ok) return owner;
  if (owner.value.id === account.id)
    return requirePermission(accessRoleOfKey(principal), permission, account);
  const role = scope === undefined ? memberRoleIn(world, account.id, organizationId) : undefined;
  if (role === undefined)
    return refuse("ORGANIZATION_NOT_FOUND", `organization "${organizationId}" not found`);
  // The list of projects decides itself which of them a collaborator sees.
  return role === "collaborator" && permission === "read"
    ? accept(owner.value)
    : requirePermission(ACCESS_ROLE_OF[role], permission, owner.value);
}

/**
 * The stronger of the role in the organization and the share of the project; `undefined` without any access.
 */
function accessRoleOfPerson(world: World, person: Account, project: Project): AccessRole | undefined {
  const owner = world.accounts.get(project.accountId);
  const role = owner === undefined ? undefined : memberRoleIn(world, person.id, owner.organizationId);
  if (role !== undefined && PERMISSIONS_OF_ROLE[ACCESS_ROLE_OF[role]].includes("write"))
    return ACCESS_ROLE_OF[role];
  for (const record of world.records.by("concern", concernsEmail(person.email)).values()) {
    if (isOfKind(record, "projectPermission") && record.scope === project.id) return "guest";
  }
  return role === undefined || role === "collaborator" ? undefined : ACCESS_ROLE_OF[role];
}

/** The role of a key in its own organization. */
function accessRoleOfKey({ scope }: Principal): AccessRole {
  return scope?.projectId === undefined ? "admin" : "guest";
}

function requirePermission(
  accessRole: AccessRole,
  permission: RolePermission,
  account: Account,
): Result<Account> {
  if (PERMISSIONS_OF_ROLE[accessRole].includes(permission)) return accept(account);
  return refuse(
    "ACCESS_DENIED",
    `${ROLE_DESCRIPTIONS[accessRole]} is not allowed to ${PERMISSION_DESCRIPTIONS[permission]}`,
  );
}

const ROLE_DESCRIPTIONS: Readonly<Record<AccessRole, string>> = {
  admin: "an admin",
  member: "a member",
  viewer: "a viewer",
  collaborator: "a collaborator",
  guest: "a caller with access to single projects only",
};

const PERMISSION_DESCRIPTIONS: Readonly<Record<RolePermission, string>> = {
  read: "see the projects of the organization",
  write: "change what is in a project",
  view: "see the organization",
  create: "add projects or members",
  admin: "act as an admin of the organization",
};
