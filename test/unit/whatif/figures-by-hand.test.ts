import { expect, test } from "vitest";
import { SECOND } from "../../support/traffic/traces.ts";
import { figures } from "../../support/whatif/kernels.ts";

// Figures of every kernel for small traces, computed by hand.

// Requests at 0 (for 5 s), 1 s, 65 s, 125.001 s and 500 s (for an hour); the period ends at 600 s. The gaps
// are 60 s,
// 60.001 s and 374.999 s. With a latency of 10 s the first request ends at 15 s, and the other gaps are 50 s,
// 60.001 s
// (plus a start) and 364.999 s. At deadlines (latency 10 s): 75 s is exactly one, 135.001 s is a millisecond
// after
// one, 420 s is one again, and 420.5 s follows at once.
const EXPECTED: Readonly<Record<string, number>> = {
  "cold starts of the curve at 60 s": 2,
  "at 61 s": 1,
  "at 0 s": 3,
  "active at 60 s": (5 + 180 + 3_600) * SECOND,
  "active at 375 s": (500 + 3_600) * SECOND,
  "active with a tail": 65 * SECOND,
  ...Object.fromEntries(
    ["fixed", "any", "coupled", "metered"].flatMap((kernel) => [
      [`${kernel}: cold starts at 60 s`, 2],
      [`${kernel}: active`, (5 + 60 + 60 + 60 + 3_600) * SECOND],
      [`${kernel}: cold starts with a latency`, 2],
      [`${kernel}: active with a latency`, 125 * SECOND + 70 * SECOND + 3_610 * SECOND],
      [`${kernel}: starting`, 30 * SECOND],
      [`${kernel}: waits`, 39 * SECOND],
      [`${kernel}: starting at the end`, 10 * SECOND],
      [`${kernel}: cold starts at deadlines`, 2],
      [`${kernel}: active at deadlines`, 135_000 + 70_001 + 180_500],
    ]),
  ),
  "cold starts of each gap": 7,
  "clairvoyant cold starts": 2,
  "clairvoyant active": (65 + 3_600) * SECOND,
  "randomised delay": 300 * Math.log(1 + 0.5 * (Math.E - 1)),
  "Erlang B": 0.4,
  "Erlang C": 4 / 9,
  // Blocks 1 2 3 1 1 2: two other blocks are used before the second 1, none before the third, two before the
  // second 2.
  "cache: hits of one block": 1,
  "cache: hits of two blocks": 1,
  "cache: hits of three blocks": 3,
  "cache: hits of one, of two in turns": 0,
  "cache: hits of two, of two in turns": 2_998,
  "cache: hits after a start": 1,
  "cache: uses that samples stand for": 200,
  // Five at 0 that end at 50, 40, 30, 20 and 10. At 20 two have ended, so the last of three is rejected.
  "connections: peak": 5,
  "connections: refused": 1,
  // Two are admitted at 25, and one each at 35 and 45.
  "connections: freed again": 0,
  // The third waits from 10 to 50, the fourth from 20 to 55. With three clients the fourth is rejected.
  "pool: waits": 40 + 35,
  "pool: refused as one client too many": 1,
  "pool: refused at the limit of the wait": 0,
  "pool: refused behind it": 1,
  // From 5 to 100 and from 6 to 107. With a pool each, only the second of the first pool waits, from 7 to
  // 100.
  "pool: waits for the ceiling": 95 + 101,
  "pool: waits in two pools": 93,
  // Four vCPUs for a second, then one, at 1 CU. At half a vCPU per request, 2 vCPUs require 3 CU until a
  // minute later.
  // Four vCPUs on one for 4 s. The three short requests take 3 s longer, and so does the long one.
  "sizes: throttled": 4,
  "sizes: added wait": 12,
  // 1.25 × (1 − 0.91992^k) / 0.225 is 4.5 steps after 20 readings, that is 100 s. Until then its speed is 0.8.
  "sizes: CU-seconds by load": 100 + 1.25 * (3_600 - 100),
  "sizes: changes": 1,
  "sizes: CU-seconds by memory": 5 + 1.25 * (3_600 - 5),
  "sizes: CU-seconds by the working set": 5 + 2 * (3_600 - 5),
  "sizes: CU-seconds of a moment": 3_600,
  // One start after another, ten seconds each, for requests at 0, 1 s and 2 s.
  "starts: most under way": 1,
  "starts: waits for turns": 10_000 + 19_000 + 28_000,
  "starts: longest wait": 28_000,
  "starts: waits for turns behind the end": 10_000 + 19_000 + 28_000,
  "starts: prepared again": 2,
  "starts: not prepared again": 1,
  // 5 s of one compute, then both: half a millisecond above 25 s is used up within the next millisecond.
  "quota: reached": 15_001,
  "quota: reached as it is as much": 25_000,
  "quota: refused": 2,
  "quota: refused until the next month": 1,
  "quota: seconds of the next month": 10 + 60,
  // Requests at 0, 50 s (of the second source) and 100 s, with a delay of 60 s.
  "attribution: all": 160 * SECOND,
  "attribution: without the first": 60 * SECOND,
  "attribution: without the second": 120 * SECOND,
  "attribution: the first alone": 120 * SECOND,
  "attribution: requests of the first": 2,
  // Of 100 idle times, the fifth is in minute 10 and the 99th in minute 20.
  "hybrid: fallback": 300 * SECOND,
  "hybrid: resumes": 0.9 * 600 * SECOND,
  "hybrid: holds": 1.1 * 1_260 * SECOND - 540 * SECOND,
  "hybrid: resumes far away": 0.85 * 5.3 * 3_600 * SECOND,
  // A week later at 10:20, ten minutes ahead.
  "predictive: resumes": (7 * 24 + 10) * 3_600 * SECOND + 600 * SECOND,
  "predictive: holds": 900 * SECOND,
  "predictive: resumes when it came once in four weeks": 0,
  // Bins grow by 7 %, so 30 s is in the 51st. Staying active for the gap of 1000 s costs more than a start.
  "hazard: of nine": 60 * SECOND,
  "hazard: of ten": Math.ceil(1.07 ** 51 * SECOND),
};

const FIGURES = figures();

test("every figure has an expectation", () => {
  expect(Object.keys(FIGURES).sort()).toEqual(Object.keys(EXPECTED).sort());
});

test.each(Object.entries(EXPECTED))("%s", (name, expected) => {
  expect(Math.abs((FIGURES[name] ?? Number.NaN) - expected)).toBeLessThan(1e-9);
});
