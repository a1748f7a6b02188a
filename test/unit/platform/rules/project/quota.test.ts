import { expect, test } from "vitest";
import { hasQuota, quotaDueAt, refuseOverQuota } from "../../../../../src/platform/rules/usage/quota.ts";
import type { World } from "../../../../../src/platform/world/world.ts";
import { MAIN_COMPUTE, SHOP, worldWithProject } from "../../../../support/rules/rule-worlds.ts";
import {
  after,
  type CommandOf,
  DAY,
  given,
  HOUR,
  NOW,
  SECOND,
  type Step,
} from "../../../../support/rules/rules.ts";

// The compute of 0.25 CU is active since six seconds before NOW, which is 15 January at noon.

type Quota = Readonly<Record<string, number>>;
const withQuota = (quota: Quota): Step => worldWithProject({ settings: { quota } });
const dueAt = (...steps: readonly Step[]) => given(...steps).asking((world) => quotaDueAt(world, "shop"));
const createReplica: CommandOf<"CreateCompute"> = {
  type: "CreateCompute",
  ...SHOP,
  id: "ep-replica",
  branchId: "br-main",
  computeType: "read_only",
  options: { minCu: 1, maxCu: 1 },
};

test.each<[Quota, number | undefined]>([
  [{}, undefined],
  [{ active_time_seconds: 0, compute_time_seconds: 0 }, undefined],
  [{ written_data_bytes: 1 }, undefined],
  [{ active_time_seconds: 60 }, NOW + 54 * SECOND],
  [{ compute_time_seconds: 60 }, NOW + 234 * SECOND],
  [{ active_time_seconds: 60, compute_time_seconds: 60 }, NOW + 54 * SECOND],
  [{ active_time_seconds: 600, compute_time_seconds: 60 }, NOW + 234 * SECOND],
])("the quota %j is reached by active computes at %i", (quota, expected) => {
  expect(dueAt(withQuota(quota))).toBe(expected);
});

test("two active computes use a quota twice as fast, each with its size", () => {
  const both = (quota: Quota) => dueAt(withQuota(quota), createReplica, after(10 * SECOND));
  // The replica starts at NOW + 3 s, when the first compute has been active for 9 s.
  expect(both({ active_time_seconds: 109 })).toBe(NOW + 53 * SECOND);
  expect(both({ compute_time_seconds: 102.25 })).toBe(NOW + 83 * SECOND);
});

test("without an active compute no quota is reached", () => {
  const suspend: CommandOf<"SuspendCompute"> = { type: "SuspendCompute", ...MAIN_COMPUTE };
  expect(dueAt(withQuota({ active_time_seconds: 60 }), suspend)).toBeUndefined();
  expect(dueAt(withQuota({ active_time_seconds: 60 }), suspend, after(HOUR))).toBeUndefined();
});

test("a quota that is not reached in this month is reached in the next one, which starts at zero", () => {
  const february = Date.UTC(2026, 1, 1);
  // 16.5 days are left of January, so 17 days are reached in February.
  expect(dueAt(withQuota({ active_time_seconds: 17 * 86_400 }))).toBe(february + 17 * DAY);
  // February has 28 days, March has 31.
  expect(dueAt(withQuota({ active_time_seconds: 28 * 86_400 }))).toBe(Date.UTC(2026, 2, 29));
  expect(dueAt(withQuota({ active_time_seconds: 31 * 86_400 }))).toBeUndefined();
});

test("the project shows its quota if any is set, also one that computes do not use", () => {
  const has = (settings: Readonly<Record<string, unknown>>) =>
    given(worldWithProject({ settings })).asking((world: World) => {
      const project = world.projects.get("shop");
      return project !== undefined && hasQuota(project);
    });
  expect(has({})).toBe(false);
  expect(has({ quota: {} })).toBe(false);
  expect(has({ quota: { active_time_seconds: 0 } })).toBe(false);
  expect(has({ quota: { active_time_seconds: 0, written_data_bytes: 1 } })).toBe(true);
});

test("the refusal names the first of the next month", () => {
  const refusal = (ms: number) =>
    given(withQuota({ active_time_seconds: 60 }), after(ms)).asking((world, now) =>
      refuseOverQuota(world, "shop", now),
    );
  expect(refusal(54 * SECOND - 1)).toBeUndefined();
  expect(refusal(54 * SECOND)?.message).toMatch(/quota of active_time_seconds.* before 2026-02-01T00:00:00Z/);
});

test("the use of the previous month does not count", () => {
  const refusalAt = (at: number) =>
    given(withQuota({ active_time_seconds: 60 })).asking((world) => refuseOverQuota(world, "shop", at));
  expect(refusalAt(Date.UTC(2026, 1, 1, 0, 0, 59, 999))).toBeUndefined();
  expect(refusalAt(Date.UTC(2026, 1, 1, 0, 1))?.message).toMatch(/before 2026-03-01/);
});
