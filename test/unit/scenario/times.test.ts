import { expect, test } from "vitest";
import { parseScenario, ScenarioError } from "../../../src/scenario/parse-scenario.ts";
import { runScenarioText } from "../../support/scenario/scenario-run.ts";

const HEAD = "version: 1\nworld: { projects: { shop: {} } }\n";

function problemsOf(text: string): string {
  try {
    parseScenario(HEAD + text, "mine.yaml");
    return "";
  } catch (error) {
    if (error instanceof ScenarioError) return error.message;
    throw error;
  }
}

test.each([
  [
    "a step with both at and after is rejected",
    "steps: [{ at: 1m, after: 1m, expect: [] }]",
    "steps.1: has both at and after; remove one",
  ],
  [
    "a window that ends before it starts is rejected",
    "never: [{ refused: 1, from: 5m, until: 1m }]\nlength: 1h",
    "never.1.until: must be later than from",
  ],
  [
    "an empty window is rejected",
    "never: [{ refused: 1, from: 5m, until: 5m }]\nlength: 1h",
    "never.1.until: must be later than from",
  ],
  [
    "a window that ends at the start of the run is rejected",
    "never: [{ refused: 1, until: 0s }]\nlength: 1h",
    "never.1.until: must be later than the start of the run",
  ],
  [
    "a window that starts after the run has ended is rejected",
    "always: [{ refused: 1, from: 3600001ms }]\nlength: 1h",
    "always.1.from: the run has ended by then: its length is 1h",
  ],
  [
    "traffic that starts at the end of the run is rejected",
    "traffic: [{ name: a, to: shop/main, pattern: constant, every: 1m, from: 1h }]\nlength: 1h",
    "traffic.a.from: the run has ended by then: its length is 1h",
  ],
  [
    "an expectation that is checked once has no window",
    "expect: [{ refused: 0, from: 5m }]\nlength: 1h",
    "expect.1: from and until are only allowed under always and never",
  ],
  [
    "a min above the max is rejected",
    "expect: [{ starts: { min: 2, max: 1 } }]\nlength: 1h",
    "expect.1: starts: min must not be above max",
  ],
  [
    "an invalid status is rejected",
    "expect: [{ requests: 0, with: { status: hello } }]\nlength: 1h",
    "expect.1: with.status: must be an HTTP status such as 423",
  ],
])("%s", (_, text, message) => {
  expect(problemsOf(text)).toContain(message);
});

test("a window may be as short as one millisecond", () => {
  expect(problemsOf("never: [{ refused: 1, from: 299999ms, until: 5m }]\nlength: 1h")).toBe("");
});

test("a window may start at the end of the run, or before a step restores the world", () => {
  expect(problemsOf("never: [{ refused: 1, from: 1h }]\nlength: 1h")).toBe("");
  const steps = "steps: [{ snapshot: s }, { at: 2h }, { restore: s }]";
  expect(problemsOf(`never: [{ refused: 1, from: 2h }]\nlength: 1h\n${steps}`)).toBe("");
});

test.each([
  [
    "a step",
    'steps: [{ at: 2m, expect: [] }, { at: "2026-01-01T00:01:59.999Z", expect: [] }]',
    "step 2",
    "step 2 begins at 2026-01-01T00:01:59.999Z",
  ],
  [
    "a set clock",
    'steps: [{ at: 2m, set: { clock: "2026-01-01T00:01:00Z" } }]',
    "step 1",
    "step 1 sets the clock at 2026-01-01T00:01:00.000Z",
  ],
  [
    "an end of the run",
    'steps: [{ at: "2026-01-01T00:02:00Z", expect: [] }]\nlength: 1m',
    "length",
    "length ends the run at 2026-01-01T00:01:00.000Z",
  ],
])("%s that turns out to be in the past fails the run", async (_, text, what, expected) => {
  const [verdict] = await runScenarioText(HEAD + text);
  const failures = verdict?.failures;
  expect(failures).toMatchObject([
    { what, expected, actual: "the clock is already at 2026-01-01T00:02:00.000Z" },
  ]);
});

test("a step at the current instant is in time", async () => {
  const [run] = await runScenarioText(
    `${HEAD}steps: [{ at: 2m, expect: [] }, { at: 2m, expect: [] }]\nlength: 2m`,
  );
  expect(run?.verdict).toBe("passed");
});

const PAST = "the clock cannot move backwards; by this step it is at";

test.each([
  [
    "a step before the previous step",
    "[{ at: 2h, expect: [] }, { at: 1h, expect: [] }]",
    `steps.2.at: ${PAST} 2h after the start`,
  ],
  [
    "a step before the end of the previous step",
    "[{ advance: 10m }, { at: 599999ms }]",
    `steps.2.at: ${PAST} 10m after the start`,
  ],
  [
    "an advance to a past time",
    "[{ after: 2m }, { advance: { to: 1m } }]",
    `steps.2.advance.to: ${PAST} 2m after the start`,
  ],
  [
    "an instant before an earlier one",
    '[{ at: "2026-02-01T00:00:00Z", advance: 1m }, { set: { clock: "2026-02-01T00:00:59Z" } }]',
    `steps.2.set.clock: ${PAST} 2026-02-01T00:01:00.000Z`,
  ],
  [
    "a time that the second round misses",
    "[{ repeat: { times: 2, steps: [{ advance: 1m }, { at: 1m }] } }]",
    `steps.1.repeat.steps.2.at: ${PAST} 2m after the start`,
  ],
  [
    "a time before the last round ends",
    "[{ repeat: { times: 10, every: 1m, steps: [{ advance: 1s }] } }, { at: 9m }]",
    `steps.2.at: ${PAST} 9m 1s after the start`,
  ],
  [
    "a time before the slowest parallel sequence ends",
    "[{ parallel: [[{ advance: 5m }], [{ advance: 7m }]] }, { at: 6m }]",
    `steps.2.at: ${PAST} 7m after the start`,
  ],
  [
    "a time before a delay after a named step",
    "[{ parallel: [[{ name: a, advance: 5m }], [{ after: a + 5m }, { at: 9m }]] }]",
    `steps.1.parallel.2.2.at: ${PAST} 10m after the start`,
  ],
  [
    "a time before a restored snapshot",
    "[{ at: 5m, snapshot: s }, { advance: 5m }, { restore: s }, { at: 4m }]",
    `steps.4.at: ${PAST} 5m after`,
  ],
])("%s is an error of the file", (_, steps, message) => {
  expect(problemsOf(`steps: ${steps}`)).toContain(message);
});

test("a length shorter than the steps is an error of the file", () => {
  expect(problemsOf("steps: [{ at: 1h }]\nlength: 10m")).toContain(
    ":4:9: length: the steps take at least 1h",
  );
  expect(problemsOf("steps: [{ at: 1h }]\nlength: 1h")).toBe("");
});

test.each([
  ["that can be met", "[{ at: 1h }, { at: 1h }, { repeat: { times: 3, steps: [{ at: 1h }] } }]"],
  ["in a restored world", "[{ snapshot: s }, { at: 1h }, { restore: s }, { at: 1m }]"],
  [
    "in a world that a control call restores",
    "[{ at: 1h }, { control: { method: POST, path: /snapshots/s/restore } }, { at: 1m }]",
  ],
  [
    "in rounds that restore the world",
    "[{ at: 5m, snapshot: s }, { repeat: { times: 3, steps: [{ at: 9m }, { restore: s }] } }, { at: 6m }]",
  ],
  [
    "in parallel to a sequence that restores the world",
    "[{ snapshot: s }, { parallel: [[{ at: 1h, restore: s }], [{ at: 1h }, { at: 1m }]] }]",
  ],
  ["of both kinds", '[{ at: 1h }, { at: "2026-01-01T00:00:01Z" }]'],
])("times %s are accepted", (_, steps) => {
  expect(problemsOf(`steps: ${steps}`)).toBe("");
});
