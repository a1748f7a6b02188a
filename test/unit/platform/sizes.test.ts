import { describe, expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { PLANS, refuseWithoutConsumptionHistory } from "../../../src/platform/catalog/plan.ts";
import { largestMaxConnections, resolveSizeRange } from "../../../src/platform/catalog/sizes.ts";

const BASE = { minCu: 1, maxCu: 4 };
const resolve = (
  requested: { readonly minCu?: number; readonly maxCu?: number },
  { base = BASE, plan = PLANS.paid, profile = PROFILES["2026"] } = {},
) => resolveSizeRange(plan, profile, requested, base);
const messageOf = (...parameters: Parameters<typeof resolve>) => {
  const result = resolve(...parameters);
  return result.ok ? undefined : result.refusal.message;
};

describe("the bounds of a compute", () => {
  test.each([
    [{}, { minCu: 1, maxCu: 4 }],
    [{ minCu: 2 }, { minCu: 2, maxCu: 4 }],
    [{ minCu: 4 }, { minCu: 4, maxCu: 4 }],
    [{ maxCu: 8 }, { minCu: 1, maxCu: 8 }],
    // A minimum above the maximum raises it.
    [{ minCu: 8 }, { minCu: 8, maxCu: 8 }],
    [
      { minCu: 0.25, maxCu: 0.25 },
      { minCu: 0.25, maxCu: 0.25 },
    ],
    // 20 CU exist as a fixed size only.
    [{ minCu: 20 }, { minCu: 20, maxCu: 20 }],
  ])("%j is completed from 1 to 4 CU", (requested, expected) => {
    expect(resolve(requested)).toEqual({ ok: true, value: expected });
  });

  const SIZES = "0.25, 0.5 and whole numbers from 1 to 16, fixed up to 56";

  test.each([
    [
      { minCu: 4, maxCu: 2 },
      "autoscaling_limit_min_cu (4) must not be greater than autoscaling_limit_max_cu (2)",
    ],
    [{ minCu: 0.75 }, `autoscaling_limit_min_cu: 0.75 CU is not a compute size; allowed are ${SIZES}`],
    [{ maxCu: 57 }, `autoscaling_limit_max_cu: 57 CU is not a compute size; allowed are ${SIZES}`],
    [{ maxCu: 20 }, "autoscaling_limit_max_cu: 20 CU is a fixed size; it cannot bound an autoscaling range"],
    [
      { minCu: 20, maxCu: 56 },
      "autoscaling_limit_min_cu: 20 CU is a fixed size; it cannot bound an autoscaling range",
    ],
  ])("%j is refused with the field and what is allowed", (requested, message) => {
    expect(messageOf(requested)).toBe(message);
  });

  test("a profile without fixed sizes does not offer them", () => {
    expect(messageOf({ maxCu: 11 }, { profile: PROFILES["2024"] })).toBe(
      "autoscaling_limit_max_cu: 11 CU is not a compute size; allowed are 0.25, 0.5 and whole numbers from 1 to 10",
    );
  });

  test("a plan may refuse other sizes and autoscaling", () => {
    const base = { minCu: 0.25, maxCu: 0.25 };
    expect(resolve({}, { base, plan: PLANS.free })).toEqual({ ok: true, value: base });
    const other = /^a compute size other than 0\.25 CU is not available on the free plan/;
    for (const requested of [{ minCu: 0.5 }, { maxCu: 0.5 }])
      expect(messageOf(requested, { base, plan: PLANS.free })).toMatch(other);
    const plan = { ...PLANS.paid, autoscaling: false };
    expect(messageOf({}, { plan })).toBe(
      "autoscaling is not available on the paid plan; it needs a paid plan",
    );
    expect(resolve({ minCu: 4 }, { plan })).toEqual({ ok: true, value: { minCu: 4, maxCu: 4 } });
  });
});

test("the largest number of connections is that of the largest size", () => {
  expect(largestMaxConnections(PROFILES["2024"])).toBe(4_000);
  const maxConnections = (minCu: number) => minCu * 10;
  const sizes = { autoscaled: [0.25, 1], fixedOnly: [7] };
  expect(largestMaxConnections({ ...PROFILES["2026"], maxConnections, sizes })).toBe(70);
});

test("only the free plan has no consumption history", () => {
  expect(refuseWithoutConsumptionHistory(PLANS.paid)).toBeUndefined();
  expect(refuseWithoutConsumptionHistory(PLANS.free)).toMatchObject({
    code: "PLAN_WITHOUT_CONSUMPTION_HISTORY",
    message: "consumption history is not available on the free plan; it needs a paid plan",
  });
});
