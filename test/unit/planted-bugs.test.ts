import { join } from "node:path";
import { expect, test } from "vitest";
import { problemsOf } from "../planted/check-list.ts";
import { AREAS, type PlantedBug } from "../planted/planted-bug.ts";
import { PLANTED_BUGS } from "../planted/planted-bugs.ts";
import { outcomeOf } from "../planted/planted-copy.ts";

const ROOT = join(import.meta.dirname, "../..");

test("each planted bug replaces code that exists once, and names tests that exist", () => {
  expect(problemsOf(PLANTED_BUGS, ROOT)).toEqual([]);
  expect(PLANTED_BUGS).toHaveLength(92);
  expect([...new Set(PLANTED_BUGS.map(({ area }) => area))]).toEqual(AREAS);
});

test("a bug whose code or whose tests have changed is a problem", () => {
  const [bug] = PLANTED_BUGS as readonly [PlantedBug];
  const problems = (change: Partial<PlantedBug>) => problemsOf([{ ...bug, ...change }], ROOT);
  expect(problems({ search: "no such code" })).toEqual([
    `${bug.id}: the code to replace must occur once in ${bug.file}, but occurs 0 times`,
  ]);
  expect(problems({ search: "key" })).toEqual([
    expect.stringMatching(/must occur once .* occurs \d\d times$/),
  ]);
  expect(problems({ replacement: bug.search })).toEqual([`${bug.id}: the bug changes nothing`]);
  expect(problems({ test: "test/unit/none.test.ts" })).toEqual([
    `${bug.id}: there is no file test/unit/none.test.ts`,
  ]);
  expect(problems({ titles: "no such title" })).toEqual([
    `${bug.id}: no title in ${bug.test} contains "no such title"`,
  ]);
  expect(problemsOf([bug, bug], ROOT)).toEqual([`${bug.id}: this id occurs twice`]);
});

test("only a test that has run and failed has found a bug", () => {
  const file = (status: string, ...results: string[]) => ({
    status,
    message: "the file could not be loaded",
    assertionResults: results.map((result) => ({ fullName: `test that ${result}`, status: result })),
  });
  expect(outcomeOf({ testResults: [file("failed", "passed", "failed")] })).toEqual({
    failed: ["test that failed"],
  });
  expect(outcomeOf({ testResults: [file("passed", "passed", "skipped")] })).toEqual({ failed: [] });
  expect(outcomeOf({ testResults: [file("failed")] })).toEqual({ reason: "the file could not be loaded" });
  expect(outcomeOf({ testResults: [file("passed", "skipped")] }).reason).toMatch(/^no test has these titles/);
});
