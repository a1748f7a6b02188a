import type { World } from "../core/world.ts";
import { findOrganization } from "../lookup.ts";
import { isOfKind } from "../project/evolve-settings-record.ts";
import type { Project } from "../project/project.ts";
import { concernsEmail, type MemberRole } from "../project/settings-record.ts";
import { accept, type Result, refuse } from "../refusals.ts";
import type { Account } from "./account.ts";
import type { ApiKey } from "./api-key.ts";
import { memberRoleIn } from "./organization.ts";

/** Whom a key speaks for: a person or, with a scope, an organization or one of its projects. */
export type Principal = {
  /** The person's account, or that of the organization. */
  readonly account: Account;
  readonly scope?: ApiKey["scope"];
};

/**
 * What one may be allowed: to read or change what is there; to see what concerns the organization itself; to bring in projects
 * or people; to rule over members, keys, money, and the end or the owner of a project.
 */
type RolePermission = "read" | "write" | "view" | "create" | "admin";

/**
 * What an operation asks of its caller: a right; to be a person; or to claim what he knows a request for: he need see nothing of
 * that project, and must be allowed to bring it where he takes it.
 */
export type Permission = RolePermission | "person" | "claim";

/** What the caller is where the operation happens. */
type AccessRole = "admin" | "member" | "viewer" | "collaborator" | "guest";

/**
 * S: admins alone change members and spending limits. D: members work in all projects and make new ones, and delete none;
 * whoever has been given a project, and a key to one project alone, works in it, and neither deletes it nor gives it to others.
 * A: the rest.
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
  collaborator: "collaborator", // D: sees the projects that were shared with him, no others
};

/** The project or the organization that an operation names, if any. */
export type AccessTarget = {
  readonly projectId?: string | undefined;
  readonly organizationId?: string | undefined;
};

/**
 * The account for which the caller acts at this place. What he may not see is not found, as if it were not there; what he sees
 * and may not do is denied. A project that does not exist is left to the operation, which has a word for it.
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
      : refuse("ACCESS_DENIED", "this needs the API key of a person, not of an organization");
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

/** The way of nearly every call: one's own project costs one comparison. */
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
    if (!canRead(world, principal, project))
      return refuse("PROJECT_NOT_FOUND", `project "${projectId}" not found`);
    return requirePermission(accessRoleOfKey(principal), permission, account);
  }
  if (project.accountId === account.id) return accept(account);
  const owner = world.accounts.get(project.accountId);
  const accessRole = accessRoleOfPerson(world, account, project);
  if (owner === undefined || accessRole === undefined)
    return refuse("PROJECT_NOT_FOUND", `project "${projectId}" not found`);
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
  // What a list of projects shows to a collaborator is for the list to say.
  return role === "collaborator" && permission === "read"
    ? accept(owner.value)
    : requirePermission(ACCESS_ROLE_OF[role], permission, owner.value);
}

/** The better of what a person is in the organization and what was given to him; nothing where he sees nothing of the project. */
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

/** What a key stands for where its account is at home. */
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
    `this needs more than ${ROLE_DESCRIPTIONS[accessRole]} may do: ${PERMISSION_DESCRIPTIONS[permission]}`,
  );
}

const ROLE_DESCRIPTIONS: Readonly<Record<AccessRole, string>> = {
  admin: "an admin",
  member: "a member",
  viewer: "a viewer",
  collaborator: "a collaborator",
  guest: "whoever has access to single projects",
};

const PERMISSION_DESCRIPTIONS: Readonly<Record<RolePermission, string>> = {
  read: "to see the projects of the organization",
  write: "to change what is in a project",
  view: "to see what concerns the organization",
  create: "to bring projects or people in",
  admin: "to be an admin of the organization",
};
