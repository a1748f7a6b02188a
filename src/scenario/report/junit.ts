import { create } from "xmlbuilder2";
import { escapeControls } from "../../kernel/text.ts";
import { mapStrings } from "../file/references.ts";
import type { CouldNotRun, ReportedVerdict, RunFailure } from "../run/verdict.ts";
import { secondsBetween } from "./instants.ts";
import { explanationLines, runTitle } from "./pretty.ts";

type TestCase = {
  readonly name: string;
  readonly failure: string | undefined;
  /** Simulated time from the start of the run. */
  readonly seconds: number;
  readonly isSkipped?: boolean;
};

/**
 * JUnit XML: one suite per scenario, one case per expectation, and one per step without expectations. A run that
 * could not start has one case with an error. Times are on the simulated clock, from the start of the run. If the
 * wall-clock time was measured, it is the time of the suite, and simulated times are properties.
 */
export function junitReport(reported: readonly (ReportedVerdict | CouldNotRun)[]): string {
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
        time: wallSeconds(verdict) ?? 0,
      });
      suite.ele("properties").ele("property", { name: "seed", value: seed });
      suite
        .ele("testcase", { classname: file, name: "run", time: 0 })
        .ele("error", { message: reason.split("\n")[0] ?? "" })
        .txt(reason);
      continue;
    }
    const wall = wallSeconds(verdict);
    const simulated = secondsBetween(verdict.started_at, verdict.ended_at);
    const cases = testCasesOf(verdict);
    const failures = cases.filter(({ failure }) => failure !== undefined).length;
    const suite = root.ele("testsuite", {
      name: runTitle(verdict),
      tests: cases.length,
      failures,
      skipped: cases.filter(({ isSkipped }) => isSkipped === true).length,
      errors: 0,
      time: wall ?? simulated,
    });
    addProperties(suite, {
      seed: verdict.seed,
      state: verdict.state,
      ...(wall === undefined ? {} : { [SIMULATED]: simulated }),
    });
    for (const { name, failure, seconds, isSkipped } of cases) {
      const place = { classname: verdict.file, name };
      const testCase = suite.ele("testcase", wall === undefined ? { ...place, time: seconds } : place);
      // A run is measured as a whole.
      if (wall !== undefined) addProperties(testCase, { [SIMULATED]: seconds });
      if (isSkipped === true) testCase.ele("skipped");
      if (failure !== undefined)
        testCase.ele("failure", { message: failure.split("\n")[1] ?? "" }).txt(failure);
    }
  }
  return `${root.end({ prettyPrint: true })}\n`;
}

const SIMULATED = "simulated_seconds";

function wallSeconds({ wall_ms }: Pick<CouldNotRun, "wall_ms">): number | undefined {
  return wall_ms === undefined ? undefined : wall_ms / 1_000;
}

function addProperties(
  to: ReturnType<typeof create>,
  values: Readonly<Record<string, string | number>>,
): void {
  const properties = to.ele("properties");
  for (const [name, value] of Object.entries(values)) properties.ele("property", { name, value });
}

/** Steps without expectations, then each expectation, then failures of the run itself, if any. */
function testCasesOf(verdict: ReportedVerdict): TestCase[] {
  const { steps, expectations, failures, started_at, ended_at } = verdict;
  const failureOf = (isIncluded: (failure: RunFailure) => boolean) => {
    const included = failures.filter(isIncluded);
    return included.length === 0 ? undefined : failureText(included, verdict);
  };
  const stepCases = steps
    .filter(({ place }) => !expectations.some(({ what }) => isExpectationOf(place, what)))
    .map(({ place, name, at }) => ({
      name: `${place} ${name}`,
      seconds: secondsBetween(started_at, at),
      failure: failureOf(({ what }) => what === `step ${place}`),
    }));
  const expectationCases = expectations.map(({ what, expected, at, result }) => ({
    name: `${what}: ${expected}`,
    seconds: secondsBetween(started_at, at ?? ended_at),
    isSkipped: result === "not_checked",
    failure: failureOf(({ expectation }) => expectation === what),
  }));
  const ofRun = failureOf(
    ({ what, expectation }) =>
      expectation === undefined && !steps.some(({ place }) => what === `step ${place}`),
  );
  return [
    ...stepCases,
    ...expectationCases,
    ...(ofRun === undefined
      ? []
      : [{ name: "run", seconds: secondsBetween(started_at, ended_at), failure: ofRun }]),
  ];
}

/** Whether an expectation belongs to a step. The name of a step in a `repeat` has `n` for the round. */
function isExpectationOf(place: string, what: string): boolean {
  const [, named] = /^step ([\dn.]+)/.exec(what) ?? [];
  const parts = place.split(".");
  const namedParts = named?.split(".") ?? [];
  return (
    parts.length === namedParts.length &&
    namedParts.every((part, index) => part === "n" || part === parts[index])
  );
}

function failureText(failures: readonly RunFailure[], { file, repeat }: ReportedVerdict): string {
  const lines = failures.flatMap((failure) => {
    const { what, at, expected, actual, line, column } = failure;
    return [
      `${what} at ${at}`,
      `expected ${expected}, actual ${actual}`,
      ...(line === undefined ? [] : [`${file}:${line}:${column}`]),
      ...explanationLines(failure).map(([name, text]) => `${name}: ${text}`),
    ];
  });
  return [...lines, `repeat with: ${repeat}`].join("\n");
}
