import { Hono } from "hono";
import * as z from "zod";
import { fail, found } from "../../http/request.ts";
import { findRole } from "../../platform/branch/role.ts";
import { findProject } from "../../platform/lookup.ts";
import { refuse } from "../../platform/refusals.ts";
import { givePassword, PASSWORDS_NOT_STORED } from "../http/passwords.ts";
import { postgresName } from "../http/query-fields.ts";
import type { Caller } from "../http/request-context.ts";
import { renderRole } from "../render/render-branch.ts";
import { renderScheduled } from "../render/render-objects.ts";
import { branchOf, onBranch, targetOf } from "./branches.ts";

const onRole = onBranch.extend({ role_name: z.string() });

/** S. */
export function roleRoutes(caller: Caller): Hono {
  const app = new Hono();

  app.get(
    "/projects/:project_id/branches/:branch_id/roles",
    caller.route({ params: onBranch }, (call) => {
      const branch = branchOf(call);
      return { roles: branch.roles.map((role) => renderRole(branch, role)) };
    }),
  );

  app.post(
    "/projects/:project_id/branches/:branch_id/roles",
    caller.route(
      {
        status: 201,
        params: onBranch,
        body: z.object({ role: z.object({ name: postgresName, no_login: z.boolean().optional() }) }),
      },
      (call) => {
        const { account, body, params, turn } = call;
        const { name, no_login } = body.role;
        const events = call.execute({ type: "CreateRole", ...targetOf(call), name, noLogin: no_login });
        const branch = branchOf(call);
        const role = found(findRole(branch, name));
        const project = found(findProject(turn.world, account.id, params.project_id));
        const password = role.noLogin === true ? undefined : givePassword(turn, project, role);
        return { role: renderRole(branch, role, password), operations: renderScheduled(events, turn.now) };
      },
    ),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/roles/:role_name",
    caller.route({ params: onRole }, (call) => {
      const branch = branchOf(call);
      return { role: renderRole(branch, found(findRole(branch, call.params.role_name))) };
    }),
  );

  app.delete(
    "/projects/:project_id/branches/:branch_id/roles/:role_name",
    caller.route({ params: onRole }, (call) => {
      const branch = branchOf(call);
      const role = found(findRole(branch, call.params.role_name));
      const events = call.execute({ type: "DeleteRole", ...targetOf(call), name: role.name });
      return { role: renderRole(branch, role), operations: renderScheduled(events, call.turn.now) };
    }),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/roles/:role_name/reveal_password",
    caller.route({ params: onRole }, (call) => {
      const { name, secretId, noLogin } = found(findRole(branchOf(call), call.params.role_name));
      if (noLogin === true) return found(refuse("ROLE_HAS_NO_PASSWORD", `role "${name}" cannot log in and has no password`));
      const password = call.turn.world.secrets.get(secretId)?.value;
      return password === undefined ? fail(PASSWORDS_NOT_STORED) : { password };
    }),
  );

  app.post(
    "/projects/:project_id/branches/:branch_id/roles/:role_name/reset_password",
    caller.route({ params: onRole }, (call) => {
      const { account, params, turn } = call;
      const events = call.execute({ type: "ResetRolePassword", ...targetOf(call), name: params.role_name });
      const branch = branchOf(call);
      const role = found(findRole(branch, params.role_name));
      const project = found(findProject(turn.world, account.id, params.project_id));
      return { role: renderRole(branch, role, givePassword(turn, project, role)), operations: renderScheduled(events, turn.now) };
    }),
  );

  return app;
}
