import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PlantedBug } from "../../planted/planted-bug.ts";
import type { NamedTest, Section, Statement } from "./statement.ts";

/** Whether a test is a rule or a property, or shows in real Postgres what only SQL shows. */
const DEFENDS = /^test\/(rules|property|postgres)\//;

/** What is wrong with the statements, because tests, scenarios or planted bugs have changed since. */
export function problemsOf(
  sections: readonly Section[],
  bugs: readonly PlantedBug[],
  root: string,
): string[] {
  const statements = sections.flatMap((section) => section.statements);
  const ids = statements.map(({ id }) => id);
  const named = new Set(statements.map(({ plantedBug }) => plantedBug));
  return [
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id}: this id occurs twice`),
    ...statements.flatMap((statement) => problemsOfStatement(statement, bugs, root)),
    ...sections.flatMap(withoutScenario),
    ...bugs
      .filter(({ area, id }) => area === "rules" && !named.has(id))
      .map(({ id }) => `${id}: no statement names this planted bug`),
  ];
}

function problemsOfStatement(statement: Statement, bugs: readonly PlantedBug[], root: string): string[] {
  const { id, evidence, tests, scenario } = statement;
  const isDefended = tests.some(({ file }) => DEFENDS.test(file));
  return [
    ...(tests.length === 0 ? [`${id}: no test defends it`] : []),
    ...(evidence.startsWith("R") && !isDefended
      ? [`${id}: it is a statement of the reference, which needs a rule or a property`]
      : []),
    ...tests.flatMap((test) => problemsOfTest(id, test, root)),
    ...(scenario !== undefined && !existsSync(join(root, scenario))
      ? [`${id}: there is no scenario ${scenario}`]
      : []),
    ...problemsOfBug(statement, bugs),
  ];
}

function problemsOfTest(id: string, { file, title }: NamedTest, root: string): string[] {
  if (!existsSync(join(root, file))) return [`${id}: there is no file ${file}`];
  return readFileSync(join(root, file), "utf8").includes(title)
    ? []
    : [`${id}: no title in ${file} contains "${title}"`];
}

function problemsOfBug({ id, tests, plantedBug }: Statement, bugs: readonly PlantedBug[]): string[] {
  if (plantedBug === undefined) return [];
  const bug = bugs.find((known) => known.id === plantedBug);
  if (bug === undefined) return [`${id}: there is no planted bug ${plantedBug}`];
  const isFound = tests.some(
    ({ file, title }) => file === bug.test && (bug.titles === undefined || overlaps(bug.titles, title)),
  );
  return isFound ? [] : [`${id}: the bug ${plantedBug} is found by ${bug.test}, which it does not name`];
}

/** Both are parts of the same title. */
function overlaps(one: string, other: string): boolean {
  return one.includes(other) || other.includes(one);
}

function withoutScenario({ title, scenarios, statements }: Section): string[] {
  if (scenarios === "some") return [];
  return (statements as readonly Statement[])
    .filter(({ scenario, noScenario }) => (scenario === undefined) === (noScenario === undefined))
    .map(({ id }) => `${id}: the section "${title}" needs a scenario, or a reason why there is none`);
}
