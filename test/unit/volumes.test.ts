import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Marks } from "../../src/postgres/volumes/marks.ts";
import type { Volume } from "../../src/postgres/volumes/volume.ts";
import { MissingVolume } from "../../src/postgres/volumes/volume-origins.ts";
import { Volumes } from "../../src/postgres/volumes/volumes.ts";
import { temporaryDirectory } from "../support/process/process.ts";

function newDirectory(): string {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  return path;
}

async function createData(volumes: Volumes, historyId: string, branchId: string): Promise<Volume> {
  const { volume, release } = await volumes.create(historyId, branchId, async ({ dataDirectory }) => {
    mkdirSync(dataDirectory);
    writeFileSync(join(dataDirectory, "row"), "1");
    return { bases: [{ path: join(volumes.root, "templates", "18") }], origin: "0/16B3748" };
  });
  release();
  return volume;
}

test("a volume is found again by its id", async () => {
  const [root, data] = [join(newDirectory(), "volumes"), newDirectory()];
  const { id } = await createData(new Volumes(root, data), "history", "br-1");
  expect(new Volumes(root, data).volume(id)).toMatchObject({
    bases: [{ path: join(root, "templates", "18") }],
    origin: "0/16B3748",
  });
});

test.each(["../x", "a/../..", "/etc", "a/b/c", "a/..", "./a", "a", "", "a\0/b"])(
  "a world that refers to %j refers to no volume, whatever is there",
  (id) => {
    const root = join(newDirectory(), "volumes");
    mkdirSync(join(root, "a", "b", "c"), { recursive: true });
    for (const place of [root, join(root, ".."), join(root, "a"), join(root, "a", "b", "c")])
      writeFileSync(join(place, "origin.json"), JSON.stringify({ bases: [] }));
    const volumes = new Volumes(root, newDirectory());
    expect(volumes.has(id)).toBe(false);
    expect(() => volumes.volume(id)).toThrow(MissingVolume);
  },
);

test("a volume that was deleted is missing", async () => {
  const root = join(newDirectory(), "volumes");
  const volumes = new Volumes(root, newDirectory());
  const { id } = await createData(volumes, "history", "br-1");
  await volumes.remove(id);
  expect(() => volumes.volume(id)).toThrow(MissingVolume);
});

test("each creation for a branch gives another volume", async () => {
  const volumes = new Volumes(join(newDirectory(), "volumes"), newDirectory());
  const first = await createData(volumes, "history", "br-1");
  const second = await createData(volumes, "history", "br-1");
  expect(first.id).not.toBe(second.id);
});

test("a creation that fails leaves nothing", async () => {
  const volumes = new Volumes(join(newDirectory(), "volumes"), newDirectory());
  const failed = volumes.create("history", "br-1", async () => {
    throw new Error("the disk is full");
  });
  await expect(failed).rejects.toThrow("the disk is full");
  expect(volumes.stored()).toEqual([]);
});

test("a volume does not exist before its data is complete", async () => {
  const volumes = new Volumes(join(newDirectory(), "volumes"), newDirectory());
  const { volume, release } = await volumes.create("history", "br-1", async () => {
    const [id = ""] = volumes.stored();
    expect([id.startsWith("history/br-1-"), volumes.has(id)]).toEqual([true, false]);
    expect(() => volumes.volume(id)).toThrow(MissingVolume);
    return { bases: [] };
  });
  release();
  expect(volumes.has(volume.id)).toBe(true);
});

test("a volume is pinned until all pins are released", async () => {
  const volumes = new Volumes(join(newDirectory(), "volumes"), newDirectory());
  const [first, second] = [volumes.pin("history/br-1"), volumes.pin("history/br-1")];
  first();
  first();
  expect(volumes.isPinned("history/br-1")).toBe(true);
  let isReleased = false;
  const released = volumes.whenReleased("history/br-1").then(() => {
    isReleased = true;
  });
  await Promise.resolve();
  expect(isReleased).toBe(false);
  second();
  await released;
  expect(volumes.isPinned("history/br-1")).toBe(false);
});

test("volumes of another data directory are not listed", async () => {
  const root = join(newDirectory(), "volumes");
  const [data, otherData] = [newDirectory(), newDirectory()];
  await createData(new Volumes(root, data), "history", "br-1");
  expect(new Volumes(root, otherData).stored()).toEqual([]);
  expect(new Volumes(root, data).stored()).toHaveLength(1);
});

test("volumes can be moved together with their data directory", async () => {
  const parent = newDirectory();
  const [before, after] = [join(parent, "before"), join(parent, "after")];
  const { id } = await createData(new Volumes(join(before, "volumes"), before), "history", "br-1");
  renameSync(before, after);
  const moved = new Volumes(join(after, "volumes"), after);
  expect(moved.stored()).toEqual([id]);
  expect(moved.volume(id).bases).toEqual([{ path: join(after, "volumes", "templates", "18") }]);
});

test("the last volume of a history leaves no directory", async () => {
  const root = join(newDirectory(), "volumes");
  const volumes = new Volumes(root, newDirectory());
  await createData(volumes, "history", "br-1");
  await createData(volumes, "history", "br-2");
  const [first, second] = volumes.stored();
  if (first === undefined || second === undefined) throw new Error("two volumes are stored");
  await volumes.remove(first);
  expect(volumes.stored()).toEqual([second]);
  await volumes.remove(second);
  expect(volumes.stored()).toEqual([]);
});

test("a volume whose origin a power failure has emptied is missing, and the file is named", async () => {
  const [root, data] = [join(newDirectory(), "volumes"), newDirectory()];
  const { id } = await createData(new Volumes(root, data), "history", "br-1");
  writeFileSync(join(root, id, "origin.json"), "");
  expect(() => new Volumes(root, data).volume(id)).toThrow(
    new MissingVolume(`${join(root, id, "origin.json")} is damaged`),
  );
});

test("the newest mark up to an instant is found", () => {
  const marks = new Marks(join(newDirectory(), "marks"));
  marks.append({ at: 10, lsn: "0/10" });
  marks.append({ at: 20, lsn: "0/20" });
  expect(marks.find(9)).toBeUndefined();
  expect(marks.find(10)?.lsn).toBe("0/10");
  expect(marks.find(19)?.lsn).toBe("0/10");
  expect(marks.find(20)?.lsn).toBe("0/20");
});

test("of several marks at one instant, the last one counts", () => {
  const marks = new Marks(join(newDirectory(), "marks"));
  marks.append({ at: 10, lsn: "0/10" });
  marks.append({ at: 10, lsn: "0/20" });
  expect(marks.find(10)?.lsn).toBe("0/20");
});

test("a mark without a change of the log is not stored", () => {
  const marks = new Marks(join(newDirectory(), "marks"));
  marks.append({ at: 10, lsn: "0/10" });
  marks.append({ at: 20, lsn: "0/10" });
  expect(marks.last).toEqual({ at: 10, lsn: "0/10" });
});

test("marks are read again, without a last line that a kill has cut", () => {
  const path = join(newDirectory(), "marks");
  new Marks(path).append({ at: 10, lsn: "0/10" });
  appendFileSync(path, "20 0/");
  expect(new Marks(path).last).toEqual({ at: 10, lsn: "0/10" });
  rmSync(path);
  expect(new Marks(path).last).toBeUndefined();
});

test("a mark after a cut line is a line of its own, and a cut position does not count", () => {
  const path = join(newDirectory(), "marks");
  new Marks(path).append({ at: 10, lsn: "0/10" });
  // The beginning of "20 0/2000".
  appendFileSync(path, "20 0/20");
  const marks = new Marks(path);
  expect(marks.last).toEqual({ at: 10, lsn: "0/10" });
  marks.append({ at: 30, lsn: "0/3000" });
  marks.append({ at: 40, lsn: "0/4000" });
  expect(new Marks(path).find(35)).toEqual({ at: 30, lsn: "0/3000" });
  expect(new Marks(path).last).toEqual({ at: 40, lsn: "0/4000" });
});

test("marks before an instant are deleted, except the one that counts at it", () => {
  const path = join(newDirectory(), "marks");
  const marks = new Marks(path);
  for (const at of [10, 20, 30]) marks.append({ at, lsn: `0/${at}` });
  marks.deleteBefore(25);
  expect(marks.all().map(({ at }) => at)).toEqual([20, 30]);
  marks.append({ at: 40, lsn: "0/40" });
  expect(new Marks(path).all().map(({ at }) => at)).toEqual([20, 30, 40]);
});

test("a base is stored as long as a volume has it", async () => {
  const volumes = new Volumes(join(newDirectory(), "volumes"), newDirectory());
  const { id } = await createData(volumes, "history", "br-1");
  const { path, release } = await volumes.createBase("history", async (to) => void mkdirSync(to));
  volumes.setBases(id, [{ path, lsn: "0/5" }]);
  release();
  const used = new Set(volumes.directoriesOf(id));
  expect(volumes.stored().every((directory) => used.has(directory))).toBe(true);
  expect(new Volumes(volumes.root, volumes.root).volume(id).bases).toEqual([{ path, lsn: "0/5" }]);
});
