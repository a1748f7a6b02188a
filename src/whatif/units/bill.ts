import { OTHER_PRICES, type PriceList, type VendorPlan } from "../../platform/catalog/price-lists.ts";

/** The items of a month's bill other than compute; undefined: unknown. */
export type OtherUsage = {
  readonly storageGb?: number | undefined;
  readonly historyGb?: number | undefined;
  /** Snapshots of branches. */
  readonly snapshotGb?: number | undefined;
  /** Branches beyond those that the plan includes. A single number applies to every plan. */
  readonly extraBranches?: number | Readonly<Record<VendorPlan, number>> | undefined;
  readonly transferGb?: number | undefined;
};

type BillLine = { readonly line: string; readonly dollars_per_month: number };
export type MonthlyBill = {
  readonly dollars_per_month: number;
  readonly lines: readonly BillLine[];
  /** Items whose usage is unknown. They are not included in the total. */
  readonly unknown: readonly string[];
};

export function extraBranchesOn(plan: VendorPlan, { extraBranches }: OtherUsage): number | undefined {
  return typeof extraBranches === "object" ? extraBranches[plan] : extraBranches;
}

/** The items of a month on a plan. Only the compute item and the part added to reach the minimum depend on delays. */
export function monthlyBill(
  computeDollars: number,
  usage: OtherUsage,
  plan: VendorPlan,
  { minimum, snapshotGb: snapshotPrice }: Pick<PriceList, "minimum" | "snapshotGb">,
): MonthlyBill {
  const { storageGb, historyGb, transferGb } = usage;
  const billedTransfer =
    transferGb === undefined ? undefined : Math.max(0, transferGb - OTHER_PRICES.includedTransferGb);
  const priced = [
    ["storage", storageGb, OTHER_PRICES.storageGb],
    ["history", historyGb, OTHER_PRICES.historyGb],
    ...(snapshotPrice === 0 ? [] : [["snapshots", usage.snapshotGb, snapshotPrice] as const]),
    ["extra branches", extraBranchesOn(plan, usage), OTHER_PRICES.extraBranch],
    ["transfer", billedTransfer, OTHER_PRICES.transferGb],
  ] as const;
  const usageLines: BillLine[] = [
    { line: "compute", dollars_per_month: computeDollars },
    ...priced.flatMap(([line, amount, price]) =>
      amount === undefined ? [] : [{ line, dollars_per_month: amount * price }],
    ),
  ];
  const sum = usageLines.reduce((total, { dollars_per_month }) => total + dollars_per_month, 0);
  const toMinimum = Math.max(0, minimum - sum);
  return {
    dollars_per_month: sum + toMinimum,
    lines:
      toMinimum === 0
        ? usageLines
        : [...usageLines, { line: "to the minimum", dollars_per_month: toMinimum }],
    unknown: priced.filter(([, amount]) => amount === undefined).map(([line]) => line),
  };
}
