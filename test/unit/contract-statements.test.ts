import { join } from "node:path";
import { expect, test } from "vitest";
import { problemsOf } from "../contract/statements/check-statements.ts";
import type { Section, Statement } from "../contract/statements/statement.ts";
import { SECTIONS } from "../contract/statements/statements.ts";
import { PLANTED_BUGS } from "../planted/planted-bugs.ts";

const ROOT = join(import.meta.dirname, "../..");

test("each statement of the contract has tests that defend it, and what else the page names exists", () => {
  expect(problemsOf(SECTIONS, PLANTED_BUGS, ROOT)).toEqual([]);
});

test("a statement without a test, or with one that does not exist, is a problem", () => {
  const statement: Statement = {
    id: "example",
    statement: "A compute is idle.",
    evidence: "R",
    tests: [{ file: "test/rules/operation.rules.ts", title: "a compute is idle when its suspend finishes" }],
  };
  const section = (change: object): Section => ({
    title: "Examples",
    scenarios: "some",
    statements: [{ ...statement, ...change } as Statement],
  });
  const problems = (change: object) => problemsOf([section(change)], [], ROOT);
  expect(problems({})).toEqual([]);
  expect(problems({ tests: [] })).toEqual([
    "example: no test defends it",
    "example: it is a statement of the reference, which needs a rule or a property",
  ]);
  const [known] = statement.tests;
  expect(problems({ tests: [{ ...known, title: "no such title" }] })).toEqual([
    'example: no title in test/rules/operation.rules.ts contains "no such title"',
  ]);
  expect(problems({ tests: [{ ...known, file: "test/rules/none.rules.ts" }] })).toEqual([
    "example: there is no file test/rules/none.rules.ts",
  ]);
  const behaviour = { file: "test/behaviour/http/errors.test.ts", title: "every error has request_id" };
  expect(problems({ tests: [behaviour] })).toEqual([
    "example: it is a statement of the reference, which needs a rule or a property",
  ]);
  expect(problems({ tests: [behaviour], evidence: "S" })).toEqual([]);
  expect(problems({ scenario: "scenarios/none.yaml" })).toEqual([
    "example: there is no scenario scenarios/none.yaml",
  ]);
  expect(problems({ plantedBug: "none" })).toEqual(["example: there is no planted bug none"]);
  expect(problemsOf([section({}), section({})], [], ROOT)).toEqual(["example: this id occurs twice"]);
});

test("a scenario is missing only where the section does not promise one, or with a reason", () => {
  const [{ statements }] = SECTIONS as readonly [Section];
  const { scenario: _, ...without } = statements[0] as Statement;
  const problems = (scenarios: Section["scenarios"], change: object) =>
    problemsOf([{ title: "Keys", scenarios, statements: [{ ...without, ...change }] }], [], ROOT);
  expect(problems("some", {})).toEqual([]);
  expect(problems("each", {})).toEqual([
    `${without.id}: the section "Keys" needs a scenario, or a reason why there is none`,
  ]);
  expect(problems("each", { noScenario: "it is about a browser" })).toEqual([]);
});

test("each planted bug of the rules belongs to a statement, whose tests find it", () => {
  const bugs = PLANTED_BUGS.filter(({ area }) => area === "rules");
  const [bug] = bugs;
  const [{ statements }] = SECTIONS as readonly [Section];
  const statement = { ...(statements[0] as Statement), plantedBug: bug?.id as string };
  expect(
    problemsOf([{ title: "Keys", scenarios: "some", statements: [statement] }], [bug as never], ROOT),
  ).toEqual([`${statement.id}: the bug ${bug?.id} is found by ${bug?.test}, which it does not name`]);
  expect(problemsOf([], bugs.slice(0, 1), ROOT)).toEqual([`${bug?.id}: no statement names this planted bug`]);
});
