import { expect, test } from "vitest";
import { countConnections } from "../../../src/platform/rules/compute/open-connections.ts";
import {
  createOther,
  MAIN,
  MAIN_COMPUTE,
  restartMain,
  SHOP,
  worldWithBranch,
  worldWithIdleCompute,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { after, type CommandOf, given, HOUR, queued, running, type Step } from "../../support/rules/rules.ts";

const update: CommandOf<"UpdateCompute"> = {
  type: "UpdateCompute",
  ...MAIN_COMPUTE,
  options: { name: "primary" },
};
const resize: CommandOf<"UpdateCompute"> = { ...update, options: { minCu: 1, maxCu: 2 } };
const disable: CommandOf<"UpdateCompute"> = { ...update, options: { disabled: true } };
const remove: CommandOf<"DeleteCompute"> = { type: "DeleteCompute", ...MAIN_COMPUTE };
const createReplica: CommandOf<"CreateCompute"> = {
  type: "CreateCompute",
  ...SHOP,
  id: "ep-replica",
  branchId: "br-main",
  computeType: "read_only",
  options: {},
};
const connect: Step = {
  type: "RecordActivity",
  activity: { endpointId: "ep-main", kind: "connect", connectionId: "c1" },
};

/** State and number of connections of the compute "ep-main". Nothing suspends by itself. */
function mainAfter(...past: readonly Step[]) {
  return given(...past).asking((world, now) => [
    world.computes.get("ep-main")?.phase.state,
    countConnections(world, "ep-main", now).direct,
  ]);
}

const disabledCompute: Step = [worldWithProject(), disable, after(HOUR)];

test("the name and the autosuspend delay of a compute change without a restart", () => {
  given(worldWithProject())
    .when({ ...update, options: { name: "primary", suspendTimeoutSeconds: 60 } })
    .then([
      {
        type: "ComputeUpdated",
        endpointId: "ep-main",
        changes: { name: "primary", suspendTimeoutSeconds: 60 },
      },
      running("apply_config", { branchId: "br-main", endpointId: "ep-main" }),
    ]);
});

test("another size suspends an active compute, which then starts again", () => {
  given(worldWithProject())
    .when(resize)
    .then([
      { type: "ComputeUpdated", changes: { range: { minCu: 1, maxCu: 2 } } },
      running("apply_config", { thenStart: false }),
      queued("suspend_compute", { thenStart: true }),
    ]);
});

test("a new fixed size, minimum or maximum drops the connections, and the compute is active again", () => {
  for (const options of [{ minCu: 2, maxCu: 2 }, { minCu: 1 }, { maxCu: 8 }]) {
    const ranged = worldWithProject({ compute: { minCu: 0.5, maxCu: 4 } });
    expect(mainAfter(ranged, connect, { ...update, options }, after(HOUR))).toEqual(["active", 0]);
  }
});

test("a new autosuspend delay keeps the connections open", () => {
  for (const suspendTimeoutSeconds of [-1, 0, 60, 604_800])
    expect(
      mainAfter(worldWithProject(), connect, { ...update, options: { suspendTimeoutSeconds } }, after(HOUR)),
    ).toEqual(["active", 1]);
});

test("a change is stored at once, before its operations have ended", () => {
  const stored = given(worldWithProject(), resize).asking((world) => world.computes.get("ep-main"));
  expect(stored).toMatchObject({ range: { minCu: 1, maxCu: 2 }, phase: { state: "active" } });
});

test("an idle compute is not started by another size", () => {
  given(worldWithIdleCompute())
    .when(resize)
    .then([
      { type: "ComputeUpdated" },
      running("apply_config"),
      queued("suspend_compute", { thenStart: false }),
    ]);
});

test("new settings are merged with the old ones and need a restart", () => {
  const pgSettings = { pg_settings: { work_mem: "8MB" } };
  given(worldWithProject())
    .when({ ...update, options: { settings: pgSettings } })
    .then([
      { type: "ComputeUpdated", changes: { settings: pgSettings } },
      running("apply_config"),
      queued("suspend_compute", { thenStart: true }),
    ]);
});

test.each<[string, Partial<CommandOf<"UpdateCompute">>]>([
  ["sizes", { options: { minCu: 0.25, maxCu: 0.25 } }],
  ["branch", { branchId: "br-main", options: {} }],
  ["pooler", { options: { poolerEnabled: false } }],
  ["passwordless access", { options: { passwordlessAccess: true } }],
  ["provisioner", { options: { provisioner: "k8s-neonvm" } }],
  ["settings, none of which is named", { options: { settings: {} } }],
  [
    "settings, all of which are empty",
    { options: { settings: { pg_settings: {}, pgbouncer_settings: {} } } },
  ],
  ["sizes, with another name", { options: { minCu: 0.25, name: "primary" } }],
])("repeating the current %s gets the operations of an update, without a suspend", (_, fields) => {
  given(worldWithProject())
    .when({ ...update, ...fields })
    .then([
      { type: "ComputeUpdated" },
      running("apply_config", { cause: "request" }),
      queued("suspend_compute", { cause: "repeated_update", thenStart: false }),
    ]);
});

test("one value that differs is a change, whatever else is repeated", () => {
  given(worldWithProject())
    .when({ ...update, branchId: "br-main", options: { minCu: 0.25, maxCu: 0.25, poolerEnabled: true } })
    .then([
      { type: "ComputeUpdated" },
      running("apply_config"),
      queued("suspend_compute", { cause: "request", thenStart: true }),
    ]);
});

test("disabling a compute while repeating its values suspends it", () => {
  given(worldWithProject())
    .when({ ...update, options: { minCu: 0.25, disabled: true } })
    .then([
      { type: "ComputeUpdated" },
      running("apply_config"),
      queued("suspend_compute", { cause: "request", thenStart: false }),
    ]);
});

test("preload libraries are merged; a removed Postgres setting is a change", () => {
  const libraries = { use_defaults: false, enabled_libraries: ["pg_cron"] };
  const settings = { pg_settings: { work_mem: "8MB" }, preload_libraries: libraries };
  const configured: Step = [worldWithProject(), { ...update, options: { settings } }, after(HOUR)];
  given(configured)
    .when({ ...update, options: { settings: { preload_libraries: { use_defaults: false } } } })
    .then([
      { type: "ComputeUpdated", changes: { settings } },
      running("apply_config"),
      queued("suspend_compute", { cause: "repeated_update" }),
    ]);
  given(configured)
    .when({ ...update, options: { settings: { pg_settings: {} } } })
    .then([
      { type: "ComputeUpdated", changes: { settings: { pg_settings: {}, preload_libraries: libraries } } },
      running("apply_config"),
      queued("suspend_compute", { cause: "request" }),
    ]);
});

test("a disabled compute is suspended and does not start again", () => {
  given(worldWithProject())
    .when(disable)
    .then([
      { type: "ComputeUpdated", changes: { disabled: true } },
      running("suspend_compute", { thenStart: false }),
      { type: "ComputeSuspending", endpointId: "ep-main" },
    ]);
});

test("disabling together with another change applies that first", () => {
  given(worldWithProject())
    .when({ ...update, options: { disabled: true, name: "primary" } })
    .then([{ type: "ComputeUpdated" }, running("apply_config"), queued("suspend_compute")]);
});

test("enabling a compute does not start it", () => {
  given(disabledCompute)
    .when({ ...update, options: { disabled: false } })
    .then([{ type: "ComputeUpdated", changes: { disabled: false } }, running("apply_config")]);
});

test("a compute moves to another branch with a restart", () => {
  given(worldWithBranch())
    .when({ ...update, branchId: "br-dev", options: {} })
    .then([
      { type: "ComputeUpdated", endpointId: "ep-main", changes: { branchId: "br-dev" } },
      running("apply_config", { branchId: "br-dev" }),
      queued("suspend_compute", { branchId: "br-dev", thenStart: true }),
    ]);
});

test("moving a primary compute to a branch that has one is refused; a replica moves", () => {
  const bothPrimaries = worldWithBranch({
    computes: [{ id: "ep-dev", computeType: "read_write", options: {} }],
  });
  given(bothPrimaries)
    .when({ ...update, branchId: "br-dev", options: {} })
    .thenRefused("READ_WRITE_ENDPOINT_EXISTS");
  given(bothPrimaries, createReplica, after(HOUR))
    .when({ ...update, computeId: "ep-replica", branchId: "br-dev", options: {} })
    .then([
      { type: "ComputeUpdated", endpointId: "ep-replica", changes: { branchId: "br-dev" } },
      running("apply_config"),
      queued("suspend_compute"),
    ]);
});

test("an update that names no field still applies the configuration", () => {
  given(worldWithProject())
    .when({ ...update, options: {} })
    .then([{ type: "ComputeUpdated", changes: {} }, running("apply_config")]);
});

test("an update to a size, delay, library or branch that does not exist is refused", () => {
  given(worldWithProject())
    .when({ ...update, options: { maxCu: 0.1 } })
    .thenRefused("COMPUTE_SIZE_NOT_ALLOWED");
  given(worldWithProject())
    .when({ ...update, options: { suspendTimeoutSeconds: 604_801 } })
    .thenRefused("SUSPEND_TIMEOUT_NOT_ALLOWED");
  given(worldWithProject())
    .when({ ...update, options: { settings: { preload_libraries: { enabled_libraries: ["unknown"] } } } })
    .thenRefused("PRELOAD_LIBRARY_NOT_AVAILABLE");
  given(worldWithProject())
    .when({ ...update, branchId: "br-unknown" })
    .thenRefused("BRANCH_NOT_FOUND");
});

test("an update to what the plan does not offer is refused", () => {
  given(worldWithProject({}, { plan: "free" }))
    .when(resize)
    .thenRefused("PLAN_LIMIT_EXCEEDED");
});

test("a deleted compute is gone at once, without an operation", () => {
  given(worldWithProject())
    .when(remove)
    .then([{ type: "ComputeDeleted", endpointId: "ep-main" }]);
});

test("a deleted compute does not come back, and its branch may have another primary", () => {
  given(worldWithProject(), remove, after(HOUR)).when(update).thenRefused("ENDPOINT_NOT_FOUND");
  given(worldWithProject(), remove)
    .when({ ...createReplica, id: "ep-next", computeType: "read_write" })
    .then([
      { type: "ComputeCreated", compute: { id: "ep-next", type: "read_write" } },
      running("start_compute"),
    ]);
});

test("deleting a compute cancels its unfinished operations", () => {
  given(worldWithProject(), restartMain)
    .when(remove)
    .then([
      { type: "OperationCancelled", operationId: "operation-3" },
      { type: "OperationCancelled", operationId: "operation-4" },
      { type: "ComputeDeleted", endpointId: "ep-main" },
    ]);
});

test("deleting a compute of a protected branch is refused", () => {
  given(worldWithProject(), { type: "UpdateBranch", ...MAIN, protected: true })
    .when(remove)
    .thenRefused("BRANCH_IS_PROTECTED");
});

test.each([update, remove])("$type for an unknown compute is refused", (command) => {
  given(worldWithProject())
    .when({ ...command, computeId: "ep-unknown" })
    .thenRefused("ENDPOINT_NOT_FOUND");
  given(worldWithProject(), createOther)
    .when({ ...command, accountId: "other" })
    .thenRefused("PROJECT_NOT_FOUND");
});
