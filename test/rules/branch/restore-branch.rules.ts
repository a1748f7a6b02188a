import { test } from "vitest";
import { createDev, DEV, MAIN, worldWithBranch, worldWithProject } from "../../support/rules/rule-worlds.ts";
import {
  after,
  type CommandOf,
  DAY,
  given,
  HOUR,
  NOW,
  queued,
  running,
  SECOND,
} from "../../support/rules/rules.ts";

const resetDev: CommandOf<"RestoreBranch"> = {
  type: "RestoreBranch",
  ...DEV,
  sourceBranchId: "br-main",
};
const resetToParent: CommandOf<"ResetBranchToParent"> = { type: "ResetBranchToParent", ...DEV };
const restoreMain: CommandOf<"RestoreBranch"> = {
  type: "RestoreBranch",
  ...MAIN,
  sourceBranchId: "br-main",
  sourceTimestamp: NOW - 5 * SECOND,
  preserveUnderName: "before",
};

test("resetting a branch gives it the content of its parent as of now", () => {
  given(
    worldWithBranch(),
    {
      type: "CreateDatabase",
      ...MAIN,
      name: "orders",
      ownerName: "neondb_owner",
    },
    after(HOUR),
  )
    .when(resetDev)
    .then([
      {
        type: "BranchRestored",
        branchId: "br-dev",
        content: { databases: [{ name: "neondb" }, { name: "orders" }] },
        parentId: "br-main",
        parentTimestamp: NOW + HOUR,
      },
      running("create_branch", { branchId: "br-dev" }),
    ]);
});

test("the active computes of a restored branch are suspended and started again", () => {
  given(worldWithBranch({ computes: [{ id: "ep-dev", computeType: "read_write", options: {} }] }))
    .when(resetDev)
    .then([
      { type: "BranchRestored" },
      running("suspend_compute", { endpointId: "ep-dev" }),
      { type: "ComputeSuspending", endpointId: "ep-dev" },
      queued("create_branch", { branchId: "br-dev" }),
      queued("start_compute", { endpointId: "ep-dev" }),
    ]);
});

test("a branch is restored to its own past; what it was is preserved and becomes its parent", () => {
  given(worldWithProject())
    .when(restoreMain)
    .then([
      { type: "BranchCreated", branch: { id: "branch-2", name: "before", default: false } },
      {
        type: "BranchRestored",
        branchId: "br-main",
        parentId: "branch-2",
        parentTimestamp: NOW - 5 * SECOND,
      },
      running("create_branch", { branchId: "branch-2" }),
      running("suspend_compute", { endpointId: "ep-main" }),
      { type: "ComputeSuspending", endpointId: "ep-main" },
      queued("create_branch", { branchId: "br-main" }),
      queued("start_compute", { endpointId: "ep-main" }),
    ]);
});

test("the children of a restored branch move to the branch that preserves it", () => {
  given(worldWithBranch())
    .when(restoreMain)
    .then([
      { type: "BranchCreated", branch: { id: "branch-3", name: "before" } },
      { type: "BranchMoved", branchId: "br-dev", parentId: "branch-3" },
      { type: "BranchRestored", branchId: "br-main" },
      running("create_branch", { branchId: "branch-3" }),
      running("suspend_compute"),
      { type: "ComputeSuspending" },
      queued("create_branch", { branchId: "br-main" }),
      queued("start_compute"),
    ]);
});

test("a restored branch gets its time to live again", () => {
  given(worldWithBranch({ expiresAt: NOW + DAY - 10 * SECOND }), after(HOUR))
    .when(resetDev)
    .then([
      { type: "BranchRestored", branchId: "br-dev" },
      { type: "BranchExpirationSet", branchId: "br-dev", expiresAt: NOW + HOUR + DAY },
      running("create_branch"),
    ]);
});

test("a branch can be restored to a position of the log", () => {
  given(worldWithBranch())
    .when({ ...resetDev, sourceLsn: "0/1E88838" })
    .then([
      { type: "BranchRestored", parentLsn: "0/1E88838", parentTimestamp: NOW - 10 * SECOND },
      running("create_branch"),
    ]);
});

test("restoring a branch from its own history needs a point in time and a name to preserve it", () => {
  given(worldWithProject())
    .when({ ...restoreMain, sourceTimestamp: undefined })
    .thenRefused("RESTORE_NOT_ALLOWED", /source_timestamp or source_lsn/);
  given(worldWithProject())
    .when({ ...restoreMain, preserveUnderName: undefined })
    .thenRefused("RESTORE_NOT_ALLOWED", /preserve_under_name/);
});

test("restoring a branch with children needs a name to preserve it", () => {
  given(worldWithBranch(), { ...createDev, id: "br-test", name: "test", parentId: "br-dev" }, after(HOUR))
    .when(resetDev)
    .thenRefused("RESTORE_NOT_ALLOWED", /child branches/);
});

test("restoring a protected branch is refused", () => {
  given(worldWithBranch({ protected: true }))
    .when(resetDev)
    .thenRefused("BRANCH_IS_PROTECTED");
});

test("restoring from a branch with an expiration is refused: it would get a child", () => {
  given(worldWithBranch({ expiresAt: NOW + DAY }))
    .when({ ...resetDev, ...MAIN, sourceBranchId: "br-dev", preserveUnderName: "before" })
    .thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED");
});

test("restoring from a point without history is refused", () => {
  given(worldWithBranch())
    .when({ ...resetDev, sourceTimestamp: NOW + 1 })
    .thenRefused("PARENT_TIMESTAMP_NOT_ALLOWED", /source_timestamp/);
  given(worldWithBranch())
    .when({ ...resetDev, sourceLsn: "0/1" })
    .thenRefused("PARENT_LSN_NOT_ALLOWED", /source_lsn/);
});

test("the preserved branch needs a free name and room within the limit", () => {
  given(worldWithBranch())
    .when({ ...restoreMain, preserveUnderName: "dev" })
    .thenRefused("BRANCH_ALREADY_EXISTS");
  given(worldWithBranch({}, { limits: { branches: 2 } }))
    .when(restoreMain)
    .thenRefused("BRANCHES_LIMIT_EXCEEDED");
});

test("restoring a branch is refused while a branch is created from it", () => {
  given(worldWithBranch(), { ...createDev, id: "br-test", name: "test", parentId: "br-dev" })
    .when({ ...resetDev, preserveUnderName: "old" })
    .thenRefused("OPERATIONS_IN_PROGRESS");
});

test("restoring an unknown branch, or from one, is refused", () => {
  given(worldWithProject())
    .when(resetDev)
    .thenRefused("BRANCH_NOT_FOUND", /"br-dev"/);
  given(worldWithBranch())
    .when({ ...resetDev, sourceBranchId: "br-unknown" })
    .thenRefused("BRANCH_NOT_FOUND", /"br-unknown"/);
  given(worldWithBranch())
    .when({ ...resetDev, projectId: "unknown" })
    .thenRefused("PROJECT_NOT_FOUND");
});

test("resetting a branch to its parent restores the head of the parent", () => {
  given(
    worldWithBranch({ computes: [{ id: "ep-dev", computeType: "read_write", options: {} }] }),
    { type: "CreateDatabase", ...MAIN, name: "orders", ownerName: "neondb_owner" },
    after(HOUR),
  )
    .when(resetToParent)
    .then([
      {
        type: "BranchRestored",
        branchId: "br-dev",
        content: { databases: [{ name: "neondb" }, { name: "orders" }] },
        parentId: "br-main",
        parentTimestamp: NOW + HOUR,
        parentLsn: undefined,
      },
      running("suspend_compute", { endpointId: "ep-dev" }),
      { type: "ComputeSuspending", endpointId: "ep-dev" },
      queued("create_branch", { branchId: "br-dev" }),
      queued("start_compute", { endpointId: "ep-dev" }),
    ]);
});

test("resetting a root branch to its parent is refused", () => {
  given(worldWithProject())
    .when({ ...resetToParent, ...MAIN })
    .thenRefused("BRANCH_IS_ROOT", /"main" .* no parent/);
});

test("resetting a branch with children to its parent is refused", () => {
  given(worldWithBranch(), { ...createDev, id: "br-test", name: "test", parentId: "br-dev" }, after(HOUR))
    .when(resetToParent)
    .thenRefused("BRANCH_HAS_CHILDREN", /"dev" has child branches/);
});

test("resetting a branch to its parent is refused where a restore is", () => {
  given(worldWithBranch({ protected: true }))
    .when(resetToParent)
    .thenRefused("BRANCH_IS_PROTECTED");
  given(worldWithBranch(), { ...createDev, id: "br-test", name: "test" })
    .when(resetToParent)
    .thenRefused("OPERATIONS_IN_PROGRESS");
  given(worldWithProject())
    .when(resetToParent)
    .thenRefused("BRANCH_NOT_FOUND", /"br-dev"/);
});
