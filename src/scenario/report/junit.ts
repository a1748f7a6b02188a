import { create } from "xmlbuilder2";
import { escapeControls } from "../../platform/core/text.ts";
import { mapStrings } from "../file/references.ts";
import type { CouldNotRun, Verdict } from "../run/verdict.ts";
import { runTitle } from "./pretty.ts";

type TestCase = { readonly name: string; readonly failure: string | undefined };

/**
 * JUnit XML: one suite per scenario, one case per step, and one case for the expectations of the whole run. A
 * run that could not start has one case with an error. There are no wall-clock times.
 */
export function junitReport(reported: readonly (Verdict | CouldNotRun)[]): string {
  // XML has no representation of control characters.
  const runs = mapStrings(reported, escapeControls);
  const root = create({ version: "1.0", encoding: "UTF-8" }).ele("testsuites");
  for (const verdict of runs) {
    if (verdict.verdict === "could_not_run") {
      const { file, seed, reason } = verdict;
      const suite = root.ele("testsuite", {
        name: runTitle(verdict),
        tests: 1,
        failures: 0,
        errors: 1,
        time: 0,
      });
      suite.ele("properties").ele("property", { name: "seed", value: seed });
      suite
        .ele("testcase", { classname: file, name: "run", time: 0 })
        .ele("error", { message: reason.split("\n")[0] ?? "" })
        .txt(reason);
      continue;
    }
    const cases = testCasesOf(verdict);
    const failures = cases.filter(({ failure }) => failure !== undefined).length;
    const suite = root.ele("testsuite", {
      name: runTitle(verdict),
      tests: cases.length,
      failures,
      errors: 0,
      time: 0,
    });
    const properties = suite.ele("properties");
    for (const [name, value] of [
      ["seed", verdict.seed],
      ["state", verdict.state],
    ] as const)
      properties.ele("property", { name, value });
    for (const { name, failure } of cases) {
      const testCase = suite.ele("testcase", { classname: verdict.file, name, time: 0 });
      if (failure !== undefined)
        testCase.ele("failure", { message: failure.split("\n")[1] ?? "" }).txt(failure);
    }
  }
  return `${root.end({ prettyPrint: true })}\n`;
}

function testCasesOf(verdict: Verdict): TestCase[] {
  const steps = verdict.steps.map(({ place, name, ok }) => ({
    name: `${place} ${name}`,
    failure: ok ? undefined : failureText(verdict, (what) => isFailureOfStep(place, what)),
  }));
  const isOutsideSteps = (what: string) => !what.startsWith("step ");
  const failure = verdict.failures.some(({ what }) => isOutsideSteps(what))
    ? failureText(verdict, isOutsideSteps)
    : undefined;
  return [...steps, { name: "expectations of the run", failure }];
}

/** Whether a failure belongs to a step or to a nested step. */
function isFailureOfStep(place: string, what: string): boolean {
  return what === `step ${place}` || what.startsWith(`step ${place},`) || what.startsWith(`step ${place}.`);
}

function failureText({ failures, repeat }: Verdict, isIncluded: (what: string) => boolean): string {
  const lines = failures
    .filter(({ what }) => isIncluded(what))
    .flatMap(({ what, at, expected, actual, events }) => [
      `${what} at ${at}`,
      `expected ${expected}, actual ${actual}`,
      ...events,
    ]);
  return [...lines, `repeat with: ${repeat}`].join("\n");
}
