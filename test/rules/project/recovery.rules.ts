import { expect, test } from "vitest";
import {
  recoverableBranchesOf,
  recoverableProjectsOf,
} from "../../../src/platform/rules/project/recovery.ts";
import {
  createDev,
  createOther,
  createShop,
  DEV,
  restartMain,
  SHOP,
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
  SECOND,
  type Step,
} from "../../support/rules/rules.ts";

const recoverDev: CommandOf<"RecoverBranch"> = { type: "RecoverBranch", ...DEV };
const recoverShop: CommandOf<"RecoverProject"> = { type: "RecoverProject", ...SHOP };
const deleteDev: CommandOf<"DeleteBranch"> = { type: "DeleteBranch", ...DEV };
const deleteShop: CommandOf<"DeleteProject"> = { type: "DeleteProject", ...SHOP };
/** Deleted at `NOW`. One second later its operations are done. */
const deletedBranch: Step = [worldWithBranch(), deleteDev, after(1_000)];
/** Deleted at `NOW`. Two seconds later its operations are done. */
const deletedProject: Step = [worldWithProject(), deleteShop, after(2_000)];

test("a deleted branch is recovered", () => {
  given(deletedBranch)
    .when(recoverDev)
    .then([{ type: "BranchRecovered", branchId: "br-dev" }]);
});

test("a branch can be recovered until one millisecond before seven days have passed", () => {
  given(deletedBranch)
    .when(recoverDev, after(7 * DAY - 1_001))
    .then([{ type: "BranchRecovered" }]);
  given(deletedBranch)
    .when(recoverDev, after(7 * DAY - 1_000))
    .thenRefused("BRANCH_NOT_FOUND");
});

test("recovering a branch that is not deleted, or was deleted for good, is refused", () => {
  given(worldWithBranch()).when(recoverDev).thenRefused("BRANCH_NOT_FOUND");
  given(worldWithBranch(), { ...deleteDev, hard: true })
    .when(recoverDev)
    .thenRefused("BRANCH_NOT_FOUND");
});

test("recovering a branch of a deleted branch is refused until its parent is recovered", () => {
  const child: Step = [
    worldWithBranch(),
    { ...createDev, id: "br-test", name: "test", parentId: "br-dev" },
    after(HOUR),
  ];
  const deleteBoth: Step = [{ ...deleteDev, branchId: "br-test" }, after(HOUR), deleteDev, after(HOUR)];
  given(child, deleteBoth)
    .when({ ...recoverDev, branchId: "br-test" })
    .thenRefused("BRANCH_NOT_RECOVERABLE", /child of "dev", which is deleted/);
  given(child, deleteBoth, recoverDev)
    .when({ ...recoverDev, branchId: "br-test" })
    .then([{ type: "BranchRecovered", branchId: "br-test" }]);
});

test("recovering a branch whose parent has an expiration by now is refused", () => {
  given(
    worldWithBranch(),
    { ...createDev, id: "br-test", name: "test", parentId: "br-dev" },
    after(HOUR),
    { ...deleteDev, branchId: "br-test" },
    after(HOUR),
    { type: "UpdateBranch", ...DEV, expiresAt: NOW + DAY },
  )
    .when({ ...recoverDev, branchId: "br-test" })
    .thenRefused("BRANCH_NOT_RECOVERABLE", /expiration/);
});

test("recovering a branch is refused when its name is taken by now", () => {
  given(deletedBranch, { ...createDev, id: "br-other" }, after(HOUR))
    .when(recoverDev)
    .thenRefused("BRANCH_ALREADY_EXISTS");
});

test("recovering a branch is refused when the project has all the branches that it may have", () => {
  given(
    worldWithBranch({}, { limits: { branches: 2 } }),
    deleteDev,
    after(HOUR),
    { ...createDev, id: "br-other", name: "other" },
    after(HOUR),
  )
    .when(recoverDev)
    .thenRefused("BRANCHES_LIMIT_EXCEEDED");
});

test("recovering a branch of a busy project is refused, unless it is queued", () => {
  given(worldWithBranch(), deleteDev).when(recoverDev).thenRefused("OPERATIONS_IN_PROGRESS");
  given(worldWithBranch(), deleteDev)
    .when({ ...recoverDev, queue: true })
    .then([{ type: "BranchRecovered" }]);
});

test("recovering a branch of another account is refused", () => {
  given(deletedBranch, createOther)
    .when({ ...recoverDev, accountId: "other" })
    .thenRefused("PROJECT_NOT_FOUND");
});

test("a deleted project is recovered", () => {
  given(deletedProject)
    .when(recoverShop)
    .then([{ type: "ProjectRecovered", projectId: "shop" }]);
});

test("a project can be recovered until one millisecond before seven days have passed", () => {
  given(deletedProject)
    .when(recoverShop, after(7 * DAY - 2_001))
    .then([{ type: "ProjectRecovered" }]);
  given(deletedProject)
    .when(recoverShop, after(7 * DAY - 2_000))
    .thenRefused("PROJECT_NOT_FOUND");
});

test("recovering a project that is not deleted, or of another account, is refused", () => {
  given(worldWithProject()).when(recoverShop).thenRefused("PROJECT_NOT_FOUND");
  given(deletedProject, createOther)
    .when({ ...recoverShop, accountId: "other" })
    .thenRefused("PROJECT_NOT_FOUND");
});

test("recovering a project is refused when the account has all the projects that it may have", () => {
  given(worldWithProject({}, { limits: { projects: 1 } }), deleteShop, after(HOUR), {
    ...createShop,
    id: "blog",
    branch: {},
    compute: {},
  })
    .when(recoverShop)
    .thenRefused("PROJECTS_LIMIT_EXCEEDED");
});

test("a project is recovered while the operations of its deletion still run", () => {
  given(worldWithProject(), deleteShop)
    .when(recoverShop)
    .then([{ type: "ProjectRecovered" }]);
  given(worldWithProject({}, { locks: "project" }), deleteShop)
    .when(recoverShop)
    .then([{ type: "ProjectRecovered" }]);
});

test("operations of the deletion change nothing after the recovery, except that computes are idle", () => {
  given(worldWithProject(), deleteShop, recoverShop)
    .when({ kind: "operation", id: "operation-3" }, after(SECOND))
    .then([
      { type: "OperationFinished" },
      { type: "ComputeSuspended", endpointId: "ep-main" },
      { type: "OperationStarted" },
    ]);
});

test("after its recovery period a branch is removed with its computes, children first", () => {
  given(
    worldWithBranch({ computes: [{ id: "ep-dev", computeType: "read_write", options: {} }] }),
    { ...createDev, id: "br-test", name: "test", parentId: "br-dev" },
    after(HOUR),
    { ...deleteDev, branchId: "br-test" },
    after(HOUR),
    deleteDev,
    after(HOUR),
  )
    .when({ kind: "branchRemoval", id: "br-dev" }, after(7 * DAY))
    .then([
      { type: "BranchRemoved", branchId: "br-test" },
      { type: "ComputeDeleted", endpointId: "ep-dev" },
      { type: "BranchRemoved", branchId: "br-dev" },
    ]);
});

test("removing a branch cancels what is unfinished there", () => {
  given(worldWithBranch(), deleteDev)
    .when({ kind: "branchRemoval", id: "br-dev" })
    .then([
      { type: "OperationCancelled", operationId: "operation-4" },
      { type: "BranchRemoved", branchId: "br-dev" },
    ]);
});

test("after its recovery period a project is removed with all its branches and computes", () => {
  given(deletedProject)
    .when({ kind: "projectRemoval", id: "shop" }, after(7 * DAY))
    .then([
      { type: "ComputeDeleted", endpointId: "ep-main" },
      { type: "BranchRemoved", branchId: "br-main" },
      { type: "ProjectRemoved", projectId: "shop" },
    ]);
});

test("removing what is gone does nothing", () => {
  given(worldWithProject()).when({ kind: "branchRemoval", id: "br-gone" }).then([]);
  given(worldWithProject()).when({ kind: "projectRemoval", id: "gone" }).then([]);
});

test("the id of a removed project is free again", () => {
  given(worldWithProject(), restartMain, after(HOUR), deleteShop, { kind: "projectRemoval", id: "shop" })
    .when(createShop)
    .then([
      { type: "ProjectCreated", project: { id: "shop", number: 2 } },
      { type: "BranchCreated" },
      { type: "ComputeCreated" },
      { type: "OperationScheduled" },
      { type: "OperationScheduled" },
    ]);
});

test("the lists of what can be recovered end with the recovery period, exclusive", () => {
  const branches = (ms: number) =>
    given(deletedBranch, after(ms)).asking((world, now) =>
      recoverableBranchesOf(world, "shop", now).map(({ id }) => id),
    );
  expect(branches(0)).toEqual(["br-dev"]);
  expect(branches(7 * DAY - 1_001)).toEqual(["br-dev"]);
  expect(branches(7 * DAY - 1_000)).toEqual([]);
  const projects = (accountId: string, ms: number) =>
    given(deletedProject, createOther, after(ms)).asking((world, now) =>
      [...recoverableProjectsOf(world, accountId, now)].map(({ id }) => id),
    );
  expect(projects("owner", 7 * DAY - 2_001)).toEqual(["shop"]);
  expect(projects("owner", 7 * DAY - 2_000)).toEqual([]);
  expect(projects("other", 0)).toEqual([]);
  expect(
    given(worldWithBranch()).asking((world, now) => [
      ...recoverableBranchesOf(world, "shop", now),
      ...recoverableProjectsOf(world, "owner", now),
    ]),
  ).toEqual([]);
});

test("recovering a branch through another project of its account is refused", () => {
  given(deletedBranch, { ...createShop, id: "blog", branch: {}, compute: {} }, after(HOUR))
    .when({ ...recoverDev, projectId: "blog" })
    .thenRefused("BRANCH_NOT_FOUND", /not a deleted branch/);
  given(deletedBranch)
    .when({ ...recoverDev, branchId: "br-unknown" })
    .thenRefused("BRANCH_NOT_FOUND");
});

test("recovering a project completes the creation of a branch that its deletion cancelled", () => {
  given(worldWithProject(), createDev, deleteShop, after(SECOND * 5))
    .when(recoverShop)
    .then([{ type: "ProjectRecovered" }, { type: "BranchBecameReady", branchId: "br-dev" }]);
});

test("recovering a project completes the permanent deletion of branches that its deletion cancelled", () => {
  const child: Step = [worldWithBranch(), { ...createDev, id: "br-test", name: "test", parentId: "br-dev" }];
  given(
    child,
    after(HOUR),
    { ...deleteDev, branchId: "br-test", hard: true },
    { ...deleteDev, hard: true },
    deleteShop,
    after(HOUR),
  )
    .when(recoverShop)
    .then([
      { type: "ProjectRecovered" },
      { type: "BranchRemoved", branchId: "br-test" },
      { type: "BranchRemoved", branchId: "br-dev" },
    ]);
});
