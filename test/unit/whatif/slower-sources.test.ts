import { expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { newestPriceList } from "../../../src/platform/catalog/price-lists.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import type { ComputeArrivals } from "../../../src/traffic/recorded/trace/trace.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { parseSlo, type Slo } from "../../../src/whatif/input/slo.ts";
import { adviceText } from "../../../src/whatif/questions/advice/advice-text.ts";
import { adviceSteps } from "../../../src/whatif/questions/advice/advise-traffic.ts";
import { slowerInterval } from "../../../src/whatif/questions/advice/slower-sources.ts";
import { spacedArrivals } from "../../../src/whatif/trace/spaced-arrivals.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import {
  BEGIN,
  DAY,
  HOUR,
  MINUTES,
  periodOf,
  type Row,
  requestsOf,
  SECOND,
} from "../../support/traffic/traces.ts";

const [PEOPLE, CHECK] = [0, 1];
const SPACING = { source: CHECK, everyMs: 4 * MINUTES, newEveryMs: 10 * MINUTES };

const minutesOf = ({ at, source }: ComputeArrivals, own: number) =>
  [...at].filter((_, index) => source?.[index] === own).map((instant) => (instant - BEGIN) / MINUTES);

test("a slower program sends evenly from its first request to its last one, and others as before", () => {
  const checks = Array.from({ length: 11 }, (_, index): Row => [index * 4 * MINUTES, SECOND, CHECK]);
  const people: Row[] = [7, 21, 39].map((minute) => [minute * MINUTES, 2 * SECOND, PEOPLE]);
  const all = requestsOf([...checks, ...people].sort(([a], [b]) => a - b));
  const spaced = spacedArrivals(all, SPACING);
  expect(minutesOf(spaced, CHECK)).toEqual([0, 10, 20, 30, 40]);
  expect(minutesOf(spaced, PEOPLE)).toEqual([7, 21, 39]);
  expect([...spaced.at]).toEqual([...spaced.at].sort((a, b) => a - b));
  expect([...spaced.durationMs].filter((ms) => ms === 2 * SECOND)).toHaveLength(3);
});

test("a slower program sends nothing while it did not run, and begins anew after that", () => {
  const checks = [0, 4, 8, 12, 93, 97, 101].map((minute): Row => [minute * MINUTES, SECOND, CHECK]);
  expect(minutesOf(spacedArrivals(requestsOf(checks), SPACING), CHECK)).toEqual([0, 10, 93]);
});

test("the longer interval is the first round one above the delay, and longer than the current one", () => {
  const minutes = (present: number | "never", every: number) => {
    const ms = slowerInterval(questionFrom({ present }), every * MINUTES);
    return ms === undefined ? undefined : ms / MINUTES;
  };
  expect([minutes(300, 4), minutes(540, 4), minutes(600, 4), minutes(3_600, 4)]).toEqual([10, 10, 15, 120]);
  expect([minutes(300, 10), minutes(300, 30), minutes("never", 4)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

function adviceOn(slo?: Slo) {
  const rows: Row[] = [];
  for (let day = 0; day < 21; day += 1) {
    for (let ms = 0; ms < DAY; ms += 4 * MINUTES) rows.push([day * DAY + ms, SECOND, CHECK]);
    for (let ms = 9 * HOUR; ms < (12 + (day % 5)) * HOUR; ms += 3 * MINUTES)
      rows.push([day * DAY + ms + 7 * SECOND, SECOND, PEOPLE]);
  }
  const arrivals = requestsOf(rows.sort(([a], [b]) => a - b));
  const traffic = trafficOf({
    period: periodOf(21 * DAY),
    sources: ["people", "health-check"],
    computes: [{ id: "compute-0", arrivals }],
  });
  const terms = {
    ...({ plan: "scale", priceList: newestPriceList(), usage: {}, budgetDollars: undefined } as const),
    ...{ slo, profile: PROFILES["2026"], loadPerRequest: undefined, defaultDelayS: 300 },
  };
  const question = questionFrom({ startLatency: { kind: "fixed", ms: 500 } });
  const work = adviceSteps(traffic, question, terms, randomFrom);
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value.advice;
}

test("the advice gives the saving of a longer interval beside that of dropping a health check", () => {
  const { proposals, bill, decision, ...rest } = adviceOn();
  const slower = decision?.less_often;
  expect(slower).toMatchObject({ kind: "source", source: "health-check", every_s: 600 });
  expect(slower?.change).toBe("Send health-check every 10 min instead of every 4 min");
  // The compute was always active. Now it is for 301.5 s of 600 s, except for 3 to 7 hours of each day.
  const idleHours =
    24 - [3, 4, 5, 6, 7].reduce((sum, hours, kind) => sum + hours * (kind === 0 ? 5 : 4), 0) / 21;
  const expected = bill.dollars_per_month * (idleHours / 24) * (298.5 / 600);
  expect((slower?.saves_dollars_per_month ?? 0) / expected).toBeCloseTo(1, 1);
  expect(slower?.margin_95).toBeGreaterThan(0);
  expect(decision).toMatchObject({ kind: "source", source: "health-check" });
  expect(decision?.every_s).toBeUndefined();
  const text = adviceText({ proposals, bill, decision, ...rest });
  expect(text.decision).toMatch(
    /^Drop health-check \(every 4 min\), or send it elsewhere: −\$[\d.]+ ± \$[\d.]+ a month, .*; or send it every 10 min: −\$[\d.]+ ± \$[\d.]+ a month, \+\d+ cold starts a day\./,
  );
  expect(text.next.join()).not.toContain("health-check");
});

test("a longer interval is not proposed if waits would then exceed the limit", () => {
  const changes = (slo: string) =>
    adviceOn(parseSlo(slo))
      .proposals.filter(({ kind }) => kind === "source")
      .map(({ less_often }) => less_often?.every_s);
  expect(changes("p99 wait < 1s")).toEqual([600]);
  expect(changes("p99 wait < 100ms")).toEqual([]);
  // The first person of a day waits for a start, and 1 in 100 people are one; the check does at each request.
  expect(changes("p99.9 wait < 100ms for health-check")).toEqual([undefined]);
  expect(changes("p95 wait < 100ms for people")).toEqual([600]);
});

test("without a cold start in the record, the answer has the upper limit by the rule of three, never 0 alone", () => {
  const advice = adviceOn();
  // The health check keeps the compute active: none in 21 days is at most 3 in 21 days.
  expect(advice.current).toMatchObject({ cold_starts_per_day: 0, cold_starts_per_day_at_most_95: 3 / 21 });
  expect(adviceText(advice).now).toMatch(/ a month, 0 \(at most 0\.14\) cold starts a day/);
});
