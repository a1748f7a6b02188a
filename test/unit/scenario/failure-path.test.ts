import { expect, test } from "vitest";
import { readScenario, runScenarioJob } from "../../../src/cli/run/run-job.ts";
import { githubReport } from "../../../src/scenario/report/github.ts";
import { prettyVerdict } from "../../../src/scenario/report/pretty.ts";

const FILE = "mine,1.yaml";
const TEXT = `version: 1
world:
  projects: { shop: {} }
steps:
  - at: 1m
    expect:
      - { projects: 1 }
      - { projects: 2 }
  - repeat:
      times: 2
      steps:
        - advance: 1m
        - expect:
            - { projects: 3 }
  - parallel:
      - - advance: 1m
      - - expect:
            - { projects: 4 }
  - request: { method: GET, path: /projects, status: 500 }
always:
  - { projects: { max: 0 } }
expect:
  - { projects: 5 }
`;

async function runText(text: string) {
  expect(readScenario(text, FILE).variants).toHaveLength(1);
  const result = await runScenarioJob({ file: FILE, text, variant: 0, recordings: new Map(), bail: false });
  if (result.verdict === "could_not_run") throw new Error(result.reason);
  return result;
}

test("each failure has the line and column of what failed", async () => {
  const { failures } = await runText(TEXT);
  const lines = TEXT.split("\n");
  const places = failures.map(({ what, line = 0, column = 0 }) => [what, lines[line - 1]?.slice(column - 1)]);
  expect(places).toEqual([
    ["always.1", "{ projects: { max: 0 } }"],
    ["step 1, expectation 2", "{ projects: 2 }"],
    ["step 2.1.2", "{ projects: 3 }"],
    ["step 2.2.2", "{ projects: 3 }"],
    ["step 3.2.1", "{ projects: 4 }"],
    ["step 4", "request: { method: GET, path: /projects, status: 500 }"],
    ["expect", "{ projects: 5 }"],
  ]);
});

test("the pretty report prints the place, and the GitHub report annotates it", async () => {
  const verdict = await runText("version: 1\nlength: 1m\nexpect:\n  - { projects: 7 }\n");
  const pretty = prettyVerdict(verdict, { width: 100, paint: (_, text) => text });
  expect(pretty).toContain(`\n      ${FILE}:4:5\n`);
  expect(githubReport([verdict])).toMatch(
    /^::error file=mine%2C1\.yaml,line=4,col=5,title=\S+::expect at \S+: expected projects: 7, actual 0%0Arepeat with: .*\n$/,
  );
});
