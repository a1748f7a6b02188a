import { expect, test } from "vitest";
import { coveredShare, INTERVALS, judgeKind } from "../../../bench/decisions/judge.ts";
import { TRAFFIC_KINDS, type TrafficKind } from "../../../bench/decisions/traffic-kinds.ts";

/** The small form of `npm run bench -- --only decisions`, with fixed seeds. */
const EXTENT = { replications: 6, truths: 3 };

const kindOf = (name: string) => TRAFFIC_KINDS.find((kind) => kind.name === name) as TrafficKind;

test("there are at least twelve kinds of traffic, each with a name of its own", () => {
  expect(new Set(TRAFFIC_KINDS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(12);
});

/** Of 36 intervals, at least 29 contain the truth. Those of one record miss it together. */
test.each(["Poisson", "days like the day before", "growth of 3 % a day"])(
  "intervals contain the truth: %s",
  (name) => {
    const { intervals, losses } = judgeKind(kindOf(name), EXTENT);
    const shares = INTERVALS.map((interval) => coveredShare(intervals[interval]));
    expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeGreaterThanOrEqual(0.8);
    expect(losses).toBe(0);
  },
);

test("growth is warned of, and days that were not collected leave no interval but that of the date", () => {
  const extent = { replications: 2, truths: 1 };
  expect(judgeKind(kindOf("growth of 3 % a day"), extent).warned).toBe(2);
  const { intervals } = judgeKind(kindOf("a week not collected"), extent);
  expect(INTERVALS.map((name) => intervals[name].unknown)).toEqual([2, 2, 2, 2, 2, 0]);
});
