import { expect, test } from "vitest";
import { parseScenario, ScenarioError } from "../../../src/scenario/file/parse-scenario.ts";
import { runScenarioText } from "../../support/scenario-run.ts";

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
    "at and after at once",
    "steps: [{ at: 1m, after: 1m, expect: [] }]",
    "steps.0: has both at and after; leave one out",
  ],
  [
    "a window that ends before it begins",
    "never: [{ refused: 1, from: 5m, until: 1m }]\nlength: 1h",
    "never.0.until: must be after from",
  ],
  [
    "a window that is empty",
    "never: [{ refused: 1, from: 5m, until: 5m }]\nlength: 1h",
    "never.0.until: must be after from",
  ],
  [
    "a window that ends as the run begins",
    "never: [{ refused: 1, until: 0s }]\nlength: 1h",
    "never.0.until: must be after the start",
  ],
  [
    "a window that begins when the run is over",
    "always: [{ refused: 1, from: 3600001 }]\nlength: 1h",
    "always.0.from: the run is over by then: it goes on for 1h",
  ],
  [
    "traffic from the end of the run on",
    "traffic: [{ name: a, to: shop/main, pattern: constant, every: 1m, from: 1h }]\nlength: 1h",
    "traffic.0.from: the run is over by then: it goes on for 1h",
  ],
  [
    "a window of what is looked at once",
    "expect: [{ refused: 0, from: 5m }]\nlength: 1h",
    "expect.0: from and until are for what is watched",
  ],
  [
    "a least that is above the most",
    "expect: [{ starts: { min: 2, max: 1 } }]\nlength: 1h",
    "expect.0: starts: min must not be above max",
  ],
  [
    "a status that is none",
    "expect: [{ requests: 0, with: { status: hello } }]\nlength: 1h",
    "expect.0: with.status: must be a status like 423",
  ],
])("%s", (_, text, told) => {
  expect(problemsOf(text)).toContain(told);
});

test("a window of a millisecond is one", () => {
  expect(problemsOf("never: [{ refused: 1, from: 299999, until: 5m }]\nlength: 1h")).toBe("");
});

test("a window that begins at the end of the run is one, and one that is reached before the world is taken back", () => {
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
    "a clock that is set",
    'steps: [{ at: 2m, set: { clock: "2026-01-01T00:01:00Z" } }]',
    "step 1",
    "step 1 sets the clock at 2026-01-01T00:01:00.000Z",
  ],
  [
    "an end",
    'steps: [{ at: "2026-01-01T00:02:00Z", expect: [] }]\nlength: 1m',
    "length",
    "length ends the run at 2026-01-01T00:01:00.000Z",
  ],
])("%s that turns out to lie in the past fails the run", async (_, text, what, expected) => {
  const [verdict] = await runScenarioText(HEAD + text);
  const failures = verdict?.failures;
  expect(failures).toMatchObject([
    { what, expected, actual: "the clock stands at 2026-01-01T00:02:00.000Z already" },
  ]);
});

test("a step at the instant at which the clock stands is in time", async () => {
  const [run] = await runScenarioText(
    `${HEAD}steps: [{ at: 2m, expect: [] }, { at: 2m, expect: [] }]\nlength: 2m`,
  );
  expect(run?.verdict).toBe("passed");
});

const GOES = "the clock only goes forward, and has come to";

test.each([
  [
    "a step before the one above",
    "[{ at: 2h, expect: [] }, { at: 1h, expect: [] }]",
    `steps.1.at: ${GOES} 2h after the start by then`,
  ],
  [
    "one that the step above takes too long for",
    "[{ advance: 10m }, { at: 599999 }]",
    `steps.1.at: ${GOES} 10m after the start by then`,
  ],
  [
    "a way to a time that is over",
    "[{ after: 2m }, { advance: { to: 1m } }]",
    `steps.1.advance.to: ${GOES} 2m after the start by then`,
  ],
  [
    "an instant before another one",
    '[{ at: "2026-02-01T00:00:00Z", advance: 1m }, { set: { clock: "2026-02-01T00:00:59Z" } }]',
    `steps.1.set.clock: ${GOES} 2026-02-01T00:01:00.000Z by then`,
  ],
  [
    "a second round",
    "[{ repeat: { times: 2, steps: [{ advance: 1m }, { at: 1m }] } }]",
    `steps.0.repeat.steps.1.at: ${GOES} 2m after the start by then`,
  ],
  [
    "rounds, however many",
    "[{ repeat: { times: 10, every: 1m, steps: [{ advance: 1s }] } }, { at: 9m }]",
    `steps.1.at: ${GOES} 9m 1s after the start`,
  ],
  [
    "what comes after the slowest lane",
    "[{ parallel: [[{ advance: 5m }], [{ advance: 7m }]] }, { at: 6m }]",
    `steps.1.at: ${GOES} 7m after the start`,
  ],
  [
    "what comes after a named step",
    "[{ parallel: [[{ name: a, advance: 5m }], [{ after: a + 5m }, { at: 9m }]] }]",
    `steps.0.parallel.1.1.at: ${GOES} 10m after the start`,
  ],
  [
    "what comes after a world that was taken back",
    "[{ at: 5m, snapshot: s }, { advance: 5m }, { restore: s }, { at: 4m }]",
    `steps.3.at: ${GOES} 5m after`,
  ],
])("%s is a mistake of the file: the clock only goes forward", (_, steps, told) => {
  expect(problemsOf(`steps: ${steps}`)).toContain(told);
});

test("a length that its steps do not fit into is a mistake of the file", () => {
  expect(problemsOf("steps: [{ at: 1h }]\nlength: 10m")).toContain(
    ":4:9: length: the steps take longer: 1h at least",
  );
  expect(problemsOf("steps: [{ at: 1h }]\nlength: 1h")).toBe("");
});

test.each([
  ["in time", "[{ at: 1h }, { at: 1h }, { repeat: { times: 3, steps: [{ at: 1h }] } }]"],
  ["in a world that is taken back", "[{ snapshot: s }, { at: 1h }, { restore: s }, { at: 1m }]"],
  [
    "in one that is taken back by a call",
    "[{ at: 1h }, { control: { method: POST, path: /snapshots/s/restore } }, { at: 1m }]",
  ],
  [
    "in rounds that take it back",
    "[{ at: 5m, snapshot: s }, { repeat: { times: 3, steps: [{ at: 9m }, { restore: s }] } }, { at: 6m }]",
  ],
  [
    "in lanes beside one that takes it back",
    "[{ snapshot: s }, { parallel: [[{ at: 1h, restore: s }], [{ at: 1h }, { at: 1m }]] }]",
  ],
  ["of the two kinds", '[{ at: 1h }, { at: "2026-01-01T00:00:01Z" }]'],
])("times %s are none", (_, steps) => {
  expect(problemsOf(`steps: ${steps}`)).toBe("");
});
