/** Paid plans that have a price per CU-hour. The free plan has an allowance instead (D). */
export type PricedPlan = "launch" | "scale";
export type VendorPlan = PricedPlan | "free";
export type PriceListDate = "2025-08-14" | "2025-11-03" | "2026-03-20";

/** Prices of the vendor at one date, in dollars. */
export type PriceList = {
  readonly date: PriceListDate;
  readonly perCuHour: Readonly<Record<PricedPlan, number>>;
  /** A GB of snapshots of branches in a month. */
  readonly snapshotGb: number;
  /** The lowest bill of a month on a paid plan. */
  readonly minimum: number;
  /**
   * Monthly allowance of a project of the free plan. When it is used up, computes stay suspended until the next month.
   */
  readonly freeCuHours: number;
};

/**
 * D: the vendor's announcements of the first two dates, and its page of plans as of the third, which has no minimum any
 * more. Prices change independently of the other numbers of the platform, so they are not part of a profile. The newest
 * list is the last one.
 */
const PRICE_LISTS: readonly [PriceList, ...PriceList[]] = [
  {
    date: "2025-08-14",
    perCuHour: { launch: 0.14, scale: 0.26 }, // D
    snapshotGb: 0, // D
    minimum: 5, // D
    freeCuHours: 50, // D
  },
  {
    date: "2025-11-03",
    perCuHour: { launch: 0.106, scale: 0.222 }, // D
    snapshotGb: 0, // D
    minimum: 5, // D
    freeCuHours: 100, // D
  },
  {
    date: "2026-03-20",
    perCuHour: { launch: 0.106, scale: 0.222 }, // D
    snapshotGb: 0.09, // D: the vendor's changelog: since 2026-05-01. Its other prices have not changed since this date
    minimum: 0, // D
    freeCuHours: 100, // D
  },
];

export const PRICE_LIST_DATES = PRICE_LISTS.map(({ date }) => date) as [PriceListDate, ...PriceListDate[]];
export const PRICED_PLANS: [PricedPlan, ...PricedPlan[]] = ["launch", "scale"];
export const VENDOR_PLANS: [VendorPlan, ...VendorPlan[]] = ["free", ...PRICED_PLANS];

/**
 * D: the vendor's pages of plans of all dates; the same on each list. Dollars a month for each unit. History is what a
 * branch keeps to restore from. Transfer is that over the public network.
 */
export const OTHER_PRICES = {
  storageGb: 0.35,
  historyGb: 0.2,
  extraBranch: 1.5,
  transferGb: 0.1,
  includedTransferGb: 100,
} as const;

/** D: the same pages: branches that each project of a plan has without a charge, those without a parent included. */
export const INCLUDED_BRANCHES: Readonly<Record<VendorPlan, number>> = { free: 10, launch: 10, scale: 25 };

/** D: the same pages: what a project of the free plan may have, in addition to compute. */
export const FREE_PLAN_INCLUDES = { storageGb: 0.5, transferGb: 5 } as const;

/**
 * D: the vendor's page of plans, "Scale to zero": which autosuspend delays a plan lets its users set. `launch` allows the
 * default and never, `free` only the default.
 */
export const ALLOWED_DELAYS: Readonly<Record<VendorPlan, "default" | "default-or-never" | "all">> = {
  free: "default",
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
