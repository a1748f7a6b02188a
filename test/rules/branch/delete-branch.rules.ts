import { test } from "vitest";
import {
  createDev,
  DEV,
  MAIN,
  MAIN_COMPUTE,
  restartMain,
  worldWithBranch,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
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
  type Step,
} from "../../support/rules/rules.ts";

const deleteDev: CommandOf<"DeleteBranch"> = { type: "DeleteBranch", ...DEV };
const branchWithCompute = worldWithBranch({
  computes: [{ id: "ep-dev", computeType: "read_write", options: {} }],
});

test("a deleted branch can be recovered for seven days", () => {
  given(worldWithBranch())
    .when(deleteDev)
    .then([
      { type: "BranchDeleted", branchId: "br-dev", recoverableUntil: NOW + 7 * DAY },
      running("delete_timeline", { branchId: "br-dev" }),
    ]);
});

test("a branch that is deleted for good cannot be recovered", () => {
  given(worldWithBranch())
    .when({ ...deleteDev, hard: true })
    .then([
      { type: "BranchDeleted", branchId: "br-dev", recoverableUntil: undefined },
      running("delete_timeline"),
    ]);
});

test("deleting a branch suspends its active computes first", () => {
  given(branchWithCompute)
    .when(deleteDev)
    .then([
      { type: "BranchDeleted" },
      running("suspend_compute", { endpointId: "ep-dev" }),
      { type: "ComputeSuspending", endpointId: "ep-dev" },
      queued("delete_timeline"),
    ]);
});

test("deleting the default branch is refused", () => {
  given(worldWithProject())
    .when({ ...deleteDev, ...MAIN })
    .thenRefused("BRANCH_IS_DEFAULT");
});

test("deleting the root branch of a project is refused", () => {
  given(worldWithBranch(), { type: "SetDefaultBranch", ...DEV })
    .when({ ...deleteDev, ...MAIN })
    .thenRefused("BRANCH_IS_ROOT");
});

test("a root branch that holds only a schema can be deleted", () => {
  given(worldWithBranch({ initSource: "schema-only" }))
    .when(deleteDev)
    .then([{ type: "BranchDeleted", branchId: "br-dev" }, running("delete_timeline")]);
});

test("deleting a protected branch is refused", () => {
  given(worldWithBranch({ protected: true }))
    .when(deleteDev)
    .thenRefused("BRANCH_IS_PROTECTED");
});

test("deleting a branch with children is refused", () => {
  given(worldWithBranch(), { ...createDev, id: "br-test", name: "test", parentId: "br-dev" }, after(HOUR))
    .when(deleteDev)
    .thenRefused("BRANCH_HAS_CHILDREN", /"test"/);
});

test("deleting a branch is refused while a compute on it starts, but not for a compute elsewhere", () => {
  const compute = { id: "ep-dev", computeType: "read_write", options: {} } as const;
  given(worldWithBranch({ computes: [compute] }), {
    type: "RestartCompute",
    ...MAIN_COMPUTE,
    computeId: "ep-dev",
  })
    .when(deleteDev)
    .thenRefused("OPERATIONS_IN_PROGRESS");
  given(worldWithBranch(), restartMain)
    .when(deleteDev)
    .then([{ type: "BranchDeleted" }, running("delete_timeline")]);
});

test("deleting an unknown or a deleted branch is refused", () => {
  given(worldWithProject()).when(deleteDev).thenRefused("BRANCH_NOT_FOUND");
  given(worldWithBranch(), deleteDev, after(HOUR)).when(deleteDev).thenRefused("BRANCH_NOT_FOUND");
});

test("an expired branch is deleted and can be recovered for seven days", () => {
  given(worldWithBranch({ expiresAt: NOW + DAY }))
    .when({ kind: "expiration", id: "br-dev" }, after(DAY))
    .then([
      { type: "BranchDeleted", branchId: "br-dev", recoverableUntil: NOW + 8 * DAY },
      running("delete_timeline", { branchId: "br-dev" }),
    ]);
});

test("an expired branch is deleted even while its project is busy, after the start of its compute", () => {
  const starting: Step = [
    worldWithProject(),
    {
      ...createDev,
      expiresAt: NOW + 2 * SECOND,
      computes: [{ id: "ep-dev", computeType: "read_write", options: {} }],
    },
    after(2 * SECOND),
  ];
  given(starting)
    .when({ kind: "expiration", id: "br-dev" })
    .then([
      { type: "BranchDeleted", branchId: "br-dev" },
      queued("suspend_compute", { endpointId: "ep-dev" }),
      queued("delete_timeline", { branchId: "br-dev" }),
    ]);
});

test("the expiration of an unknown branch does nothing", () => {
  given(worldWithProject()).when({ kind: "expiration", id: "br-unknown" }).then([]);
});
