import { test } from "vitest";
import {
  createDev,
  createOther,
  SHOP,
  worldWithBranch,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import {
  after,
  type CommandOf,
  given,
  HOUR,
  NOW,
  queued,
  running,
  type Step,
} from "../../support/rules/rules.ts";

const create: CommandOf<"CreateCompute"> = {
  type: "CreateCompute",
  ...SHOP,
  id: "ep-dev",
  branchId: "br-dev",
  computeType: "read_write",
  options: {},
};
const createReplica: CommandOf<"CreateCompute"> = {
  ...create,
  id: "ep-replica",
  branchId: "br-main",
  computeType: "read_only",
};

test("a new compute has the smallest size and starts at once", () => {
  given(worldWithBranch())
    .when(create)
    .then([
      {
        type: "ComputeCreated",
        compute: {
          id: "ep-dev",
          number: 2,
          projectId: "shop",
          branchId: "br-dev",
          regionId: "aws-us-east-2",
          type: "read_write",
          range: { minCu: 0.25, maxCu: 0.25 },
          suspendTimeoutSeconds: 0,
          poolerEnabled: false,
          passwordlessAccess: true,
          disabled: false,
          phase: { state: "init" },
          createdAt: NOW,
        },
      },
      running("start_compute", { branchId: "br-dev", endpointId: "ep-dev", cause: "request" }),
    ]);
});

test("a compute without an id gets one", () => {
  given(worldWithBranch())
    .when({ ...create, id: undefined })
    .then([
      { type: "ComputeCreated", compute: { id: "compute-2" } },
      running("start_compute", { endpointId: "compute-2" }),
    ]);
});

test("a compute takes the defaults of its project where it names no settings", () => {
  given(
    worldWithProject({ defaultEndpointSettings: { maxCu: 2, suspendTimeoutSeconds: 120 } }),
    createDev,
    after(HOUR),
  )
    .when({ ...create, options: { minCu: 1 } })
    .then([
      {
        type: "ComputeCreated",
        compute: { range: { minCu: 1, maxCu: 2 }, suspendTimeoutSeconds: 120 },
      },
      running("start_compute"),
    ]);
});

test("a minimum above the default maximum raises the maximum", () => {
  given(worldWithBranch())
    .when({ ...create, options: { minCu: 2 } })
    .then([{ type: "ComputeCreated", compute: { range: { minCu: 2, maxCu: 2 } } }, running("start_compute")]);
});

test("a compute that is created disabled is idle and is not started", () => {
  given(worldWithBranch())
    .when({ ...create, options: { disabled: true } })
    .then([{ type: "ComputeCreated", compute: { disabled: true, phase: { state: "idle" } } }]);
});

test("creating a primary compute on a branch that has one is refused", () => {
  given(worldWithProject())
    .when({ ...create, branchId: "br-main" })
    .thenRefused("READ_WRITE_ENDPOINT_EXISTS");
});

test("a branch may have several read replicas", () => {
  given(worldWithProject(), createReplica, after(HOUR))
    .when({ ...createReplica, id: "ep-replica-2" })
    .then([
      { type: "ComputeCreated", compute: { id: "ep-replica-2", type: "read_only" } },
      running("start_compute"),
    ]);
});

test("the free plan has no read replicas", () => {
  given(worldWithProject({}, { plan: "free" }))
    .when(createReplica)
    .thenRefused("PLAN_LIMIT_EXCEEDED", /read replica/);
});

test.each([
  [0.25, 10],
  [10, 10],
])("the sizes %d to %d CU are allowed in the profile of 2024", (minCu, maxCu) => {
  given(worldWithBranch())
    .when({ ...create, options: { minCu, maxCu } })
    .then([{ type: "ComputeCreated", compute: { range: { minCu, maxCu } } }, running("start_compute")]);
});

test.each([
  [0.25, 11],
  [0.3, 1],
  [2, 1],
])("the sizes %d to %d CU are refused in the profile of 2024", (minCu, maxCu) => {
  given(worldWithBranch())
    .when({ ...create, options: { minCu, maxCu } })
    .thenRefused("COMPUTE_SIZE_NOT_ALLOWED");
});

test("in the profile of 2026, sizes above 16 CU are fixed sizes", () => {
  const world = () => worldWithBranch({}, { profile: "2026" });
  given(world())
    .when({ ...create, options: { minCu: 56, maxCu: 56 } })
    .then([{ type: "ComputeCreated" }, running("start_compute", { durationMs: 500 })]);
  given(world())
    .when({ ...create, options: { minCu: 16, maxCu: 17 } })
    .thenRefused("COMPUTE_SIZE_NOT_ALLOWED", /fixed size/);
  given(world())
    .when({ ...create, options: { minCu: 57, maxCu: 57 } })
    .thenRefused("COMPUTE_SIZE_NOT_ALLOWED");
});

test.each([0, -1, 60, 604_800])("an autosuspend delay of %i seconds is allowed", (suspendTimeoutSeconds) => {
  given(worldWithBranch())
    .when({ ...create, options: { suspendTimeoutSeconds } })
    .then([{ type: "ComputeCreated", compute: { suspendTimeoutSeconds } }, running("start_compute")]);
});

test.each([-2, 1, 59, 604_801])("an autosuspend delay of %i seconds is refused", (suspendTimeoutSeconds) => {
  given(worldWithBranch())
    .when({ ...create, options: { suspendTimeoutSeconds } })
    .thenRefused("SUSPEND_TIMEOUT_NOT_ALLOWED", /60 to 604800/);
});

test("on the free plan the autosuspend delay is the default, by value or as 0", () => {
  for (const suspendTimeoutSeconds of [0, 300]) {
    given(worldWithBranch({}, { plan: "free" }))
      .when({ ...create, options: { suspendTimeoutSeconds } })
      .then([{ type: "ComputeCreated", compute: { suspendTimeoutSeconds } }, running("start_compute")]);
  }
  for (const suspendTimeoutSeconds of [-1, 301]) {
    given(worldWithBranch({}, { plan: "free" }))
      .when({ ...create, options: { suspendTimeoutSeconds } })
      .thenRefused("SUSPEND_TIMEOUT_NOT_PERMITTED", /another delay needs a paid plan/);
  }
});

test("the free plan has one size", () => {
  given(worldWithBranch({}, { plan: "free" }))
    .when({ ...create, options: { maxCu: 0.5 } })
    .thenRefused("PLAN_LIMIT_EXCEEDED", /0\.25 CU/);
});

test("a free project may have 20 computes, and not one more", () => {
  const branches = (count: number): Step =>
    Array.from({ length: count }, () => ({
      type: "CreateBranch",
      ...SHOP,
      queue: true,
      computes: [{ computeType: "read_write", options: {} }],
    }));
  const settings = { plan: "free", limits: { branches: 100 } } as const;
  given(worldWithBranch({}, settings), branches(18), after(HOUR))
    .when(create)
    .then([{ type: "ComputeCreated", compute: { number: 20 } }, running("start_compute")]);
  given(worldWithBranch({}, settings), branches(19), after(HOUR))
    .when(create)
    .thenRefused("ENDPOINTS_LIMIT_EXCEEDED", /the free plan allows 20 computes/);
});

test("a compute is in the region of its project", () => {
  given(worldWithBranch())
    .when({ ...create, regionId: "aws-us-east-1" })
    .thenRefused("REGION_NOT_SUPPORTED", /aws-us-east-2/);
});

test("creating a compute with an id that is in use is refused", () => {
  given(worldWithBranch())
    .when({ ...create, id: "ep-main" })
    .thenRefused("ID_EXISTS");
});

test("creating a compute with a preload library that does not exist is refused", () => {
  given(worldWithBranch())
    .when({ ...create, options: { settings: { preload_libraries: { enabled_libraries: ["unknown"] } } } })
    .thenRefused("PRELOAD_LIBRARY_NOT_AVAILABLE");
});

test("creating a compute on an unknown branch, or in a project of another account, is refused", () => {
  given(worldWithProject()).when(create).thenRefused("BRANCH_NOT_FOUND");
  given(worldWithBranch(), createOther)
    .when({ ...create, accountId: "other" })
    .thenRefused("PROJECT_NOT_FOUND");
});

test("creating a compute is refused while its branch is being created, unless it is queued", () => {
  given(worldWithProject(), createDev).when(create).thenRefused("OPERATIONS_IN_PROGRESS");
  given(worldWithProject(), createDev)
    .when({ ...create, queue: true })
    .then([{ type: "ComputeCreated" }, queued("start_compute", { endpointId: "ep-dev" })]);
});
