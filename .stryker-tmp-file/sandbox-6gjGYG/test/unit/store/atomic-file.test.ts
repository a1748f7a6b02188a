// @ts-nocheck
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { replaceAndPreserve } from "../../../src/store/file/atomic-file.ts";
import { temporaryDirectory } from "../../support/process.ts";

function filesToReplace() {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  const files = {
    finished: join(path, "world.sqlite.unfinished"),
    current: join(path, "world.sqlite"),
    preserved: join(path, "snapshots", "previous.sqlite"),
  };
  writeFileSync(files.finished, "new");
  writeFileSync(files.current, "old");
  return files;
}

test("the replaced file is preserved under the second name", () => {
  const { finished, current, preserved } = filesToReplace();
  replaceAndPreserve(finished, current, preserved);
  expect([readFileSync(current, "utf8"), readFileSync(preserved, "utf8")]).toEqual(["new", "old"]);
});

test("if the file cannot be replaced, the second name does not remain", () => {
  const { finished, current, preserved } = filesToReplace();
  writeFileSync(`${finished}-wal`, "not merged");
  expect(() => replaceAndPreserve(finished, current, preserved)).toThrow("is incomplete");
  expect([readFileSync(current, "utf8"), existsSync(preserved)]).toEqual(["old", false]);
});

test("a second name that existed before remains with its content", () => {
  const { finished, current, preserved } = filesToReplace();
  replaceAndPreserve(finished, current, preserved);
  const { ino } = statSync(preserved);
  writeFileSync(finished, "newer");
  writeFileSync(`${finished}-wal`, "not merged");
  expect(() => replaceAndPreserve(finished, current, preserved)).toThrow("is incomplete");
  expect([readFileSync(current, "utf8"), statSync(preserved).ino]).toEqual(["new", ino]);
});
