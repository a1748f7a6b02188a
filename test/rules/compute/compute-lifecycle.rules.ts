import { expect, test } from "vitest";
import { countConnections } from "../../../src/platform/rules/compute/open-connections.ts";
import {
  createOther,
  MAIN_COMPUTE,
  restartMain,
  worldWithIdleCompute,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import {
  after,
  type CommandOf,
  given,
  NOW,
  queued,
  running,
  SECOND,
  type Step,
} from "../../support/rules/rules.ts";

const start: CommandOf<"StartCompute"> = { type: "StartCompute", ...MAIN_COMPUTE };
const suspend: CommandOf<"SuspendCompute"> = { type: "SuspendCompute", ...MAIN_COMPUTE };
const disabledCompute = worldWithProject({ compute: { disabled: true } });

test("an idle compute starts within the start delay of the profile", () => {
  given(worldWithIdleCompute())
    .when(start)
    .then([
      running("start_compute", {
        endpointId: "ep-main",
        cause: "request",
        durationMs: 3_000,
      }),
    ]);
});

test("the start delay of a world replaces that of the profile", () => {
  given(worldWithIdleCompute(), {
    type: "ConfigureWorld",
    settings: { startDelay: { kind: "fixed", ms: 250 } },
  })
    .when(start)
    .then([
      {
        type: "OperationScheduled",
        operation: {
          action: "start_compute",
          durationMs: 250,
          state: { status: "running", startedAt: NOW, dueAt: NOW + 250 },
        },
      },
    ]);
});

test("starting an active compute does nothing, even while its project is busy", () => {
  given(worldWithProject()).when(start).then([]);
  given(worldWithProject(), restartMain).when(start).then([]);
});

test("a suspend closes the connections of an active compute when it begins", () => {
  given(worldWithProject())
    .when(suspend)
    .then([
      running("suspend_compute", { endpointId: "ep-main", cause: "request", durationMs: SECOND }),
      { type: "ComputeSuspending", endpointId: "ep-main" },
    ]);
});

test("suspending an idle or a disabled compute does nothing", () => {
  given(worldWithIdleCompute()).when(suspend).then([]);
  given(disabledCompute).when(suspend).then([]);
});

test("a restart suspends a compute and starts it again", () => {
  given(worldWithProject())
    .when(restartMain)
    .then([
      running("suspend_compute", { endpointId: "ep-main" }),
      { type: "ComputeSuspending", endpointId: "ep-main" },
      queued("start_compute", { endpointId: "ep-main" }),
    ]);
});

test("a restart drops all connections, and the compute is active again after it", () => {
  const connect = (connectionId: string, pooled: boolean): Step => ({
    type: "RecordActivity",
    activity: { endpointId: "ep-main", kind: "connect", connectionId, pooled },
  });
  const clients: Step = [worldWithProject(), connect("c1", false), connect("c2", true)];
  const mainAfter = (...past: readonly Step[]) =>
    given(clients, ...past).asking((world, now) => [
      world.computes.get("ep-main")?.phase.state,
      countConnections(world, "ep-main", now),
    ]);
  expect(mainAfter()).toEqual(["active", { direct: 1, pooled: 1 }]);
  expect(mainAfter(restartMain, after(4 * SECOND))).toEqual(["active", { direct: 0, pooled: 0 }]);
});

test("a restart of an idle compute does the same", () => {
  given(worldWithIdleCompute())
    .when(restartMain)
    .then([
      running("suspend_compute"),
      { type: "ComputeSuspending", endpointId: "ep-main" },
      queued("start_compute"),
    ]);
});

test("starting or restarting a disabled compute is refused", () => {
  given(disabledCompute).when(start).thenRefused("ENDPOINT_DISABLED");
  given(disabledCompute).when(restartMain).thenRefused("ENDPOINT_DISABLED");
});

test("starting or suspending a compute with operations under way is refused", () => {
  given(worldWithProject(), restartMain).when(suspend).thenRefused("OPERATIONS_IN_PROGRESS");
  given(worldWithIdleCompute(), start).when(start).thenRefused("OPERATIONS_IN_PROGRESS");
});

test("suspending a compute that a client or traffic starts is refused: it would be active afterwards", () => {
  const query: Step = {
    type: "RecordActivity",
    activity: { endpointId: "ep-main", kind: "query", durationMs: SECOND },
  };
  given(worldWithIdleCompute(), start).when(suspend).thenRefused("OPERATIONS_IN_PROGRESS");
  given(worldWithIdleCompute(), query).when(suspend).thenRefused("OPERATIONS_IN_PROGRESS");
});

test("starting a compute that is being suspended is refused: it would be idle afterwards", () => {
  given(worldWithProject(), suspend).when(start).thenRefused("OPERATIONS_IN_PROGRESS");
});

test.each([start, suspend, restartMain])("$type for an unknown compute is refused", (command) => {
  given(worldWithProject())
    .when({ ...command, computeId: "ep-unknown" })
    .thenRefused("ENDPOINT_NOT_FOUND");
  given(worldWithProject(), createOther)
    .when({ ...command, accountId: "other" })
    .thenRefused("PROJECT_NOT_FOUND");
});
