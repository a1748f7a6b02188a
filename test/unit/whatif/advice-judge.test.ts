import { expect, test } from "vitest";
import { judgeAdvice } from "../../../bench/decisions/advice-judge.ts";
import { coveredShare } from "../../../bench/decisions/judge.ts";
import { TRAFFIC_KINDS, type TrafficKind } from "../../../bench/decisions/traffic-kinds.ts";

/** The small form of `npm run bench -- --only advice`, with fixed seeds. */
const EXTENT = { replications: 2, truths: 8 };

const kindOf = (name: string) => TRAFFIC_KINDS.find((kind) => kind.name === name) as TrafficKind;

test("advice for Poisson traffic saves on later days what it promised", () => {
  for (const { savings, losses, promisedMinusHeldOut = 0 } of judgeAdvice(kindOf("Poisson"), EXTENT)) {
    expect(coveredShare(savings)).toBeGreaterThanOrEqual(0.8);
    expect(losses).toBe(0);
    expect(Math.abs(promisedMinusHeldOut)).toBeLessThanOrEqual(1);
  }
});

test("delays per compute save what was promised where computes differ in load", () => {
  const [onScale] = judgeAdvice(kindOf("office hours"), { replications: 2, truths: 3 });
  expect(onScale?.decisions.get("delays_by_compute")).toBe(2);
  expect(onScale?.losses).toBe(0);
  expect(coveredShare(onScale?.savings ?? { covered: 0, missed: 1, unknown: 0 })).toBeGreaterThanOrEqual(
    0.75,
  );
});

test("where a week was not collected, nothing is recommended, because no interval is known", () => {
  for (const { decisions, notKnown } of judgeAdvice(kindOf("a week not collected"), {
    replications: 1,
    truths: 1,
  }))
    expect([decisions.size, notKnown]).toEqual([0, 1]);
});
