import { test } from "vitest";
import {
  createOther,
  createShop,
  MAIN,
  MAIN_COMPUTE,
  restartMain,
  SHOP,
  worldWithAccount,
  worldWithIdleCompute,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { type CommandOf, DAY, given, NOW, queued, running } from "../../support/rules/rules.ts";

const update: CommandOf<"UpdateProject"> = { type: "UpdateProject", ...SHOP };
const enableReplication = { ...update, settings: { enable_logical_replication: true } };
const deleteShop: CommandOf<"DeleteProject"> = { type: "DeleteProject", ...SHOP };
const protectMain: CommandOf<"UpdateBranch"> = { type: "UpdateBranch", ...MAIN, protected: true };

test("an update records the fields that it names", () => {
  given(worldWithProject())
    .when({ ...update, name: "store", historyRetentionSeconds: 3_600 })
    .then([
      {
        type: "ProjectUpdated",
        projectId: "shop",
        changes: { name: "store", historyRetentionSeconds: 3_600 },
      },
    ]);
});

test("new settings are merged with the old ones", () => {
  given(worldWithProject({ settings: { block_public_connections: true } }))
    .when({ ...update, settings: { quota: { active_time_seconds: 60 } } })
    .then([
      {
        type: "ProjectUpdated",
        changes: { settings: { block_public_connections: true, quota: { active_time_seconds: 60 } } },
      },
    ]);
});

test("objects in settings are merged field by field; lists and quotas are replaced", () => {
  const allowed_ips = { ips: ["192.0.2.1"], protected_branches_only: true };
  const shop = worldWithProject({ settings: { allowed_ips, quota: { active_time_seconds: 60 } } });
  given(shop)
    .when({ ...update, settings: { allowed_ips: { ips: ["192.0.2.2"] }, quota: {} } })
    .then([
      {
        type: "ProjectUpdated",
        changes: {
          settings: { allowed_ips: { ips: ["192.0.2.2"], protected_branches_only: true }, quota: {} },
        },
      },
    ]);
  given(shop)
    .when({ ...update, settings: { allowed_ips: { protected_branches_only: false } } })
    .then([
      {
        type: "ProjectUpdated",
        changes: { settings: { allowed_ips: { ips: ["192.0.2.1"], protected_branches_only: false } } },
      },
    ]);
});

test("new defaults for computes change no compute", () => {
  given(worldWithProject())
    .when({ ...update, defaultEndpointSettings: { minCu: 1 } })
    .then([{ type: "ProjectUpdated", changes: { defaultEndpointSettings: { minCu: 1 } } }]);
});

test("a busy project can be renamed", () => {
  given(worldWithProject(), restartMain)
    .when({ ...update, name: "store" })
    .then([{ type: "ProjectUpdated", changes: { name: "store" } }]);
});

test("enabling logical replication suspends the active computes", () => {
  given(worldWithProject())
    .when(enableReplication)
    .then([
      { type: "ProjectUpdated", changes: { settings: { enable_logical_replication: true } } },
      running("suspend_compute", { endpointId: "ep-main", thenStart: false }),
      { type: "ComputeSuspending", endpointId: "ep-main" },
    ]);
});

test("enabling logical replication leaves idle computes alone", () => {
  given(worldWithIdleCompute())
    .when(enableReplication)
    .then([{ type: "ProjectUpdated" }]);
});

test("enabling logical replication is never locked: a compute that is starting is suspended afterwards", () => {
  given(worldWithProject(), restartMain)
    .when(enableReplication)
    .then([{ type: "ProjectUpdated" }, queued("suspend_compute", { endpointId: "ep-main" })]);
});

test("enabling logical replication does not suspend a compute that is being suspended", () => {
  given(worldWithProject(), { type: "SuspendCompute", ...MAIN_COMPUTE })
    .when(enableReplication)
    .then([{ type: "ProjectUpdated" }]);
});

test("enabling logical replication again suspends nothing", () => {
  given(worldWithProject({ settings: { enable_logical_replication: true } }))
    .when(enableReplication)
    .then([{ type: "ProjectUpdated" }]);
});

test("logical replication cannot be disabled", () => {
  given(worldWithProject({ settings: { enable_logical_replication: true } }))
    .when({ ...update, settings: { enable_logical_replication: false } })
    .thenRefused("LOGICAL_REPLICATION_NOT_ALLOWED");
});

test("defaults that no compute could have are refused", () => {
  given(worldWithProject())
    .when({ ...update, defaultEndpointSettings: { minCu: 2, maxCu: 1 } })
    .thenRefused("COMPUTE_SIZE_NOT_ALLOWED");
  given(worldWithProject())
    .when({ ...update, defaultEndpointSettings: { suspendTimeoutSeconds: 604_801 } })
    .thenRefused("SUSPEND_TIMEOUT_NOT_ALLOWED");
  given(worldWithProject({}, { plan: "free" }))
    .when({ ...update, defaultEndpointSettings: { minCu: 1 } })
    .thenRefused("PLAN_LIMIT_EXCEEDED");
  given(worldWithProject())
    .when({ ...update, settings: { preload_libraries: { enabled_libraries: ["unknown"] } } })
    .thenRefused("PRELOAD_LIBRARY_NOT_AVAILABLE");
});

test("a deleted project can be recovered for seven days; its active computes are suspended", () => {
  given(worldWithProject())
    .when(deleteShop)
    .then([
      { type: "ProjectDeleted", projectId: "shop", recoverableUntil: NOW + 7 * DAY },
      running("suspend_compute", { endpointId: "ep-main" }),
      { type: "ComputeSuspending", endpointId: "ep-main" },
      queued("delete_timeline", { projectId: "shop" }),
    ]);
});

test("deleting a project with idle computes suspends nothing", () => {
  given(worldWithIdleCompute())
    .when(deleteShop)
    .then([{ type: "ProjectDeleted" }, running("delete_timeline")]);
});

test("deleting a project with a protected branch is refused", () => {
  given(worldWithProject(), protectMain)
    .when(deleteShop)
    .thenRefused("BRANCH_IS_PROTECTED", /"main"/);
});

test("deleting a project cancels its operations; a compute whose start is cancelled is idle", () => {
  given(worldWithProject(), restartMain)
    .when(deleteShop)
    .then([
      { type: "OperationCancelled" },
      { type: "OperationCancelled" },
      { type: "ComputeStartFailed", endpointId: "ep-main" },
      { type: "ProjectDeleted", projectId: "shop" },
      running("delete_timeline"),
    ]);
});

test("deleting a project whose compute is being suspended suspends it again", () => {
  given(worldWithProject(), { type: "SuspendCompute", ...MAIN_COMPUTE })
    .when(deleteShop)
    .then([
      { type: "OperationCancelled" },
      { type: "ProjectDeleted" },
      running("suspend_compute", { endpointId: "ep-main" }),
      { type: "ComputeSuspending" },
      queued("delete_timeline"),
    ]);
});

test("a project can be deleted as soon as it is created", () => {
  given(worldWithAccount(), createShop)
    .when(deleteShop)
    .then([
      { type: "OperationCancelled" },
      { type: "OperationCancelled" },
      { type: "ComputeStartFailed", endpointId: "ep-main" },
      { type: "ProjectDeleted" },
      running("delete_timeline"),
    ]);
});

test("deleting a project twice is refused", () => {
  given(worldWithProject(), deleteShop).when(deleteShop).thenRefused("PROJECT_NOT_FOUND");
});

test.each([{ ...update, name: "store" }, deleteShop])(
  "$type for a project of another account is refused",
  (command) => {
    given(worldWithProject(), createOther)
      .when({ ...command, accountId: "other" })
      .thenRefused("PROJECT_NOT_FOUND");
  },
);
