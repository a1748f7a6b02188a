import { test } from "vitest";
import { createShop, SETTINGS, worldWithProject } from "../support/rules/rule-worlds.ts";
import { given } from "../support/rules/rules.ts";

test("a new world records its settings, tracks usage by the hour, scales by load averages and has regional ids", () => {
  given()
    .when({ type: "CreateWorld", settings: SETTINGS })
    .then([
      {
        type: "WorldCreated",
        world: {
          ...SETTINGS,
          hourlyUsage: true,
          loadAverage: true,
          storageUse: true,
          childBranchUse: true,
          regionalIds: true,
        },
      },
    ]);
});

test("configuring a world records the changes alone", () => {
  given({ type: "CreateWorld", settings: SETTINGS })
    .when({ type: "ConfigureWorld", settings: { operations: "immediate", limits: null } })
    .then([{ type: "WorldConfigured", changes: { operations: "immediate", limits: null } }]);
});

test("resetting a world is one event", () => {
  given(worldWithProject())
    .when({ type: "ResetWorld" })
    .then([{ type: "WorldReset" }]);
});

test("after a reset the account is still there and the ids of its projects are free again", () => {
  given(worldWithProject(), { type: "ResetWorld" })
    .when(createShop)
    .then([
      { type: "ProjectCreated", project: { id: "shop", number: 1, accountId: "owner" } },
      { type: "BranchCreated", branch: { id: "br-main", number: 1 } },
      { type: "ComputeCreated", compute: { id: "ep-main", number: 1 } },
      { type: "OperationScheduled" },
      { type: "OperationScheduled" },
    ]);
});
