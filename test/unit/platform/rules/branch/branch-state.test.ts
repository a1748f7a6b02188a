import { expect, test } from "vitest";
import type { BranchData } from "../../../../../src/platform/model/branch-data.ts";
import { contentAt } from "../../../../../src/platform/rules/branch/content-history.ts";
import { lsnAt } from "../../../../../src/platform/rules/branch/point-in-time.ts";
import type { World } from "../../../../../src/platform/world/world.ts";
import {
  createDev,
  DEV,
  MAIN,
  SHOP,
  worldWithBranch,
  worldWithProject,
} from "../../../../support/rules/rule-worlds.ts";
import {
  type CommandOf,
  DAY,
  HOUR,
  MINUTE,
  NOW,
  SECOND,
  START,
  type Step,
} from "../../../../support/rules/rules.ts";
import { SimulatedWorld } from "../../../../support/rules/simulated-world.ts";

const branchOf = (world: World, id: string) => world.branches.get(id);
const namesAt = (world: World, at: number) => {
  const branch = branchOf(world, "br-main");
  if (branch === undefined) throw new Error("br-main does not exist");
  const { roles, databases } = contentAt(branch, at);
  return [roles.map(({ name }) => name), databases.map(({ name }) => name)];
};
const createRole = (name: string): CommandOf<"CreateRole"> => ({ type: "CreateRole", ...MAIN, name });
const createDatabase = (name: string): CommandOf<"CreateDatabase"> => ({
  type: "CreateDatabase",
  ...MAIN,
  name,
  ownerName: "neondb_owner",
});
/** The data of the main branch is on this volume. */
function withData(...steps: readonly Step[]): SimulatedWorld {
  const simulated = new SimulatedWorld(...steps);
  simulated.world.branchData.set({ id: "br-main", volumeId: "v1", at: NOW, lsn: "0/10", writes: true });
  return simulated;
}
const dataOf = ({ world }: SimulatedWorld, id: string): BranchData | undefined => world.branchData.get(id);

test("the content of a branch at an instant is what was there then", () => {
  const { world } = new SimulatedWorld(worldWithProject())
    .run(createRole("ada"), { ms: MINUTE })
    .run(createDatabase("orders"), { ms: MINUTE })
    .run({ type: "UpdateDatabase", ...MAIN, name: "orders", newName: "sales" }, { ms: MINUTE })
    .run({ type: "DeleteDatabase", ...MAIN, name: "neondb" }, { ms: MINUTE })
    .run({ type: "DeleteRole", ...MAIN, name: "ada" }, { ms: MINUTE });
  expect(namesAt(world, NOW - 1)).toEqual([["neondb_owner"], ["neondb"]]);
  expect(namesAt(world, NOW)).toEqual([["neondb_owner", "ada"], ["neondb"]]);
  expect(namesAt(world, NOW + MINUTE)).toEqual([
    ["neondb_owner", "ada"],
    ["neondb", "orders"],
  ]);
  expect(namesAt(world, NOW + 2 * MINUTE)).toEqual([
    ["neondb_owner", "ada"],
    ["neondb", "sales"],
  ]);
  expect(namesAt(world, NOW + 3 * MINUTE)).toEqual([["neondb_owner", "ada"], ["sales"]]);
  expect(namesAt(world, NOW + 4 * MINUTE)).toEqual([["neondb_owner"], ["sales"]]);
  expect(branchOf(world, "br-main")?.updatedAt).toBe(NOW + 4 * MINUTE);
});

test("previous content is kept for the retention of the project, exclusive", () => {
  const retained = (gap: number) =>
    branchOf(
      new SimulatedWorld(worldWithProject({ historyRetentionSeconds: 3_600 }))
        .run(createRole("ada"), { ms: gap })
        .run(createRole("bob")).world,
      "br-main",
    )?.past?.map(({ until }) => until - NOW);
  expect(retained(HOUR - 1)).toEqual([0, HOUR - 1]);
  expect(retained(HOUR)).toEqual([HOUR]);
});

test("a new password belongs to one role, and has the next number", () => {
  const { world } = new SimulatedWorld(worldWithProject())
    .run(createRole("ada"), { ms: MINUTE })
    .run({ type: "ResetRolePassword", ...MAIN, name: "ada" });
  expect(branchOf(world, "br-main")?.roles).toMatchObject([
    { name: "neondb_owner", secretId: "role-1", updatedAt: START },
    { name: "ada", secretId: "role-3", createdAt: NOW, updatedAt: NOW + MINUTE },
  ]);
  expect(world.numbers.role).toBe(3);
});

test("another owner or name changes one database", () => {
  const { world } = new SimulatedWorld(worldWithProject())
    .run(createRole("ada"), { ms: MINUTE }, createDatabase("orders"), { ms: MINUTE })
    .run({ type: "UpdateDatabase", ...MAIN, name: "orders", ownerName: "ada" });
  expect(branchOf(world, "br-main")?.databases).toEqual([
    { id: 1, name: "neondb", ownerName: "neondb_owner", createdAt: START, updatedAt: START },
    { id: 2, name: "orders", ownerName: "ada", createdAt: NOW + MINUTE, updatedAt: NOW + 2 * MINUTE },
  ]);
});

test("a branch is ready one second after its creation", () => {
  const simulated = new SimulatedWorld(worldWithProject()).run(createDev);
  expect(branchOf(simulated.world, "br-dev")).toMatchObject({ state: "init", stateChangedAt: NOW });
  simulated.wait(SECOND);
  expect(branchOf(simulated.world, "br-dev")).toMatchObject({
    state: "ready",
    stateChangedAt: NOW + SECOND,
    updatedAt: NOW + SECOND,
  });
});

test("one branch is the default branch", () => {
  const { world } = new SimulatedWorld(worldWithBranch()).run({ type: "SetDefaultBranch", ...DEV });
  expect(branchOf(world, "br-main")).toMatchObject({ default: false, updatedAt: NOW });
  expect(branchOf(world, "br-dev")).toMatchObject({ default: true, updatedAt: NOW });
});

test("a restored branch is resetting until its operation ends, with the content and the parent of the restore", () => {
  const simulated = new SimulatedWorld(worldWithBranch({ parentLsn: lsnAt({ createdAt: START }, START) }))
    .run(createDatabase("orders"), { ms: MINUTE })
    .run({ type: "RestoreBranch", ...DEV, sourceBranchId: "br-main" });
  const restored = branchOf(simulated.world, "br-dev");
  expect(restored).toMatchObject({
    parentId: "br-main",
    parentTimestamp: NOW + MINUTE,
    state: "resetting",
    stateChangedAt: NOW + MINUTE,
    lastResetAt: NOW + MINUTE,
    databases: [{ name: "neondb" }, { name: "orders" }],
    past: [{ databases: [{ name: "neondb" }], until: NOW + MINUTE }],
  });
  expect(restored).not.toHaveProperty("parentLsn");
  simulated.wait(SECOND);
  expect(branchOf(simulated.world, "br-dev")).toMatchObject({
    state: "ready",
    stateChangedAt: NOW + MINUTE + SECOND,
  });
});

test("a branch that is restored to a position of the log has it as that of its parent", () => {
  const sourceLsn = lsnAt({ createdAt: START }, NOW - 4 * SECOND);
  const { world } = new SimulatedWorld(worldWithBranch()).run({
    type: "RestoreBranch",
    ...DEV,
    sourceBranchId: "br-main",
    sourceLsn,
  });
  expect(branchOf(world, "br-dev")).toMatchObject({
    parentLsn: sourceLsn,
    parentTimestamp: NOW - 4 * SECOND,
  });
});

test("a position of the log grows by eight bytes each millisecond from the creation of the project on", () => {
  const project = { createdAt: 1_000 };
  expect(lsnAt(project, 1_000)).toBe("0/1E88838");
  expect(lsnAt(project, 1_001)).toBe("0/1E88840");
  // 2^32 bytes after the start of the log, and 0x1E88838 more.
  expect(lsnAt(project, 1_000 + 2 ** 29)).toBe("1/1E88838");
});

test("the data of a branch begins with that of its parent, at the point of the branch", () => {
  const simulated = withData(worldWithProject()).run(createDev);
  expect(dataOf(simulated, "br-dev")).toEqual({ id: "br-dev", volumeId: "v1", at: NOW, lsn: "0/10" });
});

test("a branch of the schema only is to delete its rows; without data there is nothing to delete", () => {
  const schemaOnly = { ...createDev, initSource: "schema-only" } as const;
  const simulated = withData(worldWithProject()).run(schemaOnly);
  expect(dataOf(simulated, "br-dev")).toMatchObject({ volumeId: "v1", schemaOnly: true });
  const withoutData = new SimulatedWorld(worldWithProject()).run(schemaOnly);
  expect(dataOf(withoutData, "br-dev")).toBeUndefined();
});

test("a branch at a past instant begins with the data of that instant", () => {
  const simulated = withData(worldWithProject({}, {}))
    .wait(HOUR)
    .run({ ...createDev, parentTimestamp: NOW + MINUTE });
  expect(dataOf(simulated, "br-dev")).toEqual({
    id: "br-dev",
    volumeId: "v1",
    at: NOW + MINUTE,
    lsn: "0/10",
  });
});

test("a restored branch has the data of its source, and its own until then", () => {
  const simulated = withData(worldWithBranch())
    .wait(MINUTE)
    .run({ type: "RestoreBranch", ...DEV, sourceBranchId: "br-main", preserveUnderName: "before" });
  expect(dataOf(simulated, "br-dev")).toMatchObject({ volumeId: "v1", at: NOW + MINUTE, lsn: "0/10" });
});

test("a branch that is restored to its own past keeps that data, and what it was is preserved", () => {
  const simulated = withData(worldWithProject()).wait(HOUR);
  simulated.run({
    type: "RestoreBranch",
    ...MAIN,
    sourceBranchId: "br-main",
    sourceTimestamp: NOW + MINUTE,
    preserveUnderName: "before",
  });
  const preserved = simulated.world.branches.by("project", "shop").toArray().at(-1)?.id ?? "";
  expect(dataOf(simulated, "br-main")).toEqual({
    id: "br-main",
    volumeId: "v1",
    at: NOW + MINUTE,
    lsn: "0/10",
    past: [{ volumeId: "v1", at: NOW, lsn: "0/10", writes: true, until: NOW + HOUR }],
  });
  expect(dataOf(simulated, preserved)).toEqual({
    id: preserved,
    volumeId: "v1",
    at: NOW + HOUR,
    lsn: "0/10",
  });
});

test("a snapshot has the data of its branch, until it is deleted", () => {
  const simulated = withData(worldWithProject())
    .wait(MINUTE)
    .run({ type: "CreateSnapshot", ...MAIN });
  const [snapshot] = simulated.world.branchSnapshots.toArray();
  const snapshotId = snapshot?.id ?? "";
  expect(dataOf(simulated, snapshotId)).toEqual({
    id: snapshotId,
    volumeId: "v1",
    at: NOW + MINUTE,
    lsn: "0/10",
  });
  simulated.run({ type: "UpdateSnapshot", ...SHOP, snapshotId, name: "release" });
  expect(simulated.world.branchSnapshots.get(snapshotId)).toEqual({
    ...snapshot,
    name: "release",
    updatedAt: NOW + MINUTE,
  });
  simulated.run({ type: "DeleteSnapshot", ...SHOP, snapshotId });
  expect(simulated.world.branchSnapshots.get(snapshotId)).toBeUndefined();
  expect(dataOf(simulated, snapshotId)).toBeUndefined();
});

test("a recovered branch has no expiration any more", () => {
  const expiring = new SimulatedWorld(worldWithBranch({ expiresAt: NOW + DAY })).run({
    type: "DeleteBranch",
    ...DEV,
  });
  expect(branchOf(expiring.world, "br-dev")).toMatchObject({
    deletedAt: NOW,
    recoverableUntil: NOW + 7 * DAY,
    expiresAt: NOW + DAY,
  });
  const recovered = branchOf(expiring.wait(MINUTE).run({ type: "RecoverBranch", ...DEV }).world, "br-dev");
  expect(recovered?.updatedAt).toBeGreaterThanOrEqual(NOW + MINUTE);
  for (const field of ["deletedAt", "recoverableUntil", "expiresAt", "ttlSeconds"])
    expect(recovered).not.toHaveProperty(field);
});

test("what belongs to a branch is removed with it", () => {
  const simulated = withData(worldWithBranch({ computes: [{ computeType: "read_write", options: {} }] }))
    .run({
      type: "CreateServiceRecord",
      ...DEV,
      record: { kind: "bucket", key: "files", settings: { access_level: "private" } },
    })
    .wait(MINUTE);
  simulated.world.branchData.set({ id: "br-dev", volumeId: "v2", at: NOW });
  simulated.run({ type: "DeleteBranch", ...DEV }).wait(7 * DAY);
  const { world } = simulated;
  expect(branchOf(world, "br-dev")).toBeUndefined();
  expect(dataOf(simulated, "br-dev")).toBeUndefined();
  expect(world.usage.get("br-dev")).toBeUndefined();
  expect(world.records.by("scope", "br-dev").size).toBe(0);
  expect(world.computes.by("branch", "br-dev").size).toBe(0);
});
