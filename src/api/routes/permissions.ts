import type * as public_ from "@neondatabase/api-client";
import { Hono } from "hono";
import * as z from "zod";
import { timestamp } from "../../http/instants.ts";
import { found } from "../../http/request.ts";
import { findProject } from "../../platform/lookup.ts";
import { findRecord, recordsOf } from "../../platform/project/evolve-settings-record.ts";
import type { RecordOf } from "../../platform/project/settings-record.ts";
import { email, id } from "../http/query-fields.ts";
import type { Caller } from "../http/request-context.ts";

const inProject = z.object({ project_id: id });

/** S: with whom a project is shared. */
export function permissionRoutes(caller: Caller): Hono {
  const app = new Hono();

  app.get(
    "/projects/:project_id/permissions",
    caller.route({ params: inProject }, ({ account, params, turn }) => {
      const project = found(findProject(turn.world, account.id, params.project_id));
      const permissions = recordsOf(turn.world, project.id, "projectPermission");
      return { project_permissions: permissions.map(renderPermission) } satisfies public_.ProjectPermissions;
    }),
  );

  app.post(
    "/projects/:project_id/permissions",
    caller.route({ needs: "bring", params: inProject, body: z.object({ email }) }, ({ account, params, body, execute }) => {
      const events = execute({ type: "GrantPermission", accountId: account.id, projectId: params.project_id, email: body.email });
      for (const event of events) {
        if (event.type === "RecordCreated" && event.record.kind === "projectPermission") return renderPermission(event.record);
      }
      throw new Error("GrantPermission granted none");
    }),
  );

  app.delete(
    "/projects/:project_id/permissions/:permission_id",
    caller.route(
      { needs: "bring", params: inProject.extend({ permission_id: id }) },
      ({ account, params: { project_id, permission_id }, turn, execute }) => {
        const permission = findRecord(turn.world, project_id, "projectPermission", permission_id);
        execute({ type: "RevokePermission", accountId: account.id, projectId: project_id, permissionId: permission_id });
        if (permission === undefined) throw new Error("RevokePermission revoked none");
        return { ...renderPermission(permission), revoked_at: timestamp(turn.now) } satisfies public_.ProjectPermission;
      },
    ),
  );

  return app;
}

function renderPermission({ id: permissionId, fields, createdAt }: RecordOf<"projectPermission">) {
  return { id: permissionId, granted_to_email: fields.email, granted_at: timestamp(createdAt) } satisfies public_.ProjectPermission;
}
