import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MEASURES } from "../../../src/scenario/file/expectation.ts";
import { scenario } from "../../../src/scenario/file/scenario-schema.ts";
import { seedFile } from "../../../src/scenario/file/seed-schema.ts";
import { ACTIONS } from "../../../src/scenario/file/step-schema.ts";
import { parseScenario } from "../../../src/scenario/parse-scenario.ts";
import { failuresOf, runScenarioText } from "../../support/scenario/scenario-run.ts";

const TEXT = readFileSync("docs/reference/scenario-file.md", "utf8");
const SNIPPETS = [...TEXT.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
  ([, snippet = ""], index) => [index + 1, snippet] as const,
);
/** Those with `sql` need Postgres: tested with the contracts. */
const WITHOUT_POSTGRES = SNIPPETS.filter(([, snippet]) => !snippet.includes("sql:"));

test("the document has examples", () => {
  expect(WITHOUT_POSTGRES.length).toBeGreaterThanOrEqual(4);
});

test.each(WITHOUT_POSTGRES)("example %i is a scenario that passes", async (_, snippet) => {
  expect(parseScenario(snippet, "docs.yaml").variants.length).toBeGreaterThan(0);
  expect(failuresOf(await runScenarioText(snippet))).toEqual([]);
});

test.each([
  ["key of the file", Object.keys(scenario.shape)],
  ["key of the world", Object.keys(scenario.shape.world.unwrap().shape)],
  ["step", ACTIONS],
  ["measure", Object.keys(MEASURES)],
])("the document mentions every %s", (_, names) => {
  expect(names.filter((name) => !TEXT.includes(`\`${name}\``))).toEqual([]);
});

const account = seedFile.shape.accounts.element;
const project = account.shape.projects.unwrap().element;
const branch = project.shape.branches.unwrap().element;

test.each([
  ["file", seedFile],
  ["account", account],
  ["key", account.shape.keys.unwrap().element],
  ["project", project],
  ["branch", branch],
  ["endpoint", branch.shape.endpoints.unwrap().element],
])("the reference of seed files mentions every field of a %s", (_, { shape }) => {
  const reference = readFileSync("docs/reference/seed-file.md", "utf8");
  expect(Object.keys(shape).filter((name) => !reference.includes(`\`${name}\``))).toEqual([]);
});
