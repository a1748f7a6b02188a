import { expect, test } from "vitest";
import { newestPriceList, priceListOf } from "../../../src/platform/catalog/price-lists.ts";
import { monthlyBill } from "../../../src/whatif/units/bill.ts";

const NEWEST = newestPriceList();
const WITH_MINIMUM = priceListOf("2025-11-03");

test("a bill has compute, storage, history, snapshots, extra branches and transfer beyond the included 100 GB", () => {
  const bill = monthlyBill(
    20,
    { storageGb: 10, historyGb: 5, snapshotGb: 100, extraBranches: 2, transferGb: 130 },
    "scale",
    NEWEST,
  );
  expect(bill.lines).toEqual([
    { line: "compute", dollars_per_month: 20 },
    { line: "storage", dollars_per_month: 3.5 },
    { line: "history", dollars_per_month: 1 },
    { line: "snapshots", dollars_per_month: 9 },
    { line: "extra branches", dollars_per_month: 3 },
    { line: "transfer", dollars_per_month: 3 },
  ]);
  expect([bill.dollars_per_month, bill.unknown]).toEqual([39.5, []]);
  expect(monthlyBill(20, { transferGb: 100 }, "scale", NEWEST).dollars_per_month).toBe(20);
});

test("a bill is at least the minimum of a list that has one, so saving compute below it saves nothing; unknown lines are named", () => {
  for (const [compute, total] of [
    [0, 5],
    [4.99, 5],
    [5, 5],
    [5.01, 5.01],
  ] as const)
    expect(monthlyBill(compute, {}, "scale", WITH_MINIMUM).dollars_per_month).toBe(total);
  expect(monthlyBill(1, {}, "scale", WITH_MINIMUM).lines.at(-1)).toEqual({
    line: "to the minimum",
    dollars_per_month: 4,
  });
  expect(monthlyBill(5, { storageGb: 0 }, "scale", WITH_MINIMUM).unknown).toEqual([
    "history",
    "extra branches",
    "transfer",
  ]);
  expect(monthlyBill(1, {}, "scale", NEWEST).dollars_per_month).toBe(1);
});

test("the same branches are more extra branches on a plan that includes fewer", () => {
  const usage = { extraBranches: { free: 18, launch: 18, scale: 3 } };
  const extra = (plan: "launch" | "scale") => monthlyBill(0, usage, plan, NEWEST).dollars_per_month;
  expect([extra("launch"), extra("scale")]).toEqual([27, 4.5]);
});

test("snapshots have a price since May 2026, so bills of older lists do not have them", () => {
  expect(monthlyBill(0, { snapshotGb: 100 }, "launch", NEWEST).dollars_per_month).toBeCloseTo(9);
  expect(monthlyBill(0, {}, "launch", NEWEST).unknown).toContain("snapshots");
  const older = monthlyBill(9, { snapshotGb: 100 }, "launch", WITH_MINIMUM);
  expect(older.dollars_per_month).toBe(9);
  expect(older.lines.map(({ line }) => line)).toEqual(["compute"]);
  expect(older.unknown).not.toContain("snapshots");
});
