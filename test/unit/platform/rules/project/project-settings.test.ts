import { describe, expect, test } from "vitest";
import { PROFILES, type ProfileName } from "../../../../../src/platform/catalog/defaults-and-limits.ts";
import { limitsOf } from "../../../../../src/platform/rules/project/project-limits.ts";
import { effectiveSettings } from "../../../../../src/platform/rules/project/project-settings.ts";
import { isSameJson, mergeSettings } from "../../../../../src/platform/rules/settings/settings-objects.ts";
import type { World } from "../../../../../src/platform/world/world.ts";
import { worldWithProject } from "../../../../support/rules/rule-worlds.ts";
import { given } from "../../../../support/rules/rules.ts";

const projectOf = (world: World) => {
  const project = world.projects.get("shop");
  if (project === undefined) throw new Error("the project does not exist");
  return project;
};
const settingsOf = (settings: Readonly<Record<string, unknown>>, profile: ProfileName = "2026") =>
  given(worldWithProject({ settings })).asking((world) =>
    effectiveSettings(projectOf(world), PROFILES[profile]),
  );

describe("the settings of a project", () => {
  const defaults = {
    allowed_ips: { ips: [], protected_branches_only: false },
    enable_logical_replication: false,
    maintenance_window: { weekdays: [5], start_time: "07:00", end_time: "08:00" },
    block_public_connections: false,
    block_vpc_connections: false,
    hipaa: false,
  };

  test("are the defaults where it has none of its own", () => {
    expect(settingsOf({})).toEqual(defaults);
  });

  test("replace the defaults one by one, and within the allowed addresses", () => {
    expect(settingsOf({ hipaa: true, allowed_ips: { ips: ["10.0.0.1"] } })).toEqual({
      ...defaults,
      hipaa: true,
      allowed_ips: { ips: ["10.0.0.1"], protected_branches_only: false },
    });
  });

  test("have primary_branch_only in profile 2024 only", () => {
    const allowedIps = { ips: [], protected_branches_only: false };
    const allowed_ips = { primary_branch_only: true };
    expect(settingsOf({}, "2024")["allowed_ips"]).toEqual({ ...allowedIps, primary_branch_only: false });
    expect(settingsOf({ allowed_ips }, "2024")["allowed_ips"]).toEqual({ ...allowedIps, ...allowed_ips });
    expect(settingsOf({ allowed_ips }, "2026")["allowed_ips"]).toEqual(allowedIps);
  });

  test("name all quotas if one is set, and none otherwise", () => {
    expect(settingsOf({ quota: { active_time_seconds: 60 } })).toEqual({
      ...defaults,
      quota: {
        active_time_seconds: 60,
        compute_time_seconds: 0,
        written_data_bytes: 0,
        data_transfer_bytes: 0,
        logical_size_bytes: 0,
      },
    });
    expect(settingsOf({ quota: {} })).toEqual(defaults);
  });
});

test.each([
  ["a missing setting is added", { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
  ["a scalar is replaced", { a: 1 }, { a: 2 }, { a: 2 }],
  ["a list is replaced", { a: [1, 2] }, { a: [3] }, { a: [3] }],
  ["an object is merged", { a: { x: 1, y: 1 } }, { a: { y: 2 } }, { a: { x: 1, y: 2 } }],
  ["an object replaces a scalar", { a: "text" }, { a: { y: 2 } }, { a: { y: 2 } }],
  ["a scalar replaces an object", { a: { x: 1 } }, { a: "text" }, { a: "text" }],
  ["a list replaces an object", { a: { x: 1 } }, { a: [1] }, { a: [1] }],
  ["an object replaces a list", { a: [1] }, { a: { x: 1 } }, { a: { x: 1 } }],
  ["null replaces an object", { a: { x: 1 } }, { a: null }, { a: null }],
  ["an object replaces null", { a: null }, { a: { x: 1 } }, { a: { x: 1 } }],
  [
    "an object that is to be replaced is not merged",
    { whole: { x: 1 } },
    { whole: { y: 2 } },
    { whole: { y: 2 } },
  ],
])("settings: %s", (_, stored, update, expected) => {
  expect(mergeSettings<Record<string, unknown>>(stored, update, ["whole"])).toEqual(expected);
});

test.each<[unknown, unknown, boolean]>([
  [1, 1, true],
  [1, "1", false],
  [null, null, true],
  [null, {}, false],
  [{}, null, false],
  [[1, 2], [1, 2], true],
  [[1, 2], [2, 1], false],
  [[1, 2], [1], false],
  [[1], [1, 2], false],
  [[], {}, false],
  [{}, [], false],
  [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1, b: 2 }, { a: 1 }, false],
  [{ a: { b: 1 } }, { a: { b: 2 } }, false],
  [{ a: 1 }, 1, false],
])("JSON: %j equals %j: %s", (one, other, expected) => {
  expect(isSameJson(one, other)).toBe(expected);
});

test.each([
  [
    "paid",
    "2024",
    { endpoints: 10_000, readReplicas: 10_000, maxAutoscaledCu: 10, maxFixedCu: 10, minSuspendTimeoutS: 60 },
  ],
  ["paid", "2026", { readReplicas: 10_000, maxAutoscaledCu: 16, maxFixedCu: 56, minSuspendTimeoutS: 60 }],
  [
    "free",
    "2024",
    { endpoints: 20, readReplicas: 0, maxAutoscaledCu: 0.25, maxFixedCu: 0.25, minSuspendTimeoutS: 300 },
  ],
] as const)("the limits of a project on the %s plan in the profile of %s", (plan, profile, expected) => {
  const limits = given(worldWithProject({}, { plan, profile })).asking((world) =>
    limitsOf(world, projectOf(world)),
  );
  expect(limits).toMatchObject({ ok: true, value: expected });
});

test("a project without an account has no limits", () => {
  const limits = given(worldWithProject()).asking((world) =>
    limitsOf(world, { ...projectOf(world), accountId: "nobody" }),
  );
  expect(limits).toMatchObject({ ok: false });
});
