import { test } from "vitest";
import {
  createDev,
  createOther,
  DEV,
  MAIN,
  restartMain,
  SHOP,
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

const create: CommandOf<"CreateSnapshot"> = { type: "CreateSnapshot", ...MAIN };
const rename: CommandOf<"UpdateSnapshot"> = {
  type: "UpdateSnapshot",
  ...SHOP,
  snapshotId: "snapshot-1",
  name: "release",
};
const remove: CommandOf<"DeleteSnapshot"> = {
  type: "DeleteSnapshot",
  ...SHOP,
  snapshotId: "snapshot-1",
};
const schedule: CommandOf<"SetBackupSchedule"> = {
  type: "SetBackupSchedule",
  ...MAIN,
  items: [{ frequency: "daily", hour: 3, retention_seconds: 3_600 }],
};
const snapshots = (count: number): Step => Array.from({ length: count }, () => create);

test("a snapshot holds the roles and databases of a branch as of now", () => {
  given(worldWithProject())
    .when({ ...create, name: "release" })
    .then([
      {
        type: "SnapshotCreated",
        snapshot: {
          id: "snapshot-1",
          number: 1,
          projectId: "shop",
          sourceBranchId: "br-main",
          name: "release",
          timestamp: NOW,
          manual: true,
          expiresAt: undefined,
          content: { roles: [{ name: "neondb_owner" }], databases: [{ name: "neondb" }] },
          createdAt: NOW,
        },
      },
    ]);
});

test("a snapshot without a name is named for its id", () => {
  given(worldWithProject())
    .when(create)
    .then([{ type: "SnapshotCreated", snapshot: { id: "snapshot-1", name: "snapshot-1" } }]);
});

test("a snapshot can be taken of the past and while the project is busy", () => {
  given(
    worldWithProject(),
    { type: "CreateDatabase", ...MAIN, name: "orders", ownerName: "neondb_owner" },
    after(HOUR),
    restartMain,
  )
    .when({ ...create, timestamp: NOW - 1 })
    .then([
      { type: "SnapshotCreated", snapshot: { timestamp: NOW - 1, content: { databases: [{ id: 1 }] } } },
    ]);
});

test("a snapshot of a point without history is refused", () => {
  given(worldWithProject())
    .when({ ...create, timestamp: NOW + 1 })
    .thenRefused("PARENT_TIMESTAMP_NOT_ALLOWED");
  given(worldWithProject())
    .when({ ...create, lsn: "0/1" })
    .thenRefused("PARENT_LSN_NOT_ALLOWED");
});

test("a snapshot of a branch that is still being created is refused", () => {
  given(worldWithProject(), createDev)
    .when({ ...create, ...DEV })
    .thenRefused("BRANCH_NOT_READY");
  given(worldWithProject(), createDev, after(SECOND))
    .when({ ...create, ...DEV })
    .then([{ type: "SnapshotCreated", snapshot: { sourceBranchId: "br-dev" } }]);
});

test("a snapshot expires in the future", () => {
  given(worldWithProject())
    .when({ ...create, expiresAt: NOW + 1 })
    .then([{ type: "SnapshotCreated", snapshot: { expiresAt: NOW + 1 } }]);
  given(worldWithProject())
    .when({ ...create, expiresAt: NOW })
    .thenRefused("SNAPSHOT_EXPIRATION_NOT_ALLOWED");
});

test.each([
  ["free", 1],
  ["paid", 10],
] as const)("a project of a %s account may have %i manual snapshots, and not one more", (plan, limit) => {
  given(worldWithProject({}, { plan }), snapshots(limit - 1))
    .when(create)
    .then([{ type: "SnapshotCreated", snapshot: { number: limit } }]);
  given(worldWithProject({}, { plan }), snapshots(limit))
    .when(create)
    .thenRefused("SNAPSHOTS_LIMIT_EXCEEDED");
});

test("scheduled snapshots do not count towards the limit", () => {
  given(worldWithProject({}, { plan: "free" }), schedule, { kind: "backup", id: "br-main" })
    .when(create)
    .then([{ type: "SnapshotCreated", snapshot: { number: 2, manual: true } }]);
});

test("a snapshot of an unknown branch is refused", () => {
  given(worldWithProject())
    .when({ ...create, ...DEV })
    .thenRefused("BRANCH_NOT_FOUND");
});

test("a snapshot is renamed", () => {
  given(worldWithProject(), create)
    .when(rename)
    .then([{ type: "SnapshotRenamed", snapshotId: "snapshot-1", name: "release" }]);
});

test("a snapshot is deleted", () => {
  given(worldWithProject(), create)
    .when(remove)
    .then([{ type: "SnapshotDeleted", snapshotId: "snapshot-1" }]);
});

test.each([rename, remove])("$type for an unknown snapshot is refused", (command) => {
  given(worldWithProject()).when(command).thenRefused("SNAPSHOT_NOT_FOUND");
});

test.each([create, rename, remove, schedule])(
  "$type in a project of another account is refused",
  (command) => {
    given(worldWithProject(), createOther, create)
      .when({ ...command, accountId: "other" })
      .thenRefused("PROJECT_NOT_FOUND");
  },
);

test("an expired snapshot is deleted", () => {
  given(worldWithProject(), { ...create, expiresAt: NOW + DAY })
    .when({ kind: "snapshotExpiration", id: "snapshot-1" }, after(DAY))
    .then([{ type: "SnapshotDeleted", snapshotId: "snapshot-1" }]);
});

test("the expiration of a deleted snapshot does nothing", () => {
  given(worldWithProject(), create, remove).when({ kind: "snapshotExpiration", id: "snapshot-1" }).then([]);
});

test("a branch gets a backup schedule", () => {
  given(worldWithProject())
    .when(schedule)
    .then([{ type: "BackupScheduleSet", branchId: "br-main", items: schedule.items }]);
});

test("a backup schedule for an unknown branch is refused", () => {
  given(worldWithProject())
    .when({ ...schedule, ...DEV })
    .thenRefused("BRANCH_NOT_FOUND");
});

test("a due backup takes a snapshot that expires after its retention", () => {
  given(worldWithProject(), schedule)
    .when({ kind: "backup", id: "br-main" }, after(15 * HOUR))
    .then([
      {
        type: "SnapshotCreated",
        snapshot: {
          sourceBranchId: "br-main",
          timestamp: NOW + 15 * HOUR,
          manual: false,
          expiresAt: NOW + 16 * HOUR,
        },
      },
    ]);
});

test("when several items are due at once, one snapshot is kept as long as the longest of them says", () => {
  const hourlyToo = [...schedule.items, { frequency: "hourly", retention_seconds: 7_200 } as const];
  given(worldWithProject(), { ...schedule, items: hourlyToo })
    .when({ kind: "backup", id: "br-main" }, after(15 * HOUR))
    .then([{ type: "SnapshotCreated", snapshot: { expiresAt: NOW + 17 * HOUR } }]);
});

test("a scheduled snapshot without a retention is kept", () => {
  given(worldWithProject(), { ...schedule, items: [{ frequency: "hourly" }] })
    .when({ kind: "backup", id: "br-main" }, after(HOUR))
    .then([{ type: "SnapshotCreated", snapshot: { expiresAt: undefined } }]);
});

test("a branch without a schedule has no backup", () => {
  given(worldWithProject()).when({ kind: "backup", id: "br-main" }).then([]);
});
