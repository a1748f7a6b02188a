import type { CurrentUserInfoResponse } from "@neondatabase/api-client";
import * as z from "zod";
import { id } from "../../http/fields.ts";
import { REGIONS } from "../../platform/catalog/regions.ts";
import { planOf } from "../../platform/model/account.ts";
import { effectiveLimits } from "../../platform/rules/account/account-limits.ts";
import { organizationsOf } from "../../platform/rules/account/organization.ts";
import { profileOfWorld } from "../../platform/world/world.ts";
import { type ApiRoute, route } from "../http/route.ts";
import {
  renderAuthAccount,
  renderBillingAccount,
  renderOrganization,
  renderRegion,
  subscriptionTypeOf,
} from "../render/render-account.ts";

/** S: the caller, its organizations, and the regions. */
export function accountRoutes(): readonly ApiRoute[] {
  return [getCurrentUserInfo, getCurrentUserOrganizations, getOrganization, getActiveRegions, getAuthDetails];
}

const getCurrentUserInfo = route("GET /users/me", { permission: "person" }, ({ account, transaction }) => {
  const plan = planOf(account);
  const limits = effectiveLimits(transaction.world, plan);
  return {
    active_seconds_limit: 0,
    billing_account: renderBillingAccount(transaction.world, account, transaction.now),
    auth_accounts: [renderAuthAccount(account)],
    email: account.email,
    id: account.id,
    image: "",
    login: account.email,
    name: account.name,
    last_name: "",
    projects_limit: limits.projects,
    branches_limit: limits.branches,
    max_autoscaling_limit: plan.onlySizeCu ?? profileOfWorld(transaction.world).sizes.autoscaled.at(-1) ?? 0,
    plan: subscriptionTypeOf(transaction.world, account),
  } satisfies CurrentUserInfoResponse;
});

// S: a key of an organization lists only that organization.
const getCurrentUserOrganizations = route(
  "GET /users/me/organizations",
  {},
  ({ principal: { account, scope }, transaction }) => ({
    organizations: (scope === undefined ? organizationsOf(transaction.world, account) : [account]).map(
      (owner) => renderOrganization(transaction.world, owner),
    ),
  }),
);

const getOrganization = route(
  "GET /organizations/:org_id",
  { params: z.object({ org_id: id }), permission: "view" },
  ({ account, transaction }) => renderOrganization(transaction.world, account),
);

const getActiveRegions = route("GET /regions", { query: z.object({ org_id: id.optional() }) }, () => ({
  regions: REGIONS.map((region, index) => renderRegion(region, index === 0)),
}));

// A: the account of an organization's key is the organization.
const getAuthDetails = route("GET /auth", {}, ({ principal: { account, scope } }) =>
  scope === undefined
    ? { account_id: account.id, auth_method: "api_key_user" }
    : { account_id: scope.organizationId, auth_method: "api_key_org" },
);
