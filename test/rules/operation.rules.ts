import { expect, test } from "vitest";
import {
  createDev,
  createShop,
  DEV,
  MAIN,
  MAIN_COMPUTE,
  restartMain,
  SHOP,
  worldWithAccount,
  worldWithBranch,
  worldWithIdleCompute,
  worldWithProject,
} from "../support/rules/rule-worlds.ts";
import {
  after,
  type CommandOf,
  DAY,
  given,
  NOW,
  queued,
  running,
  SECOND,
  type Step,
} from "../support/rules/rules.ts";

const operation = (number: number) => ({ kind: "operation", id: `operation-${number}` }) as const;
/** Operation 1 creates the branch, operation 2 waits to start its compute. */
const newProject: Step = [worldWithAccount(), createShop];
const suspendMain: Step = { type: "SuspendCompute", ...MAIN_COMPUTE };
const resizeMain: Step = { type: "UpdateCompute", ...MAIN_COMPUTE, options: { minCu: 1 } };
const queryMain: Step = { type: "RecordActivity", activity: { endpointId: "ep-main", kind: "query" } };
const recoverShop: Step = { type: "RecoverProject", ...SHOP };
const deleteDev: CommandOf<"DeleteBranch"> = { type: "DeleteBranch", ...DEV };
/** The weeks from 1970 to the Thursday of `NOW`: releases are numbered by weeks. */
const RELEASE = 2924;

/** All operations of an action fail this often, and then finish or are failed. */
function failing(
  action: "create_timeline" | "start_compute" | "suspend_compute",
  times: number,
  ends: "finished" | "failed",
): Step {
  const effect = { kind: "operation_fails", times, ends } as const;
  return {
    type: "SetFaults",
    faults: [{ name: "broken", scope: { actions: [action] }, timing: {}, effect }],
  };
}

test("a branch is ready when its creation finishes, and its compute starts", () => {
  given(newProject)
    .when(operation(1), after(SECOND))
    .then([
      { type: "OperationFinished", operationId: "operation-1" },
      { type: "BranchBecameReady", branchId: "br-main" },
      { type: "OperationStarted", operationId: "operation-2", dueAt: NOW + 4 * SECOND },
    ]);
});

test("an operation does not finish a millisecond before it is due", () => {
  given(newProject)
    .when(operation(1), after(SECOND - 1))
    .then([]);
});

test("an operation that waits, is over or is unknown is not due", () => {
  given(newProject).when(operation(2), after(SECOND)).then([]);
  given(worldWithProject()).when(operation(1)).then([]);
  given(worldWithProject()).when(operation(99)).then([]);
});

test("a compute is active, with the newest release, when its start finishes", () => {
  given(newProject, after(SECOND))
    .when(operation(2), after(3 * SECOND))
    .then([
      { type: "OperationFinished", operationId: "operation-2" },
      { type: "ComputeActivated", endpointId: "ep-main", release: RELEASE },
    ]);
});

test("a compute that is always active keeps its release until it is restarted", () => {
  const threeWeeks: Step = [worldWithProject({ compute: { suspendTimeoutSeconds: -1 } }), after(21 * DAY)];
  const release = (...past: readonly Step[]) =>
    given(threeWeeks, ...past).asking((world) => world.computes.get("ep-main")?.phase);
  expect(release()).toMatchObject({ state: "active", release: RELEASE });
  expect(release({ ...resizeMain, options: { suspendTimeoutSeconds: 60 } }, after(SECOND))).toMatchObject({
    release: RELEASE,
  });
  expect(release(restartMain, after(4 * SECOND))).toMatchObject({ state: "active", release: RELEASE + 3 });
});

test("a compute is idle when its suspend finishes", () => {
  given(worldWithProject(), suspendMain)
    .when(operation(3), after(SECOND))
    .then([
      { type: "OperationFinished", operationId: "operation-3" },
      { type: "ComputeSuspended", endpointId: "ep-main", cause: "request" },
    ]);
});

test("during a restart the start follows the suspend", () => {
  given(worldWithProject(), restartMain)
    .when(operation(3), after(SECOND))
    .then([
      { type: "OperationFinished", operationId: "operation-3" },
      { type: "ComputeSuspended" },
      { type: "OperationStarted", operationId: "operation-4" },
    ]);
});

test("a suspend that waited closes the connections when it begins", () => {
  given(worldWithProject(), resizeMain)
    .when(operation(3), after(SECOND))
    .then([
      { type: "OperationFinished", operationId: "operation-3" },
      { type: "OperationStarted", operationId: "operation-4" },
      { type: "ComputeSuspending", endpointId: "ep-main" },
    ]);
});

test("after an update an active compute starts again by itself", () => {
  given(worldWithProject(), resizeMain, after(SECOND))
    .when(operation(4), after(SECOND))
    .then([
      { type: "OperationFinished", operationId: "operation-4" },
      { type: "ComputeSuspended", cause: "request" },
      running("start_compute", { id: "operation-5", cause: "restart" }),
    ]);
});

test("after an update a compute is not started twice when a query has started it", () => {
  given(worldWithProject(), resizeMain, after(SECOND), queryMain)
    .when(operation(4), after(SECOND))
    .then([
      { type: "OperationFinished", operationId: "operation-4" },
      { type: "ComputeSuspended" },
      { type: "OperationStarted", operationId: "operation-5" },
    ]);
});

const createReplica: CommandOf<"CreateCompute"> = {
  type: "CreateCompute",
  ...SHOP,
  branchId: "br-main",
  id: "ep-replica",
  computeType: "read_only",
  options: {},
};

test("after an update a compute starts again although another compute is starting", () => {
  given(worldWithProject(), resizeMain, after(SECOND), createReplica)
    .when(operation(4), after(SECOND))
    .then([
      { type: "OperationFinished", operationId: "operation-4" },
      { type: "ComputeSuspended" },
      running("start_compute", { id: "operation-6", endpointId: "ep-main" }),
    ]);
});

test("an update leaves an idle compute idle, also if its suspend fails", () => {
  given(worldWithIdleCompute(), resizeMain, after(SECOND))
    .when(operation(5), after(SECOND))
    .then([{ type: "OperationFinished", operationId: "operation-5" }]);
  given(worldWithIdleCompute(), failing("suspend_compute", 1, "failed"), resizeMain, after(SECOND))
    .when(operation(5), after(SECOND))
    .then([{ type: "OperationFailed", operationId: "operation-5" }]);
});

test("an update that repeats the current values leaves a compute active, also if its suspend fails", () => {
  const resized: Step = [worldWithProject(), resizeMain, after(10 * SECOND)];
  given(resized, resizeMain, after(SECOND))
    .when(operation(7), after(SECOND))
    .then([{ type: "OperationFinished", operationId: "operation-7" }]);
  given(resized, failing("suspend_compute", 1, "failed"), resizeMain, after(SECOND))
    .when(operation(7), after(SECOND))
    .then([{ type: "OperationFailed", operationId: "operation-7" }]);
});

test("an operation that ends starts only what waits for nothing else", () => {
  const computes = [{ id: "ep-dev", computeType: "read_write", options: {} }] as const;
  given(newProject, { ...createDev, queue: true, computes })
    .when(operation(1), after(SECOND))
    .then([
      { type: "OperationFinished", operationId: "operation-1" },
      { type: "BranchBecameReady", branchId: "br-main" },
      { type: "OperationStarted", operationId: "operation-2" },
    ]);
});

test("a start delay of the world applies to starts only, and may be drawn", () => {
  const startDelay = { kind: "uniform", minMs: 100, maxMs: 200 } as const;
  const durations = given(worldWithAccount({ startDelay }), createShop).asking((world) =>
    world.operations
      .by("project", "shop")
      .toArray()
      .map(({ durationMs }) => durationMs),
  );
  expect(durations).toEqual([SECOND, expect.any(Number)]);
  expect(durations[1]).toBeGreaterThanOrEqual(100);
  expect(durations[1]).toBeLessThanOrEqual(200);
});

test("a deleted branch that can be recovered stays when its deletion finishes", () => {
  given(worldWithBranch(), deleteDev)
    .when(operation(4), after(SECOND))
    .then([{ type: "OperationFinished", operationId: "operation-4" }]);
});

test("a branch that was deleted for good is removed when its deletion finishes", () => {
  given(worldWithBranch(), { ...deleteDev, hard: true })
    .when(operation(4), after(SECOND))
    .then([
      { type: "OperationFinished", operationId: "operation-4" },
      { type: "BranchRemoved", branchId: "br-dev" },
    ]);
});

test("a branch or a project that was recovered stays when its deletion finishes", () => {
  given(worldWithBranch(), deleteDev, { type: "RecoverBranch", ...DEV, queue: true })
    .when(operation(4), after(SECOND))
    .then([{ type: "OperationFinished", operationId: "operation-4" }]);
  given(worldWithProject(), suspendMain, after(SECOND), { type: "DeleteProject", ...SHOP }, recoverShop)
    .when(operation(4), after(SECOND))
    .then([{ type: "OperationFinished", operationId: "operation-4" }]);
});

test("the deletion of a project locks everything in it after a recovery", () => {
  given(worldWithProject(), suspendMain, after(SECOND), { type: "DeleteProject", ...SHOP }, recoverShop)
    .when({ type: "CreateRole", ...MAIN, name: "app" })
    .thenRefused("OPERATIONS_IN_PROGRESS");
});

test("a deleted project stays until its recovery period ends", () => {
  given(worldWithProject(), suspendMain, after(SECOND), { type: "DeleteProject", ...SHOP })
    .when(operation(4), after(SECOND))
    .then([{ type: "OperationFinished", operationId: "operation-4" }]);
});

test("a faulty operation is tried again, for as long as before, until it finishes", () => {
  given(worldWithAccount(), failing("create_timeline", 1, "finished"), createShop)
    .when(operation(1), after(SECOND))
    .then([{ type: "OperationRetried", operationId: "operation-1", dueAt: NOW + 2 * SECOND }]);
  given(worldWithAccount(), failing("create_timeline", 1, "finished"), createShop, after(SECOND))
    .when(operation(1), after(SECOND))
    .then([{ type: "OperationFinished" }, { type: "BranchBecameReady" }, { type: "OperationStarted" }]);
});

test("an operation that fails for good is not waited for any more", () => {
  given(worldWithAccount(), failing("create_timeline", 1, "failed"), createShop)
    .when(operation(1), after(SECOND))
    .then([
      { type: "OperationFailed", operationId: "operation-1" },
      { type: "OperationStarted", operationId: "operation-2" },
    ]);
});

test("with two failures an operation is tried again once before it fails", () => {
  given(worldWithAccount(), failing("create_timeline", 2, "failed"), createShop)
    .when(operation(1), after(SECOND))
    .then([{ type: "OperationRetried", operationId: "operation-1" }]);
});

test("a compute whose start fails is idle", () => {
  given(worldWithAccount(), failing("start_compute", 1, "failed"), createShop, after(SECOND))
    .when(operation(2), after(3 * SECOND))
    .then([
      { type: "OperationFailed", operationId: "operation-2" },
      { type: "ComputeStartFailed", endpointId: "ep-main" },
    ]);
});

test("a compute whose suspend fails stays active", () => {
  given(worldWithProject(), failing("suspend_compute", 1, "failed"), suspendMain)
    .when(operation(3), after(SECOND))
    .then([
      { type: "OperationFailed", operationId: "operation-3" },
      { type: "ComputeSuspendFailed", endpointId: "ep-main" },
    ]);
});

test("when the suspend of a restart fails, the start goes ahead", () => {
  given(worldWithProject(), failing("suspend_compute", 1, "failed"), restartMain)
    .when(operation(3), after(SECOND))
    .then([
      { type: "OperationFailed", operationId: "operation-3" },
      { type: "OperationStarted", operationId: "operation-4" },
    ]);
});

test("when the suspend of a restart fails, arrivals wait for the start of that compute only", () => {
  given(worldWithProject(), failing("suspend_compute", 1, "failed"), suspendMain, createReplica)
    .when(operation(3), after(SECOND))
    .then([
      { type: "OperationFailed", operationId: "operation-3" },
      { type: "ComputeSuspendFailed", endpointId: "ep-main" },
    ]);
});

test("a compute restarts after an update only below the quota of its project", () => {
  given(worldWithProject(), resizeMain, after(SECOND), {
    type: "UpdateProject",
    ...SHOP,
    settings: { quota: { active_time_seconds: 1 } },
  })
    .when(operation(4), after(SECOND))
    .then([
      { type: "OperationFinished", operationId: "operation-4" },
      { type: "ComputeSuspended", cause: "request" },
    ]);
});

/** As a profile file gives it: every start takes 2 s, and fails. */
const CALIBRATION = {
  name: "shop",
  durations: [{ action: "start_compute", takes: { kind: "empirical", quantilesMs: [1_000, 2_000, 2_000] } }],
  failures: [{ action: "start_compute", share: 1 }],
} as const;

test("a failure that a calibrated profile draws is in the event that schedules the operation", () => {
  const settings = { calibration: CALIBRATION, durations: "varied" } as const;
  given(worldWithAccount(settings))
    .when(createShop)
    .then([
      { type: "ProjectCreated" },
      { type: "BranchCreated" },
      { type: "ComputeCreated" },
      running("create_timeline", { failures: undefined }),
      queued("start_compute", { failures: { times: 1, ends: "failed", count: 0 } }),
    ]);
});

test("with constant durations, a calibrated start takes the median and does not fail", () => {
  given(worldWithAccount({ calibration: CALIBRATION }), createShop, after(SECOND))
    .when(operation(2), after(2 * SECOND))
    .then([
      { type: "OperationFinished", operationId: "operation-2" },
      { type: "ComputeActivated", endpointId: "ep-main", release: RELEASE },
    ]);
});
