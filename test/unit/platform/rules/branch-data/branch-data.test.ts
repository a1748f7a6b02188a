import { describe, expect, test } from "vitest";
import { type BranchData, copyBranchData, dataAt } from "../../../../../src/platform/model/branch-data.ts";
import {
  addBranchData,
  replaceBranchData,
} from "../../../../../src/platform/rules/branch-data/evolve-branch-data.ts";
import { emptyWorld } from "../../../../../src/platform/world/world.ts";

/** Closed since 100; what was written before is found by marks. */
const CLOSED: BranchData = { id: "br-1", volumeId: "h/v1", at: 100, lsn: "0/100", writes: true };
const OPEN: BranchData = { ...CLOSED, isOpen: true };

function worldWith(...rows: readonly BranchData[]) {
  const world = emptyWorld();
  for (const row of rows) world.branchData.set(row);
  return world;
}

describe("the data of a branch at an instant", () => {
  test("is the last known position from that position's instant on, while no engine runs", () => {
    expect(dataAt(CLOSED, 100)).toEqual({ volumeId: "h/v1", at: 100, lsn: "0/100" });
    expect(dataAt(CLOSED, 500)).toEqual({ volumeId: "h/v1", at: 500, lsn: "0/100" });
  });

  test("is found by marks before that instant, and while an engine runs", () => {
    expect(dataAt(CLOSED, 99)).toEqual({ volumeId: "h/v1", at: 99 });
    expect(dataAt(OPEN, 500)).toEqual({ volumeId: "h/v1", at: 500 });
  });

  test("is always the same if the branch only refers to it", () => {
    const reference: BranchData = { id: "br-2", volumeId: "h/v1", at: 100, lsn: "0/100" };
    expect(dataAt(reference, 5_000)).toEqual({ volumeId: "h/v1", at: 100, lsn: "0/100" });
    const unresolved: BranchData = { id: "br-2", volumeId: "h/v1", at: 70 };
    expect(dataAt(unresolved, 5_000)).toEqual({ volumeId: "h/v1", at: 70 });
  });

  test("is that of its previous volume before a restore", () => {
    const past = [{ volumeId: "h/v0", at: 10, lsn: "0/10", writes: true, until: 50 }];
    const restored: BranchData = { id: "br-1", volumeId: "h/v9", at: 5, lsn: "0/5", past };
    expect(dataAt(restored, 49)).toMatchObject({ volumeId: "h/v0" });
    expect(dataAt(restored, 50)).toMatchObject({ volumeId: "h/v9", lsn: "0/5" });
  });
});

describe("a new branch", () => {
  test("of a branch without data has none", () => {
    const world = worldWith();
    addBranchData(world, "br-2", { id: "br-1", at: 5 });
    expect(world.branchData.toArray()).toEqual([]);
  });

  test("of a branch without rows has none either", () => {
    const world = worldWith({ ...CLOSED, schemaOnly: true, writes: false });
    addBranchData(world, "br-2", { id: "br-1", at: 200 });
    expect(world.branchData.get("br-2")).toMatchObject({ lsn: "0/100", schemaOnly: true });
  });
});

describe("a restored branch", () => {
  const branch = { id: "br-1", projectId: "unknown" };

  test("has the data of its source", () => {
    const world = worldWith(OPEN, { id: "br-2", volumeId: "h/v2", at: 20, lsn: "0/20" });
    replaceBranchData(world, branch, { id: "br-2", at: 150 }, 200);
    expect(world.branchData.get("br-1")).toMatchObject({ volumeId: "h/v2", at: 20, lsn: "0/20" });
  });

  test("has no data if its source has none", () => {
    const world = worldWith(CLOSED);
    replaceBranchData(world, branch, { id: "br-2", at: 150 }, 200);
    expect(world.branchData.get("br-1")).toMatchObject({ id: "br-1", at: 200 });
    expect(world.branchData.get("br-1")?.volumeId).toBeUndefined();
  });

  test("to an instant of its own has the data of then", () => {
    const world = worldWith(OPEN);
    replaceBranchData(world, branch, { id: "br-1", at: 60 }, 200);
    expect(world.branchData.get("br-1")).toMatchObject({ volumeId: "h/v1", at: 60 });
    expect(world.branchData.get("br-1")?.lsn).toBeUndefined();
  });
});

describe("a copy of a world", () => {
  test("has the stored position of a branch whose engine runs, and does not write to its volume", () => {
    expect(copyBranchData(OPEN, 120, true)).toEqual({
      id: "br-1",
      volumeId: "h/v1",
      at: 120,
      lsn: "0/100",
      past: [{ ...withoutId(OPEN), until: 120 }],
    });
  });

  test("that goes back has the data of then", () => {
    expect(copyBranchData(OPEN, 60, false)).toMatchObject({ volumeId: "h/v1", at: 60 });
    expect(copyBranchData(OPEN, 60, false).lsn).toBeUndefined();
  });

  test("that goes back to the instant of the stored position has that one", () => {
    expect(copyBranchData(OPEN, 100, false)).toMatchObject({ at: 100, lsn: "0/100" });
  });

  test("finds earlier instants by the marks of the volume", () => {
    expect(dataAt(copyBranchData(CLOSED, 120, true), 60)).toEqual({ volumeId: "h/v1", at: 60 });
  });

  test("that goes back before a restore does not contain the restore", () => {
    const past = [{ volumeId: "h/v0", at: 10, lsn: "0/10", writes: true, until: 50 }];
    const restored: BranchData = { id: "br-1", volumeId: "h/v9", at: 5, lsn: "0/5", past };
    expect(copyBranchData(restored, 30, false)).toMatchObject({ volumeId: "h/v0", at: 30, lsn: "0/10" });
    expect(copyBranchData(restored, 30, false).past).toMatchObject([{ volumeId: "h/v0", until: 30 }]);
  });
});

describe("exactly", () => {
  const past = [{ volumeId: "h/v0", at: 10, lsn: "0/10", writes: true, until: 50 }];
  const restored: BranchData = { id: "br-1", volumeId: "h/v9", at: 60, lsn: "0/5", writes: true, past };

  test("the data of a branch without any, and without a position", () => {
    expect(dataAt({ id: "br-1", at: 5 }, 70)).toEqual({ at: 70 });
    expect(dataAt({ id: "br-1", volumeId: "v", at: 5, writes: true }, 70)).toStrictEqual({
      volumeId: "v",
      at: 70,
    });
    expect(dataAt({ id: "br-1", volumeId: "v", at: 5 }, 70)).toStrictEqual({ volumeId: "v", at: 5 });
  });

  test("a branch has no row if its source has a row without data", () => {
    const world = worldWith({ id: "br-1", at: 5 });
    addBranchData(world, "br-2", { id: "br-1", at: 70 });
    expect(world.branchData.get("br-2")).toBeUndefined();
  });

  test("a copy after a restore has what was written until then, and the row itself", () => {
    expect(copyBranchData(restored, 80, true)).toStrictEqual({
      id: "br-1",
      volumeId: "h/v9",
      at: 80,
      lsn: "0/5",
      past: [past[0], { volumeId: "h/v9", at: 60, lsn: "0/5", writes: true, until: 80 }],
    });
  });

  test("a copy at the instant of a restore has the restored data, and the previous data before", () => {
    expect(copyBranchData(restored, 50, false)).toStrictEqual({
      id: "br-1",
      volumeId: "h/v9",
      at: 50,
      past: [past[0], { volumeId: "h/v9", at: 60, lsn: "0/5", writes: true, until: 50 }],
    });
    expect(copyBranchData(restored, 49, false)).toStrictEqual({
      id: "br-1",
      volumeId: "h/v0",
      at: 49,
      lsn: "0/10",
      past: [{ volumeId: "h/v0", at: 10, lsn: "0/10", writes: true, until: 49 }],
    });
  });

  test("a copy of a branch that only refers to a volume has no past", () => {
    const reference: BranchData = { id: "br-2", volumeId: "v", at: 10, lsn: "0/1" };
    expect(copyBranchData(reference, 90, true)).toStrictEqual(reference);
    const unresolved: BranchData = { id: "br-2", volumeId: "v", at: 10 };
    expect(copyBranchData(unresolved, 90, true)).toStrictEqual(unresolved);
  });

  test("a restored branch keeps its previous data within the retention, exclusive", () => {
    const replaced = (now: number) => {
      const world = worldWith({ ...restored, past: [{ ...past[0], until: 1_000 } as never] });
      world.projects.set({ id: "shop", accountId: "a", historyRetentionSeconds: 2 } as never);
      replaceBranchData(world, { id: "br-1", projectId: "shop" }, { id: "br-1", at: now }, now);
      return world.branchData.get("br-1")?.past?.map(({ until }) => until);
    };
    expect(replaced(2_999)).toEqual([1_000, 2_999]);
    expect(replaced(3_000)).toEqual([3_000]);
  });

  test("a branch without a row that is restored from one without a row has none; from one with a row, it has its own past", () => {
    const world = worldWith(CLOSED);
    replaceBranchData(world, { id: "br-8", projectId: "shop" }, { id: "br-9", at: 1 }, 200);
    expect(world.branchData.get("br-8")).toBeUndefined();
    world.projects.set({ id: "shop", accountId: "a", historyRetentionSeconds: 2 } as never);
    replaceBranchData(world, { id: "br-8", projectId: "shop" }, { id: "br-1", at: 150 }, 200);
    expect(world.branchData.get("br-8")).toStrictEqual({
      id: "br-8",
      volumeId: "h/v1",
      at: 150,
      lsn: "0/100",
      past: [{ at: 200, until: 200 }],
    });
  });
});

function withoutId({ id: _, ...reference }: BranchData) {
  return reference;
}
