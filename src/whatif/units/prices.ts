import { PROFILES, type Profile, type ProfileName } from "../../platform/catalog/defaults-and-limits.ts";
import {
  DEFAULT_PRICED_PLAN,
  newestPriceList,
  type PricedPlan,
  type PriceListDate,
  priceListOf,
} from "../../platform/catalog/price-lists.ts";

/** A built-in profile, or one from a file, which may have a price of its own. */
export type NamedProfile = {
  readonly name: string;
  readonly profile: Profile;
  readonly pricePerCuHour?: number | undefined;
};

export function builtInProfile(name: ProfileName): NamedProfile {
  return { name, profile: PROFILES[name] };
}

/**
 * Prices given by the user. Default of an omitted field: the price in the profile's file, otherwise that of the newest
 * price list.
 */
export type PriceInput = {
  readonly price?: number | undefined;
  readonly prices?: PriceListDate | undefined;
  readonly pricePlan?: PricedPlan | undefined;
};

/** A price and where it comes from. */
export type UsedPrice = {
  readonly pricePerCuHour: number;
  readonly source: { readonly list: PriceListDate; readonly plan: PricedPlan } | "flag" | "profile";
};

export function usedPrice(
  { price, prices, pricePlan }: PriceInput,
  profile: Pick<NamedProfile, "pricePerCuHour">,
): UsedPrice {
  if (price !== undefined) return { pricePerCuHour: price, source: "flag" };
  if (profile.pricePerCuHour !== undefined && prices === undefined && pricePlan === undefined)
    return { pricePerCuHour: profile.pricePerCuHour, source: "profile" };
  const list = prices === undefined ? newestPriceList() : priceListOf(prices);
  const plan = pricePlan ?? DEFAULT_PRICED_PLAN;
  return { pricePerCuHour: list.perCuHour[plan], source: { list: list.date, plan } };
}

/** A price as the JSON of every report states it. */
export type PriceSummary = {
  readonly price_per_cu_hour: number;
  /** Both null if the price was given, or comes from the file of a profile. */
  readonly price_list: PriceListDate | null;
  readonly price_plan: PricedPlan | null;
};

export function priceSummary({ pricePerCuHour, source }: UsedPrice): PriceSummary {
  const isListed = typeof source !== "string";
  return {
    price_per_cu_hour: pricePerCuHour,
    price_list: isListed ? source.list : null,
    price_plan: isListed ? source.plan : null,
  };
}

/** A phrase to follow "at" in a sentence. */
export function priceText(summary: PriceSummary): string {
  return `$${summary.price_per_cu_hour} per CU-hour (${priceListText(summary)})`;
}

export function priceListText({
  price_list,
  price_plan,
}: Pick<PriceSummary, "price_list" | "price_plan">): string {
  return price_list === null ? "not from a price list" : `plan ${price_plan}, prices of ${price_list}`;
}
