import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sizeOnDisk } from "../../../../src/postgres/volumes/volume-size.ts";
import { VolumeUsage } from "../../../../src/postgres/volumes/volume-usage.ts";
import { Volumes } from "../../../../src/postgres/volumes/volumes.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

const KIB = 1_024;

/** Directories with one file each. */
function createVolumes(sizes: Readonly<Record<string, number>>) {
  const root = testDirectory();
  for (const [id, bytes] of Object.entries(sizes)) {
    mkdirSync(join(root, id, "data"), { recursive: true });
    writeFileSync(join(root, id, "data", "rows"), Buffer.alloc(bytes, 1));
  }
  return { root, usage: new VolumeUsage(root), ids: Object.keys(sizes) };
}

test("a file that volumes share counts once for all of them", async () => {
  const { root, usage, ids } = createVolumes({ "h/a": 900 * KIB, "h/b": 0, "h/c": 0 });
  const alone = await sizeOnDisk(join(root, "h/a"));
  expect(alone).toBeGreaterThanOrEqual(900 * KIB);
  for (const id of ["h/b", "h/c"]) linkSync(join(root, "h/a/data/rows"), join(root, id, "data", "link"));
  expect(await sizeOnDisk(join(root, "h/a"))).toBeLessThanOrEqual(alone - 600 * KIB);
  await usage.measure(ids);
  expect(usage.count).toBe(3);
  expect(usage.bytes).toBeGreaterThanOrEqual(900 * KIB);
  expect(usage.bytes).toBeLessThan(1_000 * KIB);
});

test("a volume in use is measured each time, and another one only after it has changed", async () => {
  const { root, usage, ids } = createVolumes({ "h/a": 100 * KIB, "h/b": 100 * KIB });
  usage.begin("h/a");
  await usage.measure(ids);
  const before = usage.bytesOf("h/b");
  for (const id of ids) writeFileSync(join(root, id, "data", "more"), Buffer.alloc(200 * KIB, 1));
  await usage.measure(ids);
  expect(usage.bytesOf("h/a")).toBeGreaterThanOrEqual(300 * KIB);
  expect(usage.bytesOf("h/b")).toBe(before);
  usage.changed("h/b");
  await usage.measure(ids);
  expect(usage.bytesOf("h/b")).toBeGreaterThanOrEqual(300 * KIB);
  expect(usage.bytes).toBe(usage.bytesOf("h/a") + usage.bytesOf("h/b"));
});

test("the next server reads the size of a volume that was not in use, and measures the others", async () => {
  const { root, usage, ids } = createVolumes({ "h/a": 100 * KIB, "h/b": 100 * KIB, "h/c": 100 * KIB });
  await usage.measure(ids);
  usage.begin("h/a");
  const sizeOfC = join(root, "h/c/size");
  writeFileSync(sizeOfC, readFileSync(sizeOfC, "utf8").slice(0, 3));
  for (const id of ids) writeFileSync(join(root, id, "data", "more"), Buffer.alloc(400 * KIB, 1));
  const next = new VolumeUsage(root);
  await next.measure(ids);
  expect(next.bytesOf("h/a")).toBeGreaterThanOrEqual(500 * KIB);
  expect(next.bytesOf("h/b")).toBe(usage.bytesOf("h/b"));
  expect(next.bytesOf("h/c")).toBeGreaterThanOrEqual(500 * KIB);
});

test("a removed volume does not count, and has no size on disk", async () => {
  const { root, usage, ids } = createVolumes({ "h/a": 100 * KIB, "h/b": 100 * KIB });
  await usage.measure(ids);
  rmSync(join(root, "h/a"), { recursive: true });
  usage.changed("h/a");
  await usage.measure(["h/b"]);
  expect([usage.count, usage.bytes]).toEqual([1, usage.bytesOf("h/b")]);
  await usage.measureNew("h/a");
  expect(usage.count).toBe(1);
  expect(existsSync(join(root, "h/a"))).toBe(false);
});

test("a volume that is removed while it is measured is removed completely", async () => {
  const root = testDirectory();
  const volumes = new Volumes(root, root);
  const ids = Array.from({ length: 20 }, (_, index) => `history/branch-${index}`);
  for (const id of ids) {
    mkdirSync(join(root, id, "data"), { recursive: true });
    for (let file = 0; file < 50; file += 1) writeFileSync(join(root, id, "data", String(file)), "");
  }
  const measured = volumes.usage.measure(ids);
  await Promise.all([measured, ...ids.map((id) => volumes.remove(id))]);
  expect(existsSync(join(root, "history"))).toBe(false);
  expect([volumes.usage.count, volumes.usage.bytes]).toEqual([0, 0]);
});
