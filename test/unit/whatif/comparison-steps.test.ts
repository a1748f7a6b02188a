import { expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import {
  comparisonJobs,
  comparisonOf,
  comparisonSteps,
} from "../../../src/whatif/questions/compare/comparison.ts";
import {
  ComputeComparison,
  replayByCompute,
} from "../../../src/whatif/questions/compare/compute-comparison.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { HOUR, type Row, traceOf } from "../../support/traffic/traces.ts";

const DAYS = 14;
const ROWS: Row[] = Array.from({ length: DAYS * 4 }, (_, number) => [number * 6 * HOUR, 60_000, 0]);
const TRAFFIC = trafficOf(traceOf(DAYS * 24 * HOUR, ROWS, ROWS.slice(4), ROWS.slice(8)));

function stepsOf<T>(work: Generator<unknown, T>) {
  for (let steps = 0, step = work.next(); ; steps += 1, step = work.next())
    if (step.done === true) return { steps, result: step.value };
}

test("a comparison can be interrupted between policies, and between the computes that it lists", () => {
  const question = questionFrom({ cu: 1 });
  const jobs = comparisonJobs(["present", "fixed:60", "fixed:120"], question, 1);
  const byCompute = new ComputeComparison(TRAFFIC, question, jobs, 2);
  const work = { jobs, from: 0, to: 3, fleetGaps: undefined };
  const outcomes = stepsOf(replayByCompute(TRAFFIC, work, randomFrom, byCompute)).result;
  const compared = stepsOf(comparisonSteps(TRAFFIC, question, jobs, outcomes));
  expect(compared.steps).toBe(jobs.length);
  expect(compared.result).toEqual(comparisonOf(TRAFFIC, question, jobs, outcomes));
  const listed = stepsOf(byCompute.listed());
  expect(listed.steps).toBe(jobs.length * 2);
  expect([...listed.result.values()].map((computes) => computes.length)).toEqual(jobs.map(() => 2));
});
