import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeUnfinished } from "../../../../src/postgres/installations/installed-engines.ts";
import { temporaryDirectory } from "../../../support/process/process.ts";

test("of unfinished files, only those with the name of an engine are removed", () => {
  const { path } = temporaryDirectory();
  for (const name of ["17.0a1b2c3d.unfinished", "17"]) mkdirSync(join(path, name));
  for (const name of ["notes.unfinished", "17.unfinished", "17.0a1b2c3d.unfinished.txt"])
    writeFileSync(join(path, name), "mine");
  removeUnfinished(path);
  expect(readdirSync(path).sort()).toEqual([
    "17",
    "17.0a1b2c3d.unfinished.txt",
    "17.unfinished",
    "notes.unfinished",
  ]);
});
