import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { id } from "../../http/fields.ts";
import { unwrap } from "../../http/request.ts";
import { createdRecord } from "../../http/required-event.ts";
import { timestamp } from "../../http/timestamps.ts";
import type { SettingsRecordOf } from "../../platform/model/settings-record.ts";
import { findRecord, recordsOf } from "../../platform/rules/settings/evolve-settings-record.ts";
import { findProject } from "../../platform/world/lookup.ts";
import { email } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";

const projectParams = z.object({ project_id: id });

/** S: the people with whom a project is shared. */
export function permissionRoutes(): readonly ApiRoute[] {
  return [listProjectPermissions, grantPermissionToProject, revokePermissionFromProject];
}

const listProjectPermissions = route(
  "GET /projects/:project_id/permissions",
  { params: projectParams },
  ({ account, params, transaction }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    const permissions = recordsOf(transaction.world, project.id, "projectPermission");
    return { project_permissions: permissions.map(renderPermission) } satisfies public_.ProjectPermissions;
  },
);

const grantPermissionToProject = route(
  "POST /projects/:project_id/permissions",
  { permission: "create", params: projectParams, body: z.object({ email }) },
  ({ account, params, body, execute }) => {
    const events = execute({
      type: "GrantPermission",
      accountId: account.id,
      projectId: params.project_id,
      email: body.email,
    });
    return renderPermission(createdRecord(events, "projectPermission"));
  },
);

const revokePermissionFromProject = route(
  "DELETE /projects/:project_id/permissions/:permission_id",
  { permission: "create", params: projectParams.extend({ permission_id: id }) },
  ({ account, params: { project_id, permission_id }, transaction, execute }) => {
    const permission = findRecord(transaction.world, project_id, "projectPermission", permission_id);
    execute({
      type: "RevokePermission",
      accountId: account.id,
      projectId: project_id,
      permissionId: permission_id,
    });
    if (permission === undefined) throw new Error("RevokePermission deleted no record");
    return {
      ...renderPermission(permission),
      revoked_at: timestamp(transaction.now),
    } satisfies public_.ProjectPermission;
  },
);

function renderPermission({ id: permissionId, fields, createdAt }: SettingsRecordOf<"projectPermission">) {
  return {
    id: permissionId,
    granted_to_email: fields.email,
    granted_at: timestamp(createdAt),
  } satisfies public_.ProjectPermission;
}
