import { existsSync, linkSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isShareable, ownFiles } from "../../../../src/postgres/machine/shared-files.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

test.each(["base/1/1259", "base/4/1259", "base/4/2619_fsm", "base/1/1255.1", "base/5/1255", "base/5/2838"])(
  "%s is shared",
  (path) => {
    expect(isShareable(path)).toBe(true);
  },
);

test.each([
  // Autovacuum stores in these what it did to tables that all databases have.
  "base/5/1259",
  "base/5/2619",
  "base/5/13327",
  "base/16384/1255",
  "base/1/pg_filenode.map",
  "base/1/PG_VERSION",
  "base/1/pg_internal.init",
  "global/1260",
  "base/1/../../global/1260",
  "pg_wal/000000010000000000000001",
])("%s is not shared", (path) => {
  expect(isShareable(path)).toBe(false);
});

/** Two clusters with these files in common. */
function clusters(paths: readonly string[]) {
  const root = testDirectory();
  const [one, other] = [join(root, "one"), join(root, "other")];
  for (const path of paths)
    for (const cluster of [one, other]) mkdirSync(join(cluster, path, ".."), { recursive: true });
  for (const path of paths) {
    writeFileSync(join(one, path), `content of ${path}`);
    linkSync(join(one, path), join(other, path));
  }
  const isShared = (path: string) => lstatSync(join(one, path)).ino === lstatSync(join(other, path)).ino;
  return { one, other, isShared };
}

test("a cluster gets copies of the files that it shares, of the databases that are named", async () => {
  const paths = ["base/1/1255", "base/4/1255", "base/5/1255", "base/5/1259"];
  const { one, other, isShared } = clusters(paths);
  expect(await ownFiles(other, undefined, ["5"])).toBe(true);
  expect(paths.filter(isShared)).toEqual(["base/1/1255", "base/4/1255", "base/5/1259"]);
  expect(await ownFiles(other, undefined)).toBe(true);
  expect(paths.filter(isShared)).toEqual(["base/5/1259"]);
  expect(await ownFiles(other, undefined)).toBe(false);
  for (const path of paths) expect(readFileSync(join(other, path), "utf8")).toBe(`content of ${path}`);
  writeFileSync(join(other, "base/1/1255"), "changed");
  expect(readFileSync(join(one, "base/1/1255"), "utf8")).toBe("content of base/1/1255");
});

test("copies of an attempt that a kill has ended are not used", async () => {
  const { other, isShared } = clusters(["base/5/1255"]);
  const left = join(other, "base/5/standin-copies");
  mkdirSync(left);
  writeFileSync(join(left, "1255"), "half");
  expect(await ownFiles(other, undefined)).toBe(true);
  expect(isShared("base/5/1255")).toBe(false);
  expect(readFileSync(join(other, "base/5/1255"), "utf8")).toBe("content of base/5/1255");
  expect(existsSync(left)).toBe(false);
});
