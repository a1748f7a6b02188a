import type * as public_ from "@neondatabase/api-client";
import { timestamp } from "../../http/timestamps.ts";
import { monthStart } from "../../kernel/calendar.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Region } from "../../platform/catalog/regions.ts";
import type { Account } from "../../platform/model/account.ts";
import type { ApiKey } from "../../platform/model/api-key.ts";
import { profileOfWorld, type World } from "../../platform/world/world.ts";
import type { AllowUndefined } from "./render-common.ts";

export function renderApiKey(world: World, apiKey: ApiKey) {
  const use = world.apiKeyUses.get(String(apiKey.id));
  return {
    id: apiKey.id,
    name: apiKey.name,
    created_at: timestamp(apiKey.createdAt),
    last_used_at: use === undefined ? null : timestamp(use.lastUsedAt),
    last_used_from_addr: use?.lastUsedFromAddr ?? "",
  };
}

export function renderRegion(region: Region, isDefault: boolean) {
  return {
    region_id: region.id,
    name: region.name,
    default: isDefault,
    geo_lat: region.latitude,
    geo_long: region.longitude,
  } satisfies public_.RegionResponse;
}

/** The name of the account's plan in this world's profile. */
export function subscriptionTypeOf(world: World, account: Account) {
  return profileOfWorld(world).subscriptionTypes[account.plan] as public_.BillingSubscriptionType;
}

/** A: simulated accounts do not pay, so there is no source of payment and no address. */
export function renderBillingAccount(world: World, account: Account, now: SimTime) {
  return {
    state: "active" as public_.BillingAccountState,
    payment_source: { type: "" },
    subscription_type: subscriptionTypeOf(world, account),
    payment_method: "none" as public_.BillingPaymentMethod,
    // S: when the quota was last reset, or when the account was created.
    quota_reset_at_last: timestamp(Math.max(account.createdAt, monthStart(now))),
    name: account.name,
    email: account.email,
    address_city: "",
    address_country: "",
    address_line1: "",
    address_line2: "",
    address_postal_code: "",
    address_state: "",
  } satisfies public_.BillingAccount;
}

/** A: an account signs in with an identity of the platform's own provider. */
export function renderAuthAccount(account: Account) {
  return {
    email: account.email,
    image: "",
    login: account.email,
    name: account.name,
    provider: "keycloak" as public_.IdentityProviderId,
  } satisfies public_.CurrentUserAuthAccount;
}

export function renderOrganization(world: World, account: Account) {
  return {
    id: account.organizationId,
    name: account.name,
    handle: account.organizationId.replace(/^org-/, ""),
    plan: subscriptionTypeOf(world, account),
    created_at: timestamp(account.createdAt),
    managed_by: "console",
    updated_at: timestamp(account.createdAt),
  } satisfies AllowUndefined<public_.Organization>;
}
