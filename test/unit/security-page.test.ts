import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const rows = readFileSync(join(root, "SECURITY.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && line.includes("`test/"))
  .map((line) => {
    const [, , promise = "", cited = ""] = line.split("|").map((cell) => cell.trim());
    return { promise, file: /`([^`]+)`/.exec(cited)?.[1] ?? "", title: /: "(.+)"$/.exec(cited)?.[1] };
  });

test("SECURITY.md has promises", () => {
  expect(rows.length).toBeGreaterThan(20);
});

test.each(rows)("the promise is tested: $promise", ({ file, title }) => {
  expect(existsSync(join(root, file)), file).toBe(true);
  if (title !== undefined) expect(readFileSync(join(root, file), "utf8")).toContain(title);
});
