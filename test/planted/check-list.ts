import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PlantedBug } from "./planted-bug.ts";

/** What is wrong with the list, because the code or the tests have changed since. Runs nothing. */
export function problemsOf(bugs: readonly PlantedBug[], root: string): string[] {
  const ids = bugs.map(({ id }) => id);
  return [
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id}: this id occurs twice`),
    ...bugs.flatMap((bug) => problemsOfBug(bug, root)),
  ];
}

function problemsOfBug(bug: PlantedBug, root: string): string[] {
  const { id, file, search, replacement, test, titles = "" } = bug;
  const problems: string[] = [];
  const occurrences = (textOf(join(root, file)) ?? "").split(search).length - 1;
  if (occurrences !== 1)
    problems.push(`${id}: the code to replace must occur once in ${file}, but occurs ${occurrences} times`);
  if (search === replacement) problems.push(`${id}: the bug changes nothing`);
  const tests = textOf(join(root, test));
  if (tests === undefined) problems.push(`${id}: there is no file ${test}`);
  else if (!tests.includes(titles)) problems.push(`${id}: no title in ${test} contains "${titles}"`);
  return problems;
}

function textOf(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
