import { test } from "vitest";
import {
  createDev,
  DEV,
  MAIN,
  restartMain,
  SHOP,
  worldWithBranch,
  worldWithIdleCompute,
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
  type Step,
} from "../../support/rules/rules.ts";

const snapshotMain: CommandOf<"CreateSnapshot"> = { type: "CreateSnapshot", ...MAIN };
const restore: CommandOf<"RestoreSnapshot"> = {
  type: "RestoreSnapshot",
  ...SHOP,
  snapshotId: "snapshot-1",
  finalize: false,
};
const finalize: CommandOf<"FinalizeRestore"> = {
  type: "FinalizeRestore",
  ...SHOP,
  branchId: "branch-2",
};
const protectMain: Step = { type: "UpdateBranch", ...MAIN, protected: true };
const restored: Step = [worldWithProject(), snapshotMain, restore, after(HOUR)];

test("a snapshot is restored as a new branch without a parent", () => {
  given(worldWithProject(), snapshotMain)
    .when({ ...restore, name: "old data" })
    .then([
      {
        type: "BranchCreated",
        branch: {
          id: "branch-2",
          name: "old data",
          parentId: undefined,
          default: false,
          restoredFrom: "snapshot-1",
          restoredAs: "br-main",
          restoreStatus: "restored",
          databases: [{ name: "neondb" }],
        },
      },
      running("create_branch", { branchId: "branch-2" }),
    ]);
});

test("a restore that is finalized at once replaces the source of the snapshot", () => {
  given(worldWithProject(), snapshotMain)
    .when({ ...restore, finalize: true })
    .then([
      { type: "BranchCreated", branch: { id: "branch-2" } },
      { type: "BranchUpdated", branchId: "br-main", changes: { name: "main_old" } },
      {
        type: "BranchUpdated",
        branchId: "branch-2",
        changes: { name: "main", restoreStatus: "finalized" },
      },
      { type: "BranchSetAsDefault", projectId: "shop", branchId: "branch-2" },
      { type: "ComputeUpdated", endpointId: "ep-main", changes: { branchId: "branch-2" } },
      running("create_branch", { branchId: "branch-2" }),
      queued("apply_config", { branchId: "branch-2", endpointId: "ep-main" }),
      queued("suspend_compute", { endpointId: "ep-main", thenStart: true }),
    ]);
});

test("a snapshot can replace another branch than its source", () => {
  given(worldWithBranch(), snapshotMain)
    .when({ ...restore, targetBranchId: "br-dev", finalize: true })
    .then([
      { type: "BranchCreated", branch: { id: "branch-3", restoredAs: "br-dev" } },
      { type: "BranchUpdated", branchId: "br-dev", changes: { name: "dev_old" } },
      { type: "BranchUpdated", branchId: "branch-3", changes: { name: "dev" } },
      running("create_branch", { branchId: "branch-3" }),
    ]);
});

test("a snapshot of a deleted branch can be restored, but not in its place", () => {
  const deletedSource: Step = [
    worldWithBranch(),
    { ...snapshotMain, ...DEV },
    { type: "DeleteBranch", ...DEV },
    after(HOUR),
  ];
  given(deletedSource)
    .when(restore)
    .then([
      { type: "BranchCreated", branch: { restoredAs: undefined, restoreStatus: "restored" } },
      running("create_branch"),
    ]);
  given(deletedSource)
    .when({ ...restore, finalize: true })
    .thenRefused("BRANCH_NOT_FOUND");
});

test("restoring an unknown snapshot, or over an unknown branch, is refused", () => {
  given(worldWithProject()).when(restore).thenRefused("SNAPSHOT_NOT_FOUND");
  given(worldWithProject(), snapshotMain)
    .when({ ...restore, targetBranchId: "br-unknown" })
    .thenRefused("BRANCH_NOT_FOUND");
});

test("a restored branch needs a free name and room within the limit", () => {
  given(worldWithProject(), snapshotMain)
    .when({ ...restore, name: "main" })
    .thenRefused("BRANCH_ALREADY_EXISTS");
  given(worldWithProject({}, { limits: { branches: 1 } }), snapshotMain)
    .when(restore)
    .thenRefused("BRANCHES_LIMIT_EXCEEDED");
});

test("restoring a snapshot is refused while a branch is created from its branch", () => {
  given(worldWithProject(), snapshotMain, createDev).when(restore).thenRefused("OPERATIONS_IN_PROGRESS");
});

test("a protected branch is not replaced", () => {
  given(worldWithProject(), snapshotMain, protectMain)
    .when({ ...restore, finalize: true })
    .thenRefused("BRANCH_IS_PROTECTED");
  given(restored, protectMain).when(finalize).thenRefused("BRANCH_IS_PROTECTED");
});

test("finalizing a restore gives the branch the name, role and computes of the one it replaces", () => {
  given(restored)
    .when({ ...finalize, replacedName: "retired" })
    .then([
      { type: "BranchUpdated", branchId: "br-main", changes: { name: "retired" } },
      {
        type: "BranchUpdated",
        branchId: "branch-2",
        changes: { name: "main", restoreStatus: "finalized" },
      },
      { type: "BranchSetAsDefault", branchId: "branch-2" },
      { type: "ComputeUpdated", endpointId: "ep-main", changes: { branchId: "branch-2" } },
      running("apply_config", { branchId: "branch-2", endpointId: "ep-main" }),
      queued("suspend_compute", { endpointId: "ep-main", thenStart: true }),
    ]);
});

test("an idle compute is not started by the finalization", () => {
  given(worldWithIdleCompute(), snapshotMain, restore, after(HOUR))
    .when(finalize)
    .then([
      { type: "BranchUpdated", changes: { name: "main_old" } },
      { type: "BranchUpdated" },
      { type: "BranchSetAsDefault" },
      { type: "ComputeUpdated" },
      running("apply_config"),
      queued("suspend_compute", { thenStart: false }),
    ]);
});

test("the backup schedule moves with the computes", () => {
  const items = [{ frequency: "hourly" }] as const;
  given(restored, { type: "SetBackupSchedule", ...MAIN, items })
    .when(finalize)
    .then([
      { type: "BranchUpdated", branchId: "br-main" },
      { type: "BranchUpdated", branchId: "branch-2" },
      { type: "BranchSetAsDefault" },
      { type: "ComputeUpdated" },
      { type: "BackupScheduleSet", branchId: "br-main", items: [] },
      { type: "BackupScheduleSet", branchId: "branch-2", items },
      running("apply_config"),
      queued("suspend_compute"),
    ]);
});

test("finalizing what was not restored, or twice, is refused", () => {
  given(worldWithBranch())
    .when({ ...finalize, ...DEV })
    .thenRefused("RESTORE_NOT_ALLOWED");
  given(restored, finalize, after(HOUR)).when(finalize).thenRefused("RESTORE_NOT_ALLOWED");
});

test("finalizing a restore of an unknown branch, or over one that is gone, is refused", () => {
  given(worldWithProject())
    .when({ ...finalize, ...DEV })
    .thenRefused("BRANCH_NOT_FOUND");
  given(
    worldWithBranch(),
    { ...snapshotMain, ...DEV },
    restore,
    after(HOUR),
    { type: "DeleteBranch", ...DEV },
    after(HOUR),
  )
    .when({ ...finalize, branchId: "branch-3" })
    .thenRefused("BRANCH_NOT_FOUND", /"br-dev"/);
});

test("a branch with an expiration cannot replace the default branch", () => {
  given(restored, { type: "UpdateBranch", ...SHOP, branchId: "branch-2", expiresAt: NOW + DAY })
    .when(finalize)
    .thenRefused("BRANCH_EXPIRATION_NOT_ALLOWED");
});

test("the replaced branch needs a free name", () => {
  given(restored)
    .when({ ...finalize, replacedName: "main" })
    .thenRefused("BRANCH_ALREADY_EXISTS");
});

test("finalizing is refused when both branches have a primary compute", () => {
  given(
    restored,
    {
      type: "CreateCompute",
      ...SHOP,
      branchId: "branch-2",
      computeType: "read_write",
      options: {},
    },
    after(HOUR),
  )
    .when(finalize)
    .thenRefused("READ_WRITE_ENDPOINT_EXISTS");
});

test("finalizing a restore in a busy project is refused", () => {
  given(restored, restartMain).when(finalize).thenRefused("OPERATIONS_IN_PROGRESS");
});
