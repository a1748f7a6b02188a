import { expect, test } from "vitest";
import { create } from "xmlbuilder2";
import { jsonReport } from "../../../src/scenario/report/json.ts";
import { junitReport } from "../../../src/scenario/report/junit.ts";
import {
  prettyReason,
  prettyStep,
  prettyVerdict,
  type ReportStyle,
  runTitle,
  timelineBar,
} from "../../../src/scenario/report/pretty.ts";
import type { CouldNotRun, Verdict } from "../../../src/scenario/run/verdict.ts";

const AT = "2026-01-01T00:01:00.000Z";
const PASSED: Verdict = {
  scenario: "sleeps",
  file: "scenarios/sleeps.yaml",
  values: {},
  seed: 1,
  verdict: "passed",
  started_at: "2026-01-01T00:00:00.000Z",
  ended_at: "2026-01-01T01:00:00.000Z",
  steps: [
    { place: "1", name: "a query", at: AT, ok: true, detail: "served" },
    { place: "2.1", name: "expect", at: AT, ok: true },
  ],
  failures: [],
  expectations: [
    {
      ...{ what: "step 2.1", expected: "activities: at least 1", result: "passed", checks: 1 },
      ...{ measure: "activities", value: 1, at: AT, margin: 0, line: 4, column: 3 },
    },
    {
      ...{ what: "expect.1", expected: "wait_max: at most 5s", result: "passed", checks: 1 },
      ...{ measure: "wait_max", value: 1_500, at: AT, margin: 3_500 },
    },
  ],
  measures: { activities: 1, active_time: 300_000, wait_max: 1_500 },
  timelines: [
    {
      label: "shop/main/primary",
      ...{ active: [1, 1, 0, 0.25], starting: [0, 0, 0.5, 0], arrivals: [1, 0, 0, 0] },
    },
  ],
  timelines_left_out: 0,
  operations: [],
  operations_left_out: 0,
  faults: [],
  faults_left_out: 0,
  events: 1_234,
  state: "0123456789abcdef",
  repeat: "standin run scenarios/sleeps.yaml --seed 1",
};
const FAILED: Verdict = {
  ...PASSED,
  values: { delay: 60, plan: "free" },
  verdict: "failed",
  steps: [
    { place: "1", name: "a query", at: AT, ok: true },
    { place: "12", name: "another", at: AT, ok: true },
    { place: "1.2", name: "expect <&>", at: AT, ok: false },
    { place: "13", name: "a request", at: AT, ok: false },
  ],
  expectations: [
    {
      ...{ what: "step 1.2", expected: "state: idle", result: "failed", checks: 1 },
      ...{ measure: "state", value: "active", at: AT, line: 7, column: 5 },
    },
    {
      ...{ what: "always.1", expected: "always computes: at most 1", result: "failed", checks: 3 },
      ...{ measure: "computes", value: 2, at: AT, margin: -1 },
    },
    {
      ...{ what: "always.2", expected: "always computes: at most 9", result: "not_checked", checks: 0 },
      measure: "computes",
    },
  ],
  failures: [
    {
      what: "step 1.2",
      at: AT,
      expected: "state: idle",
      actual: 'active & "awake" <now>',
      expectation: "step 1.2",
      ...{ line: 7, column: 5 },
      broken_by: `${AT} ComputeActivated shop/main/primary`,
      caused_by: [`${AT} ActivityRecorded shop/main/primary`, "step 1: POST /x"],
    },
    {
      what: "always.1",
      at: AT,
      expected: "always computes: at most 1",
      actual: "2",
      expectation: "always.1",
      last_change: `${AT} ComputeCreated x`,
      caused_by: [],
    },
    { what: "step 13", at: AT, expected: "status 2xx", actual: "status 503", caused_by: [] },
    { what: "invariant", at: AT, expected: "an owner", actual: "none", caused_by: [] },
  ],
};
const COULD_NOT_RUN: CouldNotRun = {
  ...{
    scenario: "replays",
    file: "scenarios/replays.yaml",
    values: { plan: "free" },
    seed: 7,
    verdict: "could_not_run",
  },
  ...{ reason: "there is no <nope.csv>\nat all", repeat: "standin run scenarios/replays.yaml --seed 7" },
};
const plain = (width: number): ReportStyle => ({ width, paint: (_, text) => text });

test("the title of a run has the scenario and the values of its matrix", () => {
  expect(runTitle(PASSED)).toBe("sleeps");
  expect(runTitle(FAILED)).toBe("sleeps (delay 60, plan free)");
});

test("a step is one line, indented by its depth", () => {
  expect(PASSED.steps.map((step) => prettyStep(step, plain(80)))).toEqual([
    `  ✓ ${AT} a query  served`,
    `    ✓ ${AT} expect`,
  ]);
  expect(prettyStep({ place: "3", name: "x", at: AT, ok: false }, plain(80))).toBe(`  ✗ ${AT} x`);
});

test.each([60, 100, 237])("at a width of %i, a timeline is as wide as the terminal", (width) => {
  const [timeline = "", scale = ""] = prettyVerdict(PASSED, plain(width)).split("\n");
  expect(timeline).toMatch(/^ {2}shop\/main\/primary {2}█+░*·*/);
  expect(timeline.length).toBe(width);
  expect(scale.length).toBeLessThanOrEqual(Math.max(width, 2 + 17 + 2 + 49));
  expect(scale.trim()).toMatch(/^2026-01-01T00:00:00\.000Z +2026-01-01T01:00:00\.000Z$/);
});

test("the narrowest terminal still shows a timeline", () => {
  expect(prettyVerdict(PASSED, plain(5)).split("\n")[0]).toHaveLength(2 + 17 + 2 + 10);
});

test("the height of a column is the active share; without activity a start is visible", () => {
  const timeline = { active: [1, 0.5, 0.001, 0, 0], starting: [1, 0, 0, 0.001, 0] };
  expect(timelineBar(timeline, 5)).toBe("█▅▁░·");
  expect(timelineBar({ active: [0, 1], starting: [0, 0] }, 1)).toBe("▅");
  expect(timelineBar({ active: [0, 1], starting: [0, 0] }, 4)).toBe("··██");
});

test("of many computes the first are drawn and the others counted", () => {
  const [one] = PASSED.timelines as [(typeof PASSED.timelines)[number]];
  const reportOf = (count: number, leftOut = 0) =>
    prettyVerdict({ ...PASSED, timelines: Array(count).fill(one), timelines_left_out: leftOut }, plain(80));
  expect(reportOf(20)).not.toContain("more compute");
  expect(reportOf(21)).toContain("and 1 more compute");
  expect(reportOf(50, 950)).toContain("and 980 more computes");
  expect(
    reportOf(50, 950)
      .split("\n")
      .filter((line) => line.includes("█")),
  ).toHaveLength(21);
});

test("a long label is truncated at its start", () => {
  const timelines = [{ label: `${"p".repeat(40)}/main/primary`, active: [1], starting: [0], arrivals: [0] }];
  const [line = ""] = prettyVerdict({ ...PASSED, timelines }, plain(80)).split("\n");
  expect(line).toMatch(/^ {2}…p+\/main\/primary {2}█+$/);
  expect(line.length).toBe(80);
});

test("a failure shows its place, expected and actual values, what broke it, and the causes", () => {
  const lines = prettyVerdict(FAILED, plain(80)).split("\n");
  const from = lines.indexOf(`  ✗ step 1.2 at ${AT}`);
  expect(lines.slice(from, from + 11)).toEqual([
    `  ✗ step 1.2 at ${AT}`,
    "      scenarios/sleeps.yaml:7:5",
    "      expected     state: idle",
    '      actual       active & "awake" <now>',
    `      broken by    ${AT} ComputeActivated shop/main/primary`,
    `      caused by    ${AT} ActivityRecorded shop/main/primary`,
    "      caused by    step 1: POST /x",
    `  ✗ always.1 at ${AT}`,
    "      expected     always computes: at most 1",
    "      actual       2",
    `      last change  ${AT} ComputeCreated x`,
  ]);
  expect(lines.at(-2)).toBe("  repeat with: standin run scenarios/sleeps.yaml --seed 1");
  expect(lines.at(-1)).toBe("failed sleeps (delay 60, plan free)");
  expect(prettyVerdict(PASSED, plain(80))).not.toContain("repeat with");
});

test("every expectation is one line with its value and its margin", () => {
  const expectationLines = (verdict: Verdict) =>
    prettyVerdict(verdict, plain(80))
      .split("\n")
      .filter((line) => /^ {2}[✓✗-] (step|always|expect)\S* (?!at )/.test(line));
  expect(expectationLines(PASSED)).toEqual([
    "  ✓ step 2.1  activities: at least 1  1        margin 0",
    "  ✓ expect.1  wait_max: at most 5s    1500 ms  margin 3500 ms",
  ]);
  expect(prettyVerdict(FAILED, plain(80))).toContain(
    [
      "  ✗ step 1.2  state: idle                 active",
      "  ✗ always.1  always computes: at most 1  2            misses the bound by 1",
      "  - always.2  always computes: at most 9  not checked",
    ].join("\n"),
  );
});

test("colours do not change the text", () => {
  const coloured = prettyVerdict(FAILED, {
    width: 80,
    paint: (colour, text) => `<${colour}>${text}</${colour}>`,
  });
  expect(coloured).toContain("<red>");
  expect(coloured.replaceAll(/<\/?(green|red|yellow|dim|bold)>/g, "")).toBe(prettyVerdict(FAILED, plain(80)));
});

/** The JSON report has units in names, and no operations and faults. */
function inJson({ operations, operations_left_out, faults, faults_left_out, ...rest }: Verdict): object {
  const expectations = rest.expectations.map((one) => ({
    ...one,
    measure: one.measure === "wait_max" ? "wait_max_ms" : one.measure,
  }));
  const measures = { activities: 1, active_time_ms: 300_000, wait_max_ms: 1_500 };
  return { ...rest, expectations, measures };
}

test("the JSON report has all results, with each timeline on one line", () => {
  const text = jsonReport([PASSED, FAILED]);
  expect(JSON.parse(text)).toEqual({
    version: 2,
    passed: 1,
    failed: 1,
    runs: [inJson(PASSED), inJson(FAILED)],
  });
  expect(text).toContain('"active": [1,1,0,0.25]');
  expect(text.endsWith("}\n")).toBe(true);
  expect(JSON.parse(jsonReport([]))).toEqual({ version: 2, passed: 0, failed: 0, runs: [] });
});

test("a run that could not start is reported with its reason, and counted if there is one", () => {
  const text = jsonReport([PASSED, COULD_NOT_RUN]);
  expect(JSON.parse(text)).toEqual({
    version: 2,
    passed: 1,
    failed: 0,
    could_not_run: 1,
    runs: [inJson(PASSED), COULD_NOT_RUN],
  });
  expect(prettyReason(COULD_NOT_RUN, plain(80))).toBe(
    "could not run replays (plan free): there is no <nope.csv>\nat all",
  );
  const [, suite] = suitesOf([PASSED, COULD_NOT_RUN]);
  expect(suite).toMatchObject({
    "@name": "replays (plan free)",
    "@tests": "1",
    "@failures": "0",
    "@errors": "1",
  });
  expect(suite?.testcase["@classname"]).toBe("scenarios/replays.yaml");
  expect(decoded(suite?.testcase.error["@message"] ?? "")).toBe("there is no <nope.csv>");
  expect(decoded(suite?.testcase.error["#"] ?? "")).toBe("there is no <nope.csv>\nat all");
});

const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };
/** Decodes the entities that the parser leaves. */
const decoded = (text: string) => text.replaceAll(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity);

type Case = {
  readonly "@name": string;
  readonly "@classname": string;
  readonly "@time": string;
  readonly failure?: { readonly "#": string };
  readonly error: { readonly "@message": string; readonly "#": string };
};
/** The parser returns a single case without a list. */
type Suite = { readonly "@tests": string; readonly testcase: readonly Case[] & Case };

/** The suites of the JUnit XML. */
function suitesOf(runs: readonly (Verdict | CouldNotRun)[]): Suite[] {
  const { testsuites } = create(junitReport(runs)).end({ format: "object" }) as unknown as {
    testsuites: { testsuite: Suite | Suite[] };
  };
  return [testsuites.testsuite].flat();
}

test("in JUnit XML a scenario is a suite, and each expectation and each other step a case with its time", () => {
  const [suite] = suitesOf([PASSED]);
  expect(suite).toMatchObject({ "@name": "sleeps", "@tests": "3", "@failures": "0", "@time": "3600" });
  expect(suite?.testcase.map((one) => [one["@name"], one["@time"]])).toEqual([
    ["1 a query", "60"],
    ["step 2.1: activities: at least 1", "60"],
    ["expect.1: wait_max: at most 5s", "60"],
  ]);
  expect(
    suite?.testcase.every(
      (one) => one["@classname"] === "scenarios/sleeps.yaml" && one.failure === undefined,
    ),
  ).toBe(true);
});

test("a failure belongs to the case of its expectation or step, others to the run", () => {
  const [suite] = suitesOf([FAILED]);
  expect(suite).toMatchObject({
    "@name": "sleeps (delay 60, plan free)",
    ...{ "@tests": "7", "@failures": "4", "@skipped": "1" },
  });
  const failureOf = (name: string) => {
    const found = suite?.testcase.find((one) => decoded(one["@name"]) === name);
    return found?.failure === undefined ? undefined : decoded(found.failure["#"]);
  };
  expect([failureOf("1 a query"), failureOf("12 another")]).toEqual([undefined, undefined]);
  const state = failureOf("step 1.2: state: idle");
  expect(state).toContain('expected state: idle, actual active & "awake" <now>');
  expect(state).toContain("scenarios/sleeps.yaml:7:5");
  expect(state).toContain(`broken by: ${AT} ComputeActivated`);
  expect(state).toContain("repeat with: standin run scenarios/sleeps.yaml --seed 1");
  expect(failureOf("13 a request")).toContain("actual status 503");
  expect(failureOf("always.1: always computes: at most 1")).not.toContain("step 1.2");
  expect(failureOf("always.2: always computes: at most 9")).toBeUndefined();
  expect(failureOf("run")).toContain("an owner");
});

test("the expectations of a repeated step are cases instead of its rounds", () => {
  const steps = ["3.1.1", "3.2.1"].map((place) => ({ place, name: "expect", at: AT, ok: true }));
  const [placed] = PASSED.expectations as [(typeof PASSED.expectations)[number]];
  const [suite] = suitesOf([{ ...PASSED, steps, expectations: [{ ...placed, what: "step 3.n.1" }] }]);
  expect(suite?.["@tests"]).toBe("1");
});

test("every run has a suite, without wall-clock times", () => {
  expect(suitesOf([PASSED, FAILED])).toHaveLength(2);
  expect(junitReport([PASSED])).toBe(junitReport([PASSED]));
  expect(junitReport([PASSED])).not.toMatch(/timestamp/);
});

test("measured wall-clock time is the time of a suite, and simulated time is a property", () => {
  const text = junitReport([{ ...PASSED, wall_ms: 1_234 }]);
  expect(text).toContain('errors="0" time="1.234"');
  expect(text.match(/<testcase [^>]*>/g)).toHaveLength(3);
  expect(text).not.toMatch(/<testcase [^>]*time=/);
  expect(text.match(/name="simulated_seconds" value="\d+"/g)).toEqual([
    'name="simulated_seconds" value="3600"',
    ...Array.from({ length: 3 }, () => 'name="simulated_seconds" value="60"'),
  ]);
});

test("control characters in names are escaped in JUnit, which XML could not contain", () => {
  const text = junitReport([{ ...PASSED, scenario: "a\u0000b\u001b[2J\u009b", file: "x\u202ey" }]);
  expect(text).toContain("a\\u0000b\\u001b[2J\\u009b");
  expect(text).not.toMatch(/(?![\n\t])[\p{Cc}\u202e]/u);
  expect(() => create(text)).not.toThrow();
});
