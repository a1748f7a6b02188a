import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readClusterFile, writeClusterFile } from "../../../../src/postgres/engine/cluster-files.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

/** A file outside of a cluster, and a name in the cluster. */
function clusterAndTarget() {
  const directory = testDirectory();
  const target = join(directory, "target");
  writeFileSync(target, "untouched");
  mkdirSync(join(directory, "cluster"));
  return { target, file: join(directory, "cluster", "file"), cluster: join(directory, "cluster") };
}

test("a write replaces a link, and not what it points to", () => {
  const { target, file, cluster } = clusterAndTarget();
  symlinkSync(target, file);
  symlinkSync(target, `${file}.unfinished`);
  writeClusterFile(file, "ours");
  expect(readFileSync(target, "utf8")).toBe("untouched");
  expect(lstatSync(file).isFile()).toBe(true);
  expect(readClusterFile(file)).toBe("ours");
  writeClusterFile(file, "next");
  expect(readClusterFile(file)).toBe("next");
  expect(readdirSync(cluster)).toEqual(["file"]);
});

test("only a short file is read: no link, no pipe, no directory", () => {
  const { target, file, cluster } = clusterAndTarget();
  expect(readClusterFile(file)).toBeUndefined();
  expect(readClusterFile(cluster)).toBeUndefined();
  symlinkSync(target, file);
  expect(readClusterFile(file)).toBeUndefined();
  writeFileSync(`${file}-long`, "x".repeat(65_536));
  expect(readClusterFile(`${file}-long`)).toHaveLength(65_536);
  writeFileSync(`${file}-long`, "x".repeat(65_537));
  expect(readClusterFile(`${file}-long`)).toBeUndefined();
  if (process.platform === "win32") return;
  // A read of it would wait for a writer.
  execFileSync("mkfifo", [`${file}-pipe`]);
  expect(readClusterFile(`${file}-pipe`)).toBeUndefined();
});
