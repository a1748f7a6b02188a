import type { Context } from "../core/context.ts";
import type { BranchRef } from "../core/object-refs.ts";
import { fitsPostgresIdentifier } from "../core/text.ts";
import { nextNumber, type World } from "../core/world.ts";
import type { Event } from "../events.ts";
import type { Deciders } from "../handlers.ts";
import { findBranchFor, primaryComputeOf } from "../lookup.ts";
import type { OperationRequest } from "../operation/operation.ts";
import { refuseWhileBusy, scheduleOperations } from "../operation/schedule-operations.ts";
import { refuseOverQuota } from "../project/quota.ts";
import { accept, type Result, refuse } from "../refusals.ts";
import type { Branch } from "./branch.ts";
import type { CreateRole, DeleteRole, ResetRolePassword, Role, RoleCommand } from "./branch-content.ts";

export const roleDeciders = {
  CreateRole: decideCreateRole,
  DeleteRole: decideDeleteRole,
  ResetRolePassword: decideResetRolePassword,
} satisfies Deciders<RoleCommand>;

/** The name under which the password of a new role is kept; `ahead` counts those that the same decision makes before it. */
export function newSecretId(world: World, offset = 0): string {
  return `role-${nextNumber(world, "role", offset)}`;
}

export function findRole(branch: Pick<Branch, "roles">, name: string): Result<Role> {
  const role = branch.roles.find((candidate) => candidate.name === name);
  return role === undefined ? refuse("ROLE_NOT_FOUND", `role "${name}" not found`) : accept(role);
}

function decideCreateRole(world: World, command: CreateRole, context: Context): Result<Event[]> {
  const { now } = context;
  return decideContentChange(world, command, context, (branch) => {
    if (findRole(branch, command.name).ok)
      return refuse("ROLE_ALREADY_EXISTS", `role already exists; role_name:"${command.name}"`);
    const nameCheck = checkRoleName(command.name);
    if (!nameCheck.ok) return nameCheck;
    const role: Role = {
      name: command.name,
      secretId: newSecretId(world),
      ...(command.noLogin === true ? { noLogin: true } : {}),
      createdAt: now,
      updatedAt: now,
    };
    return accept({ type: "RoleCreated", at: now, branchId: branch.id, role });
  });
}

/** A: a role that owns a database cannot be dropped, as Postgres has it. */
function decideDeleteRole(world: World, command: DeleteRole, context: Context): Result<Event[]> {
  return decideContentChange(world, command, context, (branch) => {
    const role = findRole(branch, command.name);
    if (!role.ok) return role;
    const ownedDatabase = branch.databases.find((database) => database.ownerName === command.name);
    if (ownedDatabase !== undefined) {
      return refuse(
        "ROLE_OWNS_DATABASE",
        `role "${command.name}" owns the database "${ownedDatabase.name}"; give that another owner or delete it first`,
      );
    }
    return accept({ type: "RoleDeleted", at: context.now, branchId: branch.id, roleName: command.name });
  });
}

/** The new password is told by the caller's edge; here it gets a name of its own, so that other branches keep the former one. */
function decideResetRolePassword(
  world: World,
  command: ResetRolePassword,
  context: Context,
): Result<Event[]> {
  return decideContentChange(world, command, context, (branch) => {
    const role = findRole(branch, command.name);
    if (!role.ok) return role;
    if (role.value.noLogin)
      return refuse("ROLE_HAS_NO_PASSWORD", `role "${command.name}" cannot log in and has no password`);
    return accept({
      type: "RolePasswordReset",
      at: context.now,
      branchId: branch.id,
      roleName: command.name,
      secretId: newSecretId(world),
    });
  });
}

/** A change of what a branch holds: refused while its project is busy, and applied through its primary compute. */
export function decideContentChange(
  world: World,
  command: BranchRef,
  context: Context,
  change: (branch: Branch) => Result<Event>,
): Result<Event[]> {
  const branch = findBranchFor(world, command);
  if (!branch.ok) return branch;
  const event = change(branch.value);
  if (!event.ok) return event;
  const busy = refuseWhileBusy(world, command.projectId);
  if (busy !== undefined) return { ok: false, refusal: busy };
  return accept([
    event.value,
    ...scheduleOperations(world, command.projectId, applyRequests(world, branch.value, context), context),
  ]);
}

/**
 * S: "if the compute endpoint is idle, the endpoint becomes active for a short period of time": it is started first, and falls asleep by
 * its own delay (A). A: without a compute that may start there is nothing to apply it with, and it is applied at the next start.
 */
function applyRequests(world: World, branch: Branch, { now }: Context): OperationRequest[] {
  const compute = primaryComputeOf(world, branch.id);
  if (
    compute === undefined ||
    compute.disabled ||
    refuseOverQuota(world, branch.projectId, now) !== undefined
  )
    return [];
  const target = { branchId: branch.id, endpointId: compute.id };
  const start: OperationRequest[] =
    compute.phase.state === "active" ? [] : [{ action: "start_compute", ...target }];
  return [...start, { action: "apply_config", ...target }];
}

/** D: "new passwords are generated for the roles of a branch that is created from a protected branch". */
export function withNewPasswords(world: World, roles: readonly Role[]): Role[] {
  let offset = 0;
  return roles.map((role) =>
    role.noLogin === true ? role : { ...role, secretId: newSecretId(world, offset++) },
  );
}

/** Those of a branch whose passwords were named after `before` of them had been, and who log in. */
export function rolesWithSecretAfter(roles: readonly Role[], before: number): Role[] {
  return roles.filter(({ secretId, noLogin }) => noLogin !== true && secretNumberOf(secretId) > before);
}

export function advanceRoleNumber(world: World, roles: readonly Role[]): void {
  for (const { secretId } of roles)
    world.numbers.role = Math.max(world.numbers.role, secretNumberOf(secretId));
}

/** The names of passwords carry the number of their draw. */
function secretNumberOf(secretId: string): number {
  return Number(secretId.slice("role-".length));
}

/** D: names that Postgres and the platform keep for themselves. S: "Cannot exceed 63 bytes in length", be it asked for or made here. */
export function checkRoleName(name: string, field = "role.name"): Result<true> {
  if (!fitsPostgresIdentifier(name))
    return refuse("ROLE_NAME_NOT_ALLOWED", `${field}: "${name}" is longer than 63 bytes`);
  return isReserved(name)
    ? refuse("ROLE_NAME_NOT_ALLOWED", `${field}: "${name}" is reserved by the platform`)
    : accept(true);
}

function isReserved(name: string): boolean {
  return (
    /^pg_/.test(name) ||
    ["postgres", "public", "none", "current_user", "session_user", "cloud_admin"].includes(name)
  );
}
