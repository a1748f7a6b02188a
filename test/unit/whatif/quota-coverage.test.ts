import { describe, expect, test } from "vitest";
import { uniform } from "../../../src/kernel/random-port.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { widenedInterval } from "../../../src/whatif/questions/quota/forecast-interval.ts";
import { quotaMonths } from "../../../src/whatif/questions/quota/quota-months.ts";
import { quotaPage } from "../../../src/whatif/questions/quota/quota-page.ts";
import { quotaReport } from "../../../src/whatif/questions/quota/quota-report.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { bootstrapWidening, recordedDays } from "../../../src/whatif/units/bootstrap.ts";
import { BEGIN, DAY, HOUR, periodOf } from "../../support/traffic/traces.ts";

const RUNS = Math.max(1, Number(process.env["STANDIN_TEST_RUNS"] ?? 1));
const EXPERIMENTS = Math.ceil(300 * RUNS);
const START = Date.parse("2026-02-01T00:00:00Z");
const MONTH = { startAt: Date.parse("2026-03-01T00:00:00Z"), endAt: Date.parse("2026-04-01T00:00:00Z") };
const QUESTION = questionFrom({ present: 60, cu: 1, startLatency: { kind: "fixed", ms: 0 } });
/** Hours of the mean day. */
const MEAN_HOURS = 5;
const QUOTA_HOURS = 20 * MEAN_HOURS;

/** Independent days, each with one request at noon whose length is gamma distributed: the mean of two exponentials. */
function hoursOfDays(experiment: number, count: number): number[] {
  const draw = randomFrom(11).stream("quota-coverage", experiment);
  const exponential = () => -Math.log(1 - uniform(draw)) * MEAN_HOURS;
  return Array.from({ length: count }, () => Math.min(11, (exponential() + exponential()) / 2));
}

function arrivalsOf(hours: readonly number[], from: number) {
  return {
    at: Float64Array.from(hours, (_, day) => from + day * DAY + 12 * HOUR),
    durationMs: Float64Array.from(hours, (length) => Math.round(length * HOUR)),
  };
}

function complete<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

function forecastOf(hours: readonly number[], seed: number) {
  const traffic = trafficOf({
    period: { startAt: START, endAt: START + hours.length * DAY },
    computes: [{ id: "app", arrivals: arrivalsOf(hours, START) }],
  });
  const question = {
    delays: [60],
    projects: [{ project: "shop", computes: [0], computeSeconds: QUOTA_HOURS * 3_600 }],
    monthsAhead: 1,
    replications: 39,
  };
  return complete(quotaReport(traffic, { ...QUESTION, seed }, question, randomFrom));
}

/** When the quota of the next month is really used up, infinite if it is not. */
function trueDate(hours: readonly number[]): number {
  const [outcome] = quotaMonths(
    {
      period: MONTH,
      delayMs: Float64Array.of(60_000),
      cu: Float64Array.of(1),
      arrivals: [arrivalsOf(hours, MONTH.startAt)],
      clients: [],
      latency: { kind: "fixed", ms: 0 },
      starts: {},
      random: randomFrom(1),
    },
    QUOTA_HOURS * 3_600,
  );
  return outcome?.reachedAt ?? Number.NaN;
}

describe("the 95 % interval of the date, for independent days", () => {
  test.each([7, 14, 28])(
    "contains the true date in at least 93 of 100 cases with %i recorded days",
    (days) => {
      let covered = 0;
      for (let experiment = 0; experiment < EXPERIMENTS; experiment += 1) {
        const hours = hoursOfDays(days * 1_000_000 + experiment, days + 31);
        const report = forecastOf(hours.slice(0, days), experiment);
        const month = report.delays[0]?.projects[0]?.months.find(({ month: name }) => name === "2026-03");
        const { low, high } = month?.reached_at ?? {};
        const date = trueDate(hours.slice(days));
        const from = low === null ? MONTH.endAt : Date.parse(low ?? "");
        const to = high === null ? Number.POSITIVE_INFINITY : Date.parse(high ?? "");
        if (date >= from && date <= to) covered += 1;
      }
      expect(covered / EXPERIMENTS).toBeGreaterThanOrEqual(0.93);
    },
    60_000 * RUNS,
  );
});

describe("use that grows by 3 % a day", () => {
  const growing = (experiment: number) =>
    hoursOfDays(experiment, 59).map(
      (_, day) => 1.5 * 1.03 ** day * (0.9 + (0.2 * ((experiment * 7 + day * 13) % 10)) / 10),
    );

  test("has a date with the growth that contains the true one, beside the date without it", () => {
    let [covered, coveredWithout] = [0, 0];
    for (let experiment = 0; experiment < 20; experiment += 1) {
      const hours = growing(experiment);
      const project = forecastOf(hours.slice(0, 28), experiment).delays[0]?.projects[0];
      const month = project?.months.find(({ month: name }) => name === "2026-03");
      expect(project?.change).toMatchObject({ kind: "trend" });
      const date = trueDate(hours.slice(28));
      const isWithin = ({ low, high }: { low: string | null; high: string | null }) =>
        date >= (low === null ? MONTH.endAt : Date.parse(low)) &&
        date <= (high === null ? Number.POSITIVE_INFINITY : Date.parse(high));
      if (month?.if_change_continues != null && isWithin(month.if_change_continues.reached_at)) covered += 1;
      if (month !== undefined && isWithin(month.reached_at)) coveredWithout += 1;
    }
    expect(covered).toBeGreaterThanOrEqual(17);
    expect(coveredWithout).toBeLessThanOrEqual(2);
  });

  test("is warned of in the first line, with both dates in the next", () => {
    const [warning, sentence] = quotaPage(forecastOf(growing(1).slice(0, 28), 1)).answer;
    expect(warning).toMatch(
      /^Warning: use grows by [\d.]+ % ± [\d.]+ a day\. Dates are given with and without this change\.$/,
    );
    expect(sentence).toMatch(
      /^With a delay of 1 min: if the change continues, the quota .* If use stays as it was, the quota/,
    );
  });
});

test("fewer than 14 recorded days are a warning, and fewer than 7 are refused", () => {
  const answerFor = (days: number) => quotaPage(forecastOf(hoursOfDays(1, days), 1)).answer.join(" ");
  expect(answerFor(13)).toContain(
    "Warning: only 13 whole days were recorded. With fewer than 14, the dates are rough.",
  );
  expect(answerFor(14)).not.toContain("Warning");
  expect(() => forecastOf(hoursOfDays(1, 6), 1)).toThrow(/contains 6 whole days .* at least 7/);
});

test("the widening falls with the number of days, and is that of Student's t for a known case", () => {
  const factors = [7, 14, 28, 364].map((days) => bootstrapWidening(recordedDays(periodOf(days * DAY))));
  expect(factors).toEqual([...factors].sort((a, b) => b - a));
  // Workdays 25/5 and weekend days 4/2: variance 7, degrees of freedom 49 / (25/4 + 4/1) = 4.78, t = 2.605.
  expect(factors[0]).toBeCloseTo((2.605 / 1.96) * Math.sqrt(7 / 5), 2);
  expect(factors[3]).toBeLessThan(1.02);
});

test("an interval is widened around its median, but not to before the end of the recorded time", () => {
  const interval = {
    low: BEGIN + 8 * DAY,
    median: BEGIN + 10 * DAY,
    high: BEGIN + 11 * DAY,
    confidence: 0.95,
  };
  expect(widenedInterval(interval, 2, BEGIN)).toEqual({
    ...interval,
    low: BEGIN + 6 * DAY,
    high: BEGIN + 12 * DAY,
  });
  expect(widenedInterval(interval, 2, BEGIN + 7 * DAY).low).toBe(BEGIN + 7 * DAY);
  expect(widenedInterval(interval, 2, BEGIN + 9 * DAY).low).toBe(BEGIN + 8 * DAY);
  const never = { ...interval, high: Number.POSITIVE_INFINITY };
  expect(widenedInterval(never, 2, BEGIN).high).toBe(Number.POSITIVE_INFINITY);
});
