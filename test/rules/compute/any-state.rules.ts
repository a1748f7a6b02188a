import { describe, expect, test } from "vitest";
import {
  createDev,
  createShop,
  DEV,
  MAIN_COMPUTE,
  restartMain,
  worldWithAccount,
  worldWithBranch,
  worldWithIdleCompute,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import {
  after,
  type CommandOf,
  given,
  HOUR,
  queued,
  running,
  SECOND,
  type Step,
} from "../../support/rules/rules.ts";

// The reference has "any" as the state in which a compute is updated and restarted.

const resize: CommandOf<"UpdateCompute"> = {
  type: "UpdateCompute",
  ...MAIN_COMPUTE,
  options: { minCu: 1, maxCu: 2 },
};
const disable: CommandOf<"UpdateCompute"> = { ...resize, options: { disabled: true } };
const start: Step = { type: "StartCompute", ...MAIN_COMPUTE };
const suspend: Step = { type: "SuspendCompute", ...MAIN_COMPUTE };
const query: Step = { type: "RecordActivity", activity: { endpointId: "ep-main", kind: "query" } };

/** The states while operations of the compute or of its branch are under way. */
const BUSY: Readonly<Record<string, Step>> = {
  "init, while its project is created": [worldWithAccount(), createShop],
  "init, while it starts for the first time": [worldWithAccount(), createShop, after(SECOND)],
  "starting, because of a call": [worldWithIdleCompute(), start],
  "starting, because of a client": [worldWithIdleCompute(), query],
  suspending: [worldWithProject(), suspend],
  "restarting, while it is suspended": [worldWithProject(), restartMain],
  "restarting, while it starts": [worldWithProject(), restartMain, after(2 * SECOND)],
  "being updated": [worldWithProject(), resize],
};

/** The state of the compute when all its operations have ended. */
const mainAfter = (...past: readonly Step[]) =>
  given(...past, after(HOUR)).asking((world) => world.computes.get("ep-main")?.phase.state);

describe.each(Object.entries(BUSY))("a compute that is %s", (_, past) => {
  test("is updated: apply_config runs, and suspend_compute waits", () => {
    given(past)
      .when({ ...resize, options: { minCu: 2, maxCu: 2 } })
      .then([
        { type: "ComputeUpdated", changes: { range: { minCu: 2, maxCu: 2 } } },
        running("apply_config"),
        queued("suspend_compute"),
      ]);
  });

  test("is restarted after the operations under way", () => {
    given(past)
      .when(restartMain)
      .then([queued("suspend_compute"), queued("start_compute")]);
    expect(mainAfter(past, restartMain)).toBe("active");
  });

  test("stays idle when it was disabled last", () => {
    for (const earlier of [resize, restartMain]) expect(mainAfter(past, earlier, disable)).toBe("idle");
  });
});

test("an update of a compute that starts or restarts leaves it active, with the new size", () => {
  for (const past of [
    BUSY["init, while its project is created"],
    BUSY["starting, because of a client"],
    [worldWithProject(), resize],
    BUSY["restarting, while it starts"],
  ]) {
    const compute = given(past ?? [], { ...resize, options: { minCu: 2, maxCu: 2 } }, after(HOUR)).asking(
      (world) => world.computes.get("ep-main"),
    );
    expect(compute).toMatchObject({ phase: { state: "active", sizeCu: 2 } });
  }
});

test("an update of a compute that is being suspended leaves it idle", () => {
  expect(mainAfter(worldWithProject(), suspend, resize)).toBe("idle");
});

test("a compute does not move to a branch that is being created", () => {
  given(worldWithBranch(), { ...createDev, id: "br-new", name: "new" })
    .when({ ...resize, branchId: "br-new", options: {} })
    .thenRefused("OPERATIONS_IN_PROGRESS");
  given(worldWithBranch(), restartMain)
    .when({ ...resize, branchId: DEV.branchId, options: {} })
    .thenAccepted();
});

test("at most 100 operations of a compute wait", () => {
  const updates = Array.from({ length: 50 }, () => resize);
  given(worldWithProject(), updates.slice(1), restartMain)
    .when(restartMain)
    .thenRefused("OPERATIONS_IN_PROGRESS");
  given(worldWithProject(), updates.slice(1)).when(restartMain).thenAccepted();
});

test("with locks of the whole project, both are refused while operations run", () => {
  const settings = { locks: "project" } as const;
  given(worldWithProject(), { type: "ConfigureWorld", settings }, restartMain)
    .when(resize)
    .thenRefused("OPERATIONS_IN_PROGRESS");
  given(worldWithProject(), { type: "ConfigureWorld", settings }, restartMain)
    .when(restartMain)
    .thenRefused("OPERATIONS_IN_PROGRESS");
});
