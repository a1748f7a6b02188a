import { fitsPostgresIdentifier } from "../../../kernel/text.ts";
import { ACCEPTED, accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import { isReservedRole } from "../../catalog/reserved-names.ts";
import type { Branch } from "../../model/branch.ts";
import type {
  CreateRole,
  DeleteRole,
  ResetRolePassword,
  Role,
  RoleCommand,
} from "../../model/branch-content.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { BranchRef } from "../../model/object-refs.ts";
import type { OperationRequest } from "../../model/operation.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findBranchFor, primaryComputeOf } from "../../world/lookup.ts";
import { nextNumber, type World } from "../../world/world.ts";
import { refuseWhileLocked } from "../operation/locked-by-operations.ts";
import { scheduleOperations } from "../operation/schedule-operations.ts";
import { isStartedByTraffic } from "../operation/start-by-traffic.ts";
import { refuseOverQuota } from "../usage/quota.ts";

export const roleDeciders = {
  CreateRole: decideCreateRole,
  DeleteRole: decideDeleteRole,
  ResetRolePassword: decideResetRolePassword,
} satisfies Deciders<RoleCommand>;

/**
 * The id of a new role's password. `offset`: the number of passwords that the same decision creates before
 * it.
 */
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

/** A: as in Postgres, a role that owns a database cannot be dropped. */
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

/**
 * The edge generates the new password. It gets a new secret id, so other branches keep the previous password.
 */
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

/**
 * A change of a branch's content: rejected while the branch or its primary compute is locked, and applied through its primary
 * compute. A: it starts an idle compute itself, so it does not conflict with a start that traffic has caused.
 */
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
  const primary = primaryComputeOf(world, branch.value.id);
  const isTouched = primary !== undefined && !isStartedByTraffic(world, primary);
  const locked = refuseWhileLocked(world, command.projectId, {
    branchIds: [branch.value.id],
    endpointIds: isTouched ? [primary.id] : [],
  });
  if (locked !== undefined) return { ok: false, refusal: locked };
  return accept([
    event.value,
    ...scheduleOperations(world, command.projectId, applyRequests(world, branch.value, context), context),
  ]);
}

/**
 * S: "if the compute endpoint is idle, the endpoint becomes active for a short period of time": it is started
 * first, and suspends after its usual delay (A). A: without a compute that may start, no operation is
 * scheduled.
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
    compute.phase.state === "active" || isStartedByTraffic(world, compute)
      ? []
      : [{ action: "start_compute", ...target }];
  return [...start, { action: "apply_config", ...target }];
}

/** D: "new passwords are generated for the roles of a branch that is created from a protected branch". */
export function withNewPasswords(world: World, roles: readonly Role[]): Role[] {
  let offset = 0;
  return roles.map((role) =>
    role.noLogin === true ? role : { ...role, secretId: newSecretId(world, offset++) },
  );
}

/**
 * The roles that can log in and whose secret number is above `before`: their passwords are yet to be
 * generated.
 */
export function rolesWithSecretAfter(roles: readonly Role[], before: number): Role[] {
  return roles.filter(({ secretId, noLogin }) => noLogin !== true && secretNumberOf(secretId) > before);
}

export function advanceRoleNumber(world: World, roles: readonly Role[]): void {
  for (const { secretId } of roles)
    world.numbers.role = Math.max(world.numbers.role, secretNumberOf(secretId));
}

/** A secret id ends in the number of its draw. */
function secretNumberOf(secretId: string): number {
  return Number(secretId.slice("role-".length));
}

/** S: "Cannot exceed 63 bytes in length", generated names included. */
export function checkRoleName(name: string, field = "role.name"): Result<undefined> {
  if (!fitsPostgresIdentifier(name))
    return refuse("ROLE_NAME_NOT_ALLOWED", `${field}: "${name}" is longer than 63 bytes`);
  return isReservedRole(name)
    ? refuse("ROLE_NAME_NOT_ALLOWED", `${field}: "${name}" is reserved by the platform`)
    : ACCEPTED;
}
