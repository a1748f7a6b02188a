import { test } from "vitest";
import {
  createDev,
  createShop,
  worldWithAccount,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { given, NOW, queued, running, type Step } from "../../support/rules/rules.ts";

test("a new project gets a default branch and a compute that starts after its branch", () => {
  given(worldWithAccount())
    .when(createShop)
    .then([
      {
        type: "ProjectCreated",
        project: {
          id: "shop",
          number: 1,
          accountId: "owner",
          name: "shop",
          regionId: "aws-us-east-2",
          provisioner: "k8s-neonvm",
          pgVersion: 16,
          storePasswords: true,
          historyRetentionSeconds: 86_400,
          createdAt: NOW,
        },
      },
      {
        type: "BranchCreated",
        branch: {
          id: "br-main",
          projectId: "shop",
          name: "main",
          state: "init",
          default: true,
          protected: false,
          roles: [{ name: "neondb_owner" }],
          databases: [{ id: 1, name: "neondb", ownerName: "neondb_owner" }],
        },
      },
      {
        type: "ComputeCreated",
        compute: {
          id: "ep-main",
          projectId: "shop",
          branchId: "br-main",
          type: "read_write",
          range: { minCu: 0.25, maxCu: 0.25 },
          suspendTimeoutSeconds: 0,
          disabled: false,
          phase: { state: "init" },
        },
      },
      running("create_timeline", { id: "operation-1", branchId: "br-main", durationMs: 1_000 }),
      queued("start_compute", {
        id: "operation-2",
        branchId: "br-main",
        endpointId: "ep-main",
        durationMs: 3_000,
      }),
    ]);
});

test("without ids, a project, its branch and its compute get some; the project is named for its id", () => {
  given(worldWithAccount())
    .when({ type: "CreateProject", accountId: "owner" })
    .then([
      { type: "ProjectCreated", project: { id: "project-1", name: "project-1" } },
      { type: "BranchCreated", branch: { id: "branch-1", name: "main" } },
      { type: "ComputeCreated", compute: { id: "compute-1", branchId: "branch-1" } },
      running("create_timeline", { branchId: "branch-1" }),
      queued("start_compute", { endpointId: "compute-1" }),
    ]);
});

test("the names of the first branch, role and database can be chosen", () => {
  given(worldWithAccount())
    .when({ ...createShop, branch: { name: "production", roleName: "ada", databaseName: "orders" } })
    .then([
      { type: "ProjectCreated" },
      {
        type: "BranchCreated",
        branch: {
          name: "production",
          roles: [{ name: "ada" }],
          databases: [{ name: "orders", ownerName: "ada" }],
        },
      },
      { type: "ComputeCreated" },
      running("create_timeline"),
      queued("start_compute"),
    ]);
});

test("the default settings of a project apply to its first compute", () => {
  given(worldWithAccount())
    .when({ ...createShop, defaultEndpointSettings: { minCu: 1, suspendTimeoutSeconds: 120 } })
    .then([
      { type: "ProjectCreated", project: { defaultEndpointSettings: { minCu: 1 } } },
      { type: "BranchCreated" },
      {
        type: "ComputeCreated",
        compute: { range: { minCu: 1, maxCu: 1 }, suspendTimeoutSeconds: 120 },
      },
      running("create_timeline"),
      queued("start_compute"),
    ]);
});

test("a compute that is created disabled is not started", () => {
  given(worldWithAccount())
    .when({ ...createShop, compute: { disabled: true } })
    .then([
      { type: "ProjectCreated" },
      { type: "BranchCreated" },
      { type: "ComputeCreated", compute: { disabled: true, phase: { state: "idle" } } },
      running("create_timeline"),
    ]);
});

test("in a world of immediate operations, operations take no time", () => {
  given(worldWithAccount({ operations: "immediate" }))
    .when(createShop)
    .then([
      { type: "ProjectCreated" },
      { type: "BranchCreated" },
      { type: "ComputeCreated" },
      running("create_timeline", { durationMs: 0 }),
      queued("start_compute", { durationMs: 0 }),
    ]);
});

test("creating a project for an unknown account is refused", () => {
  given(worldWithAccount())
    .when({ ...createShop, accountId: "nobody" })
    .thenRefused("ACCOUNT_NOT_FOUND");
});

test("a free account may have 100 projects, and not one more", () => {
  const projects = (count: number): Step =>
    Array.from({ length: count }, () => ({ type: "CreateProject", accountId: "owner" }));
  given(worldWithAccount({ plan: "free" }), projects(99))
    .when({ type: "CreateProject", accountId: "owner" })
    .then([
      { type: "ProjectCreated", project: { number: 100 } },
      { type: "BranchCreated" },
      { type: "ComputeCreated" },
      { type: "OperationScheduled" },
      { type: "OperationScheduled" },
    ]);
  given(worldWithAccount({ plan: "free" }), projects(100))
    .when({ type: "CreateProject", accountId: "owner" })
    .thenRefused("PROJECTS_LIMIT_EXCEEDED", /the free plan allows 100 projects/);
});

test("the limit of a world replaces the limit of the plan", () => {
  given(worldWithProject({}, { limits: { projects: 1 } }))
    .when({ type: "CreateProject", accountId: "owner" })
    .thenRefused("PROJECTS_LIMIT_EXCEEDED", /this world allows 1 projects/);
});

test("creating a project in an unknown region is refused", () => {
  given(worldWithAccount())
    .when({ ...createShop, regionId: "mars-north-1" })
    .thenRefused("REGION_NOT_SUPPORTED", /"mars-north-1".*aws-us-east-2/);
});

test("creating a project, branch or compute with an id that is in use is refused", () => {
  const blog = { type: "CreateProject", accountId: "owner", id: "blog" } as const;
  given(worldWithProject())
    .when(createShop)
    .thenRefused("ID_EXISTS", /project/);
  given(worldWithProject())
    .when({ ...blog, branch: { id: "br-main" } })
    .thenRefused("ID_EXISTS", /branch/);
  given(worldWithProject())
    .when({ ...blog, compute: { id: "ep-main" } })
    .thenRefused("ID_EXISTS", /endpoint/);
});

test("the names of Postgres and of the platform are refused for the first database and role", () => {
  given(worldWithAccount())
    .when({ ...createShop, branch: { databaseName: "template1" } })
    .thenRefused("DATABASE_NAME_NOT_ALLOWED");
  given(worldWithAccount())
    .when({ ...createShop, branch: { roleName: "pg_admin" } })
    .thenRefused("ROLE_NAME_NOT_ALLOWED");
});

test("a role made for the name of a database has at most 63 bytes", () => {
  const owner = "_owner".length;
  given(worldWithAccount())
    .when({ ...createShop, branch: { databaseName: "d".repeat(63 - owner) } })
    .then([
      { type: "ProjectCreated" },
      { type: "BranchCreated" },
      { type: "ComputeCreated" },
      { type: "OperationScheduled" },
      { type: "OperationScheduled" },
    ]);
  given(worldWithAccount())
    .when({ ...createShop, branch: { databaseName: "d".repeat(64 - owner) } })
    .thenRefused("ROLE_NAME_NOT_ALLOWED", /63 bytes/);
});

test("creating a project with a compute size or an autosuspend delay that does not exist is refused", () => {
  given(worldWithAccount())
    .when({ ...createShop, defaultEndpointSettings: { minCu: 0.3 } })
    .thenRefused("COMPUTE_SIZE_NOT_ALLOWED");
  given(worldWithAccount())
    .when({ ...createShop, defaultEndpointSettings: { suspendTimeoutSeconds: 59 } })
    .thenRefused("SUSPEND_TIMEOUT_NOT_ALLOWED");
});

test("the free plan has one compute size and one autosuspend delay", () => {
  given(worldWithAccount({ plan: "free" }))
    .when({ ...createShop, compute: { minCu: 0.5 } })
    .thenRefused("PLAN_LIMIT_EXCEEDED", /0\.25 CU/);
  given(worldWithAccount({ plan: "free" }))
    .when({ ...createShop, defaultEndpointSettings: { suspendTimeoutSeconds: 60 } })
    .thenRefused("SUSPEND_TIMEOUT_NOT_PERMITTED", /another delay needs a paid plan/);
});

test("a preload library that does not exist for the version of Postgres is refused", () => {
  const settings = { preload_libraries: { enabled_libraries: ["pg_search"] } };
  given(worldWithAccount())
    .when({ ...createShop, pgVersion: 16, settings })
    .thenRefused("PRELOAD_LIBRARY_NOT_AVAILABLE", /"pg_search" is not available for Postgres 16/);
});

test("a second project does not wait for the operations of the first", () => {
  given(worldWithProject(), createDev)
    .when({ type: "CreateProject", accountId: "owner", id: "blog" })
    .then([
      { type: "ProjectCreated" },
      { type: "BranchCreated" },
      { type: "ComputeCreated" },
      running("create_timeline", { projectId: "blog" }),
      queued("start_compute", { projectId: "blog" }),
    ]);
});
