import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { unifiedDiff } from "../../../src/kernel/unified-diff.ts";
import { expectHolds } from "../../support/properties/properties.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("");

test("equal texts have no difference", () => {
  expect(unifiedDiff("a\n", "a\n")).toBe("");
});

test("a change has three lines around it", () => {
  expect(unifiedDiff(numbers(10), numbers(10).replace("5\n", "five\n"))).toBe(
    "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
  );
});

test("changes with at most six lines between them share a hunk", () => {
  const changed = (second: string) =>
    unifiedDiff(numbers(20), numbers(20).replace("3\n", "three\n").replace(`\n${second}\n`, "\nx\n"));
  expect(changed("10").match(/^@@/gm)).toHaveLength(1);
  expect(changed("11").match(/^@@/gm)).toHaveLength(2);
});

test("an insertion into nothing begins at line 0", () => {
  expect(unifiedDiff("", "a\nb\n")).toBe("@@ -0,0 +1,2 @@\n+a\n+b\n");
});

test("patch makes the second text of the first", async () => {
  const directory = mkdtempSync(join(tmpdir(), "standin-diff-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const text = fc
    .array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 })
    .map((lines) => lines.map((line) => `${line}\n`).join(""));
  await expectHolds(
    fc.property(text, text, (before, after) => {
      const [file, patch] = [join(directory, "file"), join(directory, "patch")];
      writeFileSync(file, before);
      writeFileSync(patch, `--- file\n+++ file\n${unifiedDiff(before, after)}`);
      if (before !== after)
        execFileSync("git", ["apply", "-p0", "--unidiff-zero", patch], { cwd: directory });
      expect(readFileSync(file, "utf8")).toBe(after);
    }),
    100,
  );
});
