import { expect, test } from "vitest";
import { judgeAdvice } from "../../../bench/decisions/advice-judge.ts";
import { coveredShare } from "../../../bench/decisions/judge.ts";
import { TRAFFIC_KINDS, type TrafficKind } from "../../../bench/decisions/traffic-kinds.ts";

/** The small form of `npm run bench -- --only advice`, with fixed seeds. */
const EXTENT = { replications: 2, truths: 3 };

const kindOf = (name: string) => TRAFFIC_KINDS.find((kind) => kind.name === name) as TrafficKind;

test("advice for Poisson traffic saves on later days what it promised", () => {
  for (const { savings, losses, promisedMinusHeldOut = 0 } of judgeAdvice(kindOf("Poisson"), EXTENT)) {
    expect(coveredShare(savings)).toBeGreaterThanOrEqual(0.8);
    expect(losses).toBe(0);
    expect(Math.abs(promisedMinusHeldOut)).toBeLessThanOrEqual(1);
  }
});
