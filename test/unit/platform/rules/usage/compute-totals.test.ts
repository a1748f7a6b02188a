import { expect, test } from "vitest";
import type { Compute } from "../../../../../src/platform/model/compute.ts";
import { ComputeTotals } from "../../../../../src/platform/world/compute-totals.ts";

const idle = { phase: { state: "idle" } } as Compute;
const starting = { phase: { state: "init" } } as Compute;
const active = (sizeCu: number) => ({ phase: { state: "active", sizeCu } }) as Compute;

test("computes are counted by state, and the size of active ones is added", () => {
  const totals = new ComputeTotals();
  for (const compute of [idle, starting, active(0.25), active(4)]) totals.replace(undefined, compute);
  expect(totals.byState).toEqual({ init: 1, active: 2, idle: 1 });
  expect(totals.activeCu).toBe(4.25);
});

test("a compute that is replaced or removed is no longer counted in its earlier state", () => {
  const totals = new ComputeTotals();
  totals.replace(undefined, starting);
  totals.replace(starting, active(2));
  totals.replace(active(2), active(8));
  totals.replace(undefined, idle);
  expect([totals.byState, totals.activeCu]).toEqual([{ init: 0, active: 1, idle: 1 }, 8]);
  totals.replace(active(8), undefined);
  totals.replace(idle, undefined);
  expect([totals.byState, totals.activeCu]).toEqual([{ init: 0, active: 0, idle: 0 }, 0]);
});

test("an emptied table has no totals", () => {
  const totals = new ComputeTotals();
  for (const compute of [idle, starting, active(2)]) totals.replace(undefined, compute);
  totals.clear();
  expect([totals.byState, totals.activeCu]).toEqual([{ init: 0, active: 0, idle: 0 }, 0]);
});
