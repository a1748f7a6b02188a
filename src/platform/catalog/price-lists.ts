/** Paid plans that have a price per CU-hour. The free plan has an allowance instead (D). */
export type PricedPlan = "launch" | "scale";
export type PriceListDate = "2025-08-14" | "2025-11-03";

/** Dollars per CU-hour, as published on one date. */
export type PriceList = {
  readonly date: PriceListDate;
  readonly perCuHour: Readonly<Record<PricedPlan, number>>;
};

/**
 * D: the vendor's announcements of these dates. Prices change independently of the other numbers of the
 * platform, so they are not part of a profile. The newest list is the last one.
 */
const PRICE_LISTS: readonly [PriceList, ...PriceList[]] = [
  { date: "2025-08-14", perCuHour: { launch: 0.14, scale: 0.26 } }, // D
  { date: "2025-11-03", perCuHour: { launch: 0.106, scale: 0.222 } }, // D
];

export const PRICE_LIST_DATES = PRICE_LISTS.map(({ date }) => date) as [PriceListDate, ...PriceListDate[]];
export const PRICED_PLANS: [PricedPlan, ...PricedPlan[]] = ["launch", "scale"];

/**
 * D: the vendor's pages of plans of both dates; the same on both lists. Dollars a month for each unit. History is what a
 * branch keeps to restore from. Transfer is that over the public network.
 */
export const OTHER_PRICES = {
  /** The lowest bill of a month. */
  minimum: 5,
  storageGb: 0.35,
  historyGb: 0.2,
  extraBranch: 1.5,
  transferGb: 0.1,
  includedTransferGb: 100,
} as const;

/**
 * D: the vendor's page of plans, "Scale to zero": which autosuspend delays a plan lets its users set. `launch` allows the
 * default and never.
 */
export const ALLOWED_DELAYS: Readonly<Record<PricedPlan, "default-or-never" | "all">> = {
  launch: "default-or-never",
  scale: "all",
};

/** D: only this plan allows autosuspend delays other than the default and never. */
export const DEFAULT_PRICED_PLAN: PricedPlan = "scale";

export function newestPriceList(): PriceList {
  return PRICE_LISTS[PRICE_LISTS.length - 1] as PriceList;
}

export function priceListOf(date: PriceListDate): PriceList {
  return PRICE_LISTS.find((list) => list.date === date) as PriceList;
}
