import { expect, test } from "vitest";
import {
  ComputeRanking,
  listedComputes,
  MAX_COMPUTES_LISTED,
} from "../../../src/whatif/gap-curve/compute-ranking.ts";
import type { ComputeReading } from "../../../src/whatif/gap-curve/curve-reading.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { curveLimits } from "../../../src/whatif/questions/curve/curve-limits.ts";

/** A compute whose best delay saves this much active time. */
function reading(number: number, gainMs: number): ComputeReading {
  const point = { delay: 60, coldStarts: 0, coldStartsPerDay: 0, activeMs: gainMs };
  return {
    number,
    compute: `compute-${number}`,
    cu: 1,
    coldStartS: 300,
    arrivals: 1,
    current: point,
    best: { ...point, activeMs: 0 },
    never: point,
    curve: [],
    clairvoyant: { coldStarts: 0, coldStartsPerDay: 0, activeMs: 0 },
  };
}

/** 2.5 times as many as are listed; the gain depends on the number in an irregular order, with equal ones. */
const READINGS = Array.from({ length: 2.5 * MAX_COMPUTES_LISTED }, (_, number) =>
  reading(number, (number * 7_919) % 30_011),
);

test("the computes with the largest gains are listed in their order, in any partition", () => {
  const expected = [...READINGS]
    .sort((a, b) => b.current.activeMs - a.current.activeMs || a.number - b.number)
    .slice(0, MAX_COMPUTES_LISTED)
    .map(({ number }) => number)
    .sort((a, b) => a - b);
  const ranked = (from: number, to: number) => {
    const ranking = new ComputeRanking<ComputeReading>();
    for (const each of READINGS.slice(from, to)) if (ranking.isListed(each)) ranking.add(each);
    return ranking.listed();
  };
  const numbersOf = (computes: readonly ComputeReading[]) => computes.map(({ number }) => number);
  expect(numbersOf(ranked(0, READINGS.length))).toEqual(expected);
  const parts = [ranked(0, 30_001), ranked(30_001, READINGS.length)];
  expect(numbersOf(listedComputes(parts.flat()))).toEqual(expected);
});

test("up to the maximum, all computes are listed", () => {
  const few = READINGS.slice(0, MAX_COMPUTES_LISTED);
  expect(listedComputes(few)).toEqual(few);
});

test("the answer says that the list of computes is cut", () => {
  const text = "only the 20,000 that gain most from a delay of their own";
  expect(curveLimits(questionFrom({}), [], true).left_out.join()).toContain(text);
  expect(curveLimits(questionFrom({}), []).left_out.join()).not.toContain(text);
});
