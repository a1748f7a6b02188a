import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Volumes } from "../../src/volumes/volumes.ts";
import { temporaryDirectory } from "../support/process.ts";

function newDirectory(): string {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  return path;
}

function createData(volumes: Volumes, historyId: string, branchId: string, branchSeq?: number): string {
  const { dataDirectory } = volumes.volume(historyId, branchId, branchSeq);
  mkdirSync(dataDirectory);
  writeFileSync(join(dataDirectory, "row"), "1");
  return dataDirectory;
}

test("a volume keeps its data, also if the creation of its branch is unknown later", () => {
  const volumes = new Volumes(join(newDirectory(), "volumes"), newDirectory());
  createData(volumes, "history", "br-1", 7);
  expect(volumes.volume("history", "br-1", 7).exists).toBe(true);
  expect(volumes.volume("history", "br-1").exists).toBe(true);
  expect(volumes.volume("fork", "br-1", 7).exists).toBe(false);
});

test("a branch that was created by another event has no data of an earlier one", () => {
  const volumes = new Volumes(join(newDirectory(), "volumes"), newDirectory());
  createData(volumes, "history", "br-1", 7);
  const later = volumes.volume("history", "br-1", 12);
  expect(later.exists).toBe(false);
  expect(volumes.stored()).toMatchObject([{ historyId: "history", branchId: "br-1", branchSeq: 12 }]);
});

test("volumes of another data directory are not listed", () => {
  const root = join(newDirectory(), "volumes");
  const [data, otherData] = [newDirectory(), newDirectory()];
  createData(new Volumes(root, data), "history", "br-1", 7);
  expect(new Volumes(root, otherData).stored()).toEqual([]);
  expect(new Volumes(root, data).stored()).toHaveLength(1);
});

test("volumes can be moved together with their data directory", () => {
  const parent = newDirectory();
  const [before, after] = [join(parent, "before"), join(parent, "after")];
  createData(new Volumes(join(before, "volumes"), before), "history", "br-1", 7);
  renameSync(before, after);
  expect(new Volumes(join(after, "volumes"), after).stored()).toHaveLength(1);
});

test("the last volume of a history leaves no directory", async () => {
  const root = join(newDirectory(), "volumes");
  const volumes = new Volumes(root, newDirectory());
  createData(volumes, "history", "br-1", 7);
  createData(volumes, "history", "br-2", 9);
  const [first, second] = volumes.stored();
  if (first === undefined || second === undefined) throw new Error("two volumes are stored");
  await volumes.remove(first);
  expect(volumes.stored()).toEqual([second]);
  await volumes.remove(second);
  expect(volumes.stored()).toEqual([]);
});
