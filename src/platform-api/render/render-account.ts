import type * as public_ from "@neondatabase/api-client";
import { timestamp } from "../../http/timestamps.ts";
import type { Region } from "../../platform/catalog/regions.ts";
import { type Account, planOf } from "../../platform/model/account.ts";
import type { ApiKey } from "../../platform/model/api-key.ts";
import type { World } from "../../platform/world/world.ts";
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

export function renderOrganization(account: Account) {
  return {
    id: account.organizationId,
    name: account.name,
    handle: account.organizationId.replace(/^org-/, ""),
    plan: planOf(account).subscriptionType,
    created_at: timestamp(account.createdAt),
    managed_by: "console",
    updated_at: timestamp(account.createdAt),
  } satisfies AllowUndefined<public_.Organization>;
}
