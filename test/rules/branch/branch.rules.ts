import { test } from "vitest";
import {
  createDev,
  createOther,
  createShop,
  MAIN,
  worldWithAccount,
  worldWithBranch,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import {
  after,
  DAY,
  given,
  HOUR,
  NOW,
  queued,
  running,
  SECOND,
  type Step,
} from "../../support/rules/rules.ts";

const compute = { id: "ep-dev", computeType: "read_write", options: {} } as const;
const protectMain: Step = { type: "UpdateBranch", ...MAIN, protected: true };

test("a new branch is a child of the default branch, as of now, with its roles and databases", () => {
  given(worldWithProject())
    .when(createDev)
    .then([
      {
        type: "BranchCreated",
        branch: {
          id: "br-dev",
          number: 2,
          projectId: "shop",
          parentId: "br-main",
          parentTimestamp: NOW,
          name: "dev",
          state: "init",
          default: false,
          protected: false,
          initSource: "parent-data",
          roles: [{ name: "neondb_owner", secretId: "role-1", createdAt: NOW }],
          databases: [{ id: 2, name: "neondb", ownerName: "neondb_owner", createdAt: NOW }],
          createdAt: NOW,
        },
      },
      running("create_branch", { branchId: "br-dev" }),
    ]);
});

test("a branch without a name is named for its id", () => {
  given(worldWithProject())
    .when({ type: "CreateBranch", accountId: "owner", projectId: "shop" })
    .then([
      { type: "BranchCreated", branch: { id: "branch-2", name: "branch-2" } },
      running("create_branch", { branchId: "branch-2" }),
    ]);
});

test("a branch can be created with computes, which start after it", () => {
  given(worldWithProject())
    .when({ ...createDev, computes: [compute, { ...compute, id: "ep-replica", computeType: "read_only" }] })
    .then([
      { type: "BranchCreated", branch: { id: "br-dev" } },
      {
        type: "ComputeCreated",
        compute: { id: "ep-dev", number: 2, branchId: "br-dev", type: "read_write" },
      },
      { type: "ComputeCreated", compute: { id: "ep-replica", number: 3, type: "read_only" } },
      running("create_branch", { branchId: "br-dev" }),
      queued("start_compute", { endpointId: "ep-dev" }),
      queued("start_compute", { endpointId: "ep-replica" }),
    ]);
});

test("a branch with only the schema is a root branch", () => {
  given(worldWithProject())
    .when({ ...createDev, initSource: "schema-only" })
    .then([
      {
        type: "BranchCreated",
        branch: { initSource: "schema-only", parentId: undefined, parentTimestamp: undefined },
      },
      running("create_branch"),
    ]);
});

test("the roles of a branch of a protected branch get new passwords", () => {
  given(worldWithProject(), protectMain)
    .when(createDev)
    .then([
      { type: "BranchCreated", branch: { roles: [{ name: "neondb_owner", secretId: "role-2" }] } },
      running("create_branch"),
    ]);
});

test("a branch at a past instant has the databases of that instant", () => {
  given(
    worldWithProject(),
    { type: "CreateDatabase", ...MAIN, name: "orders", ownerName: "neondb_owner" },
    after(HOUR),
  )
    .when({ ...createDev, parentTimestamp: NOW - 1 })
    .then([
      {
        type: "BranchCreated",
        branch: { parentTimestamp: NOW - 1, databases: [{ name: "neondb" }] },
      },
      running("create_branch"),
    ]);
});

test("a branch can begin at any instant within the history retention of its project", () => {
  given(worldWithProject(), after(2 * DAY))
    .when({ ...createDev, parentTimestamp: NOW + DAY })
    .then([{ type: "BranchCreated", branch: { parentTimestamp: NOW + DAY } }, running("create_branch")]);
  given(worldWithProject(), after(2 * DAY))
    .when({ ...createDev, parentTimestamp: NOW + DAY - 1 })
    .thenRefused("PARENT_TIMESTAMP_NOT_ALLOWED", /parent_timestamp/);
});

test("a branch cannot begin in the future, or in a second before its parent was created", () => {
  given(worldWithProject())
    .when({ ...createDev, parentTimestamp: NOW + 1 })
    .thenRefused("PARENT_TIMESTAMP_NOT_ALLOWED");
  given(worldWithProject())
    .when({ ...createDev, parentTimestamp: NOW - 10 * SECOND })
    .then([{ type: "BranchCreated" }, running("create_branch")]);
  given(worldWithProject())
    .when({ ...createDev, parentTimestamp: NOW - 10 * SECOND - 1 })
    .thenRefused("PARENT_TIMESTAMP_NOT_ALLOWED");
});

test("a branch can begin at a position of the log, if its parent has history there", () => {
  given(worldWithProject())
    .when({ ...createDev, parentLsn: "0/1E88838" })
    .then([
      { type: "BranchCreated", branch: { parentLsn: "0/1E88838", parentTimestamp: NOW - 10 * SECOND } },
      running("create_branch"),
    ]);
  given(worldWithProject())
    .when({ ...createDev, parentLsn: "0/1E88837" })
    .thenRefused("PARENT_LSN_NOT_ALLOWED", /parent_lsn/);
});

test("a branch can begin at a position that Postgres has written, unless the log has it at another instant", () => {
  const written = { ...createDev, parentLsn: "0/1500000", parentWrittenAt: NOW - SECOND };
  given(worldWithProject())
    .when(written)
    .then([
      {
        type: "BranchCreated",
        branch: { parentLsn: "0/1500000", parentTimestamp: NOW - SECOND },
        dataFrom: { id: "br-main", at: NOW - SECOND, lsn: "0/1500000" },
      },
      running("create_branch"),
    ]);
  given(worldWithProject())
    .when({ ...written, parentLsn: "0/1E88838" })
    .thenRefused("PARENT_LSN_NOT_ALLOWED", /two instants/);
  given(worldWithProject())
    .when({ ...written, parentWrittenAt: NOW - 11 * SECOND })
    .thenRefused("PARENT_LSN_NOT_ALLOWED", /must lie between/);
});

test("creating a branch in an unknown project or of an unknown parent is refused", () => {
  given(worldWithAccount()).when(createDev).thenRefused("PROJECT_NOT_FOUND");
  given(worldWithProject(), createOther)
    .when({ ...createDev, accountId: "other" })
    .thenRefused("PROJECT_NOT_FOUND");
  given(worldWithProject())
    .when({ ...createDev, parentId: "br-unknown" })
    .thenRefused("BRANCH_NOT_FOUND");
});

test("creating a branch with an id or a name that is in use is refused", () => {
  given(worldWithBranch())
    .when({ ...createDev, name: "test" })
    .thenRefused("ID_EXISTS");
  given(worldWithBranch())
    .when({ ...createDev, id: "br-test" })
    .thenRefused("BRANCH_ALREADY_EXISTS", /branch_name:"dev"/);
});

test("a free project may have 10 branches, and not one more", () => {
  const branches = (count: number): Step =>
    Array.from({ length: count }, () => ({
      type: "CreateBranch",
      accountId: "owner",
      projectId: "shop",
      queue: true,
    }));
  given(worldWithProject({}, { plan: "free" }), branches(8), after(HOUR))
    .when(createDev)
    .then([{ type: "BranchCreated" }, running("create_branch")]);
  given(worldWithProject({}, { plan: "free" }), branches(9), after(HOUR))
    .when(createDev)
    .thenRefused("BRANCHES_LIMIT_EXCEEDED", /the free plan allows 10 branches/);
});

test("a branch can expire within 30 days", () => {
  given(worldWithProject())
    .when({ ...createDev, expiresAt: NOW + 30 * DAY })
    .then([
      { type: "BranchCreated", branch: { expiresAt: NOW + 30 * DAY, ttlSeconds: 2_592_000 } },
      running("create_branch"),
    ]);
  given(worldWithProject())
    .when({ ...createDev, expiresAt: NOW + 30 * DAY + 1 })
    .thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED", /30 days/);
  given(worldWithProject())
    .when({ ...createDev, expiresAt: NOW })
    .thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED");
});

test("a protected branch cannot expire, and a branch that expires gets no children", () => {
  given(worldWithProject())
    .when({ ...createDev, expiresAt: NOW + DAY, protected: true })
    .thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED", /protected/);
  given(worldWithBranch({ expiresAt: NOW + DAY }))
    .when({ ...createDev, id: "br-test", name: "test", parentId: "br-dev" })
    .thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED", /cannot have child branches/);
});

test("a branch with two primary computes is refused", () => {
  given(worldWithProject())
    .when({ ...createDev, computes: [compute, { ...compute, id: "ep-dev-2" }] })
    .thenRefused("READ_WRITE_ENDPOINT_EXISTS");
});

test("the computes of a new branch are checked like any other", () => {
  given(worldWithProject())
    .when({ ...createDev, computes: [{ ...compute, options: { minCu: 0.3 } }] })
    .thenRefused("COMPUTE_SIZE_NOT_ALLOWED");
  given(worldWithProject({}, { limits: { endpoints: 1 } }))
    .when({ ...createDev, computes: [compute] })
    .thenRefused("ENDPOINTS_LIMIT_EXCEEDED");
});

test("creating a branch is refused while its parent is being created, unless it is queued", () => {
  given(worldWithAccount(), createShop).when(createDev).thenRefused("OPERATIONS_IN_PROGRESS");
  given(worldWithAccount(), createShop)
    .when({ ...createDev, queue: true })
    .then([{ type: "BranchCreated" }, running("create_branch", { branchId: "br-dev" })]);
});
