import type { CurrentUserInfoResponse } from "@neondatabase/api-client";
import { Hono } from "hono";
import * as z from "zod";
import { planOf } from "../platform/account.ts";
import { REGIONS } from "../platform/regions.ts";
import { profileOf } from "../platform/world.ts";
import type { Caller } from "./call.ts";
import { id } from "./fields.ts";
import { checkOrganization } from "./projects.ts";
import { renderOrganization, renderRegion } from "./render.ts";

/** S: who one is and where one may be. */
export function accountRoutes(caller: Caller): Hono {
  const app = new Hono();

  app.get(
    "/users/me",
    caller.route({}, ({ account, turn }) => {
      const plan = planOf(account);
      return {
        active_seconds_limit: 0,
        auth_accounts: [],
        email: account.email,
        id: account.id,
        image: "",
        login: account.email,
        name: account.name,
        last_name: "",
        projects_limit: plan.projectsLimit,
        branches_limit: plan.branchesLimit,
        max_autoscaling_limit: plan.onlySizeCu ?? profileOf(turn.world).sizes.autoscaled.at(-1) ?? 0,
        plan: plan.subscriptionType,
      } satisfies CurrentUserInfoResponse;
    }),
  );

  app.get(
    "/users/me/organizations",
    caller.route({}, ({ account }) => ({ organizations: [renderOrganization(account)] })),
  );

  app.get(
    "/organizations/:org_id",
    caller.route({ params: z.object({ org_id: id }) }, ({ account, params }) => {
      checkOrganization(account, params.org_id);
      return renderOrganization(account);
    }),
  );

  app.get(
    "/regions",
    caller.route({ query: z.object({ org_id: id.optional() }) }, ({ account, query }) => {
      checkOrganization(account, query.org_id);
      return { regions: REGIONS.map((region, index) => renderRegion(region, index === 0)) };
    }),
  );

  app.get(
    "/auth",
    caller.route({}, ({ account }) => ({ account_id: account.id, auth_method: "api_key_user" })),
  );

  return app;
}
