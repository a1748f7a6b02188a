import { expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { tooLittleReasons } from "../../../src/whatif/choice/decision.ts";
import { perMonth, rarestPerDay } from "../../../src/whatif/gap-curve/costs.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { mergeReplays, replayComputes } from "../../../src/whatif/input/replay-jobs.ts";
import { comparisonJobs, comparisonOf } from "../../../src/whatif/questions/compare/comparison.ts";
import { comparisonPage } from "../../../src/whatif/questions/compare/comparison-page.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { startsWithMargin } from "../../../src/whatif/units/number-format.ts";
import { DAY, HOUR, MINUTES, type Row, SECOND, traceOf } from "../../support/traffic/traces.ts";

function compared(policies: readonly string[], lengthMs: number, ...computes: readonly (readonly Row[])[]) {
  const traffic = trafficOf(traceOf(lengthMs, ...computes));
  const question = questionFrom({ cu: 1, price: 0.1 });
  const jobs = comparisonJobs(policies, question, 1);
  const work = replayComputes(
    traffic,
    { jobs, from: 0, to: computes.length, fleetGaps: undefined },
    randomFrom,
  );
  let step = work.next();
  while (step.done !== true) step = work.next();
  const outcomes = mergeReplays([step.value], jobs, traffic.period);
  return comparisonOf(traffic, question, jobs, outcomes);
}

test("no cold start in 10 days: at most 0.3 a day, by the rule of three", () => {
  expect(rarestPerDay(10 * DAY)).toBe(0.3);
  // 1 - 3/n chance each: about 5 % to see none of an average of three.
  expect(Math.exp(-3)).toBeCloseTo(0.05, 2);
  expect(startsWithMargin(0, 0, 0.3)).toBe("0 (at most 0.30)");
  expect(startsWithMargin(0.1, 0.2, undefined)).toBe("0.10 ± 0.2");
});

test("a comparison without cold starts gives their upper limit, but not where there cannot be any", () => {
  const every4Minutes = Array.from({ length: (10 * DAY) / (4 * MINUTES) }, (_, i): Row => [i * 4 * MINUTES]);
  const comparison = compared(["fixed:60", "never"], 10 * DAY, every4Minutes);
  const [current, short, never] = comparison.policies.map(({ figures }) => figures.cold_starts_per_day);
  expect(current).toMatchObject({ value: 0, at_most_95: 0.3 });
  expect(short).not.toHaveProperty("at_most_95");
  expect(never).not.toHaveProperty("at_most_95");
  expect(comparisonPage(comparison).answer.join("\n")).toContain("0 (at most 0.30) cold starts a day");
});

test("a trace of seconds counts as an hour, so that a long request does not cost more than its compute can", () => {
  const comparison = compared([], 2 * SECOND, [[0, HOUR]]);
  const monthly = perMonth(comparison.policies[0]?.figures.cost?.value ?? Number.NaN, 2 * SECOND);
  expect(monthly).toBeCloseTo(730 * 0.1, 2);
  expect(tooLittleReasons(2 * SECOND, 1_000)).toEqual([
    "2 s of traffic, and 7 days are needed; figures for a month are as if the rest of an hour had no requests",
  ]);
});
