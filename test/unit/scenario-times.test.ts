import { expect, test } from "vitest";
import { parseScenario, ScenarioError } from "../../src/scenario/parse.ts";
import { playText } from "../support/scenario-run.ts";

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
  ["at and after at once", "steps: [{ at: 1m, after: 1m, expect: [] }]", "steps.0: has both at and after; leave one out"],
  ["a window that ends before it begins", "never: [{ refused: 1, from: 5m, until: 1m }]\nlength: 1h", "never.0.until: must be after from"],
  ["a window that is empty", "never: [{ refused: 1, from: 5m, until: 5m }]\nlength: 1h", "never.0.until: must be after from"],
  [
    "a window of what is looked at once",
    "expect: [{ refused: 0, from: 5m }]\nlength: 1h",
    "expect.0: from and until are for what is watched",
  ],
  ["a least that is above the most", "expect: [{ starts: { min: 2, max: 1 } }]\nlength: 1h", "expect.0: starts: min must not be above max"],
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

test.each([
  ["a step", "steps: [{ at: 2m, expect: [] }, { at: 119999, expect: [] }]", "step 2", "step 2 begins at 2026-01-01T00:01:59.999Z"],
  [
    "a clock that is set",
    'steps: [{ at: 2m, set: { clock: "2026-01-01T00:01:00Z" } }]',
    "step 1",
    "step 1 sets the clock at 2026-01-01T00:01:00.000Z",
  ],
  ["an end", "steps: [{ at: 2m, expect: [] }]\nlength: 1m", "length", "length ends the run at 2026-01-01T00:01:00.000Z"],
])("%s that lies in the past fails the run", async (_, text, what, expected) => {
  const [verdict] = await playText(HEAD + text);
  const failures = verdict?.failures;
  expect(failures).toMatchObject([{ what, expected, actual: "the clock stands at 2026-01-01T00:02:00.000Z already" }]);
});

test("a step at the instant at which the clock stands is in time", async () => {
  const [run] = await playText(`${HEAD}steps: [{ at: 2m, expect: [] }, { at: 2m, expect: [] }]\nlength: 2m`);
  expect(run?.verdict).toBe("passed");
});
