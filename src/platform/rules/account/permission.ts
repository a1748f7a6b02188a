import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { ProjectRef } from "../../model/object-refs.ts";
import { concernsEmail } from "../../model/settings-record.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findProject } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import { findRecord, recordCreated, recordDeleted, recordsOf } from "../settings/evolve-settings-record.ts";

export type PermissionCommand = GrantPermission | RevokePermission;

export const permissionDeciders = {
  GrantPermission: decideGrantPermission,
  RevokePermission: decideRevokePermission,
} satisfies Deciders<PermissionCommand>;

type GrantPermission = ProjectRef & { readonly type: "GrantPermission"; readonly email: string };
type RevokePermission = ProjectRef & {
  readonly type: "RevokePermission";
  readonly permissionId: string;
};

/** S: to the account with this address. A: the account may be created later. */
function decideGrantPermission(world: World, command: GrantPermission, context: Context): Result<Event[]> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const { id, accountId } = project.value;
  const concern = concernsEmail(command.email);
  const isOwner = concernsEmail(world.accounts.get(accountId)?.email ?? "") === concern;
  if (
    isOwner ||
    recordsOf(world, id, "projectPermission").some(({ fields }) => concernsEmail(fields.email) === concern)
  ) {
    return refuse("PERMISSION_EXISTS", `email: ${command.email} has access to project "${id}" already`);
  }
  return accept([recordCreated(world, context, id, "projectPermission", { email: command.email })]);
}

function decideRevokePermission(world: World, command: RevokePermission, { now }: Context): Result<Event[]> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const permission = findRecord(world, project.value.id, "projectPermission", command.permissionId);
  if (permission === undefined)
    return refuse("PERMISSION_NOT_FOUND", `permission "${command.permissionId}" not found`);
  return accept([recordDeleted(permission, now)]);
}
