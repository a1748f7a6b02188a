import { expect, test } from "vitest";
import { runToEnd } from "../../../src/kernel/run-to-end.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/kernel/time.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import type { ComputeArrivals, Period } from "../../../src/traffic/recorded/trace/trace.ts";
import { type Curve, curveOf, pointAt } from "../../../src/whatif/gap-curve/curve.ts";
import { readCurve } from "../../../src/whatif/gap-curve/curve-reading.ts";
import type { SuspendDelay } from "../../../src/whatif/gap-curve/delay.ts";
import { bestDelayOf } from "../../../src/whatif/gap-curve/optimum.ts";
import { dayTotals } from "../../../src/whatif/held-out/day-totals.ts";
import { FixedDelayTotals } from "../../../src/whatif/held-out/fixed-delay-totals.ts";
import { trainedDelays } from "../../../src/whatif/held-out/held-out.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { CurveAnswer } from "../../../src/whatif/questions/curve/curve-answer.ts";
import { FixedReplay } from "../../../src/whatif/replay/fixed-replay.ts";
import { ignoredSources } from "../../../src/whatif/trace/ignored-waits.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { StartLatencies } from "../../../src/whatif/units/start-latency.ts";

const START = Date.UTC(2026, 0, 5);
const PERIOD: Period = { startAt: START, endAt: START + 14 * DAY };
const SOURCES = ["people", "health-check"];
const IGNORED = Uint8Array.of(0, 1);

/** People about every hour, and a health check every 4 minutes on the even days. */
function arrivalsWithChecks(): ComputeArrivals {
  const draw = randomFrom(7).stream("requests", 0);
  const rows: { at: number; source: number }[] = [];
  for (let at = START; at < PERIOD.endAt; at += -Math.log(1 - draw() / 2 ** 32) * HOUR)
    rows.push({ at: Math.round(at), source: 0 });
  for (let at = START; at < PERIOD.endAt; at += 4 * MINUTE)
    if (Math.floor((at - START) / DAY) % 2 === 0) rows.push({ at, source: 1 });
  rows.sort((a, b) => a.at - b.at);
  return {
    at: Float64Array.from(rows, ({ at }) => at),
    durationMs: new Float64Array(rows.length).fill(200),
    source: Uint16Array.from(rows, ({ source }) => source),
  };
}

const ARRIVALS = arrivalsWithChecks();
const TRAFFIC = trafficOf({
  period: PERIOD,
  sources: SOURCES,
  computes: [{ id: "app", arrivals: ARRIVALS }],
});
const DELAYS: readonly SuspendDelay[] = [60, 239, 240, 300, 3_600, "never"];
const QUESTION = questionFrom({ startLatency: { kind: "fixed", ms: 0 } });

function reading(ignoredWaits: readonly string[]) {
  const { costs, currentDelay } = QUESTION;
  const all = { from: 0, to: 1, byCompute: true, byDay: true };
  return runToEnd(readCurve(TRAFFIC, { costs, currentDelay, ignoredWaits, ...all }));
}

/** Gaps longer than a delay that a person ends, counted one by one. */
function startsByPeople(delayS: SuspendDelay): number {
  const { at, durationMs, source } = ARRIVALS;
  let [busyEnd, count] = [at[0] as number, 0];
  for (let i = 0; i < at.length; i += 1) {
    const gapMs = (at[i] as number) - busyEnd;
    if (delayS !== "never" && gapMs > delayS * SECOND && source?.[i] === 0) count += 1;
    busyEnd = Math.max(busyEnd, (at[i] as number) + (durationMs[i] as number));
  }
  return count;
}

test("starts by an ignored source are billed, but are no cold starts", () => {
  const [all, people] = [curveOf(reading([]).gaps), curveOf(reading(["health-check"]).gaps)];
  expect(pointAt(all, 60).coldStarts).toBeGreaterThan(2_000);
  for (const delay of DELAYS) {
    expect(pointAt(people, delay).coldStarts).toBe(startsByPeople(delay));
    expect(pointAt(people, delay).activeMs).toBe(pointAt(all, delay).activeMs);
  }
});

test("the curve, the days and a replay agree on them", () => {
  const { gaps, longGaps } = reading(["health-check"]);
  if (longGaps === undefined) throw new Error("the gaps were not stored");
  const curve: Curve = curveOf(gaps);
  const prepared = new FixedDelayTotals(longGaps, DELAYS, QUESTION.costs);
  for (const delay of DELAYS) {
    const { coldStarts, activeMs } = pointAt(curve, delay);
    for (const days of [
      dayTotals(
        longGaps,
        () => delay,
        () => 1,
      ),
      prepared.of(delay),
    ])
      expect([sum(days?.coldStarts), sum(days?.activeMs)]).toEqual([coldStarts, activeMs]);
    const { outcome } = replay(delay, 0, IGNORED);
    expect([outcome.coldStarts, outcome.activeMs]).toEqual([coldStarts, activeMs]);
  }
});

test("the waits of an ignored source count as none, those of others during the same start as they are", () => {
  const [counted, ignored] = [replay(60, 2_000), replay(60, 2_000, IGNORED)];
  expect(ignored.outcome.waits.waited).toBeLessThan(counted.outcome.waits.waited / 5);
  expect(ignored.outcome.waits.waited).toBeGreaterThanOrEqual(ignored.outcome.coldStarts);
  expect(ignored.outcome.arrivals).toBe(counted.outcome.arrivals);
  expect(ignored.outcome.activeMs).toBe(counted.outcome.activeMs);
});

test("delays of computes are chosen without the starts of an ignored source", () => {
  const { gaps, longGaps } = reading(["health-check"]);
  if (longGaps === undefined) throw new Error("the gaps were not stored");
  const days = Array.from({ length: 14 }, (_, day) => day);
  const chosen = trainedDelays({ gaps: longGaps, costs: QUESTION.costs, settable: "all" }, days);
  expect(chosen.perCompute).toEqual([bestDelayOf(gaps, QUESTION.costs.coldStartS)]);
  expect(chosen.perCompute).not.toEqual([bestDelayOf(reading([]).gaps, QUESTION.costs.coldStartS)]);
});

test("a program on a timer is suggested, until its waits are ignored", () => {
  const summaryOf = (ignoreWaitsOf: readonly string[]) => {
    const question = questionFrom({ startLatency: { kind: "fixed", ms: 0 }, ignoreWaitsOf });
    return new CurveAnswer(TRAFFIC, reading(ignoreWaitsOf), question, randomFrom(1)).summary({});
  };
  const [all, people] = [summaryOf([]), summaryOf(["health-check"])];
  expect(all.programs_that_wait).toEqual([{ source: "health-check", every_s: expect.closeTo(240, 0) }]);
  expect(people.programs_that_wait).toEqual([]);
  expect(people.question.ignore_waits_of).toEqual(["health-check"]);
  expect(people.best.delay_s).toBeLessThan(all.best.delay_s as number);
  expect(all.decision.cliff?.cause).toBe("health-check every 4 min");
  expect(people.decision.cliff).toBeNull();
});

test("a source that no request has is rejected by name", () => {
  expect(ignoredSources(["health-check"], SOURCES)).toEqual(IGNORED);
  expect(() => ignoredSources(["cron"], SOURCES)).toThrow(
    'ignore_waits_of: no request has the source "cron"; there are people, health-check',
  );
  expect(() => ignoredSources(["cron"], [""])).toThrow("no request names a source");
});

function replay(delay: SuspendDelay, startMs: number, ignored?: Uint8Array) {
  const all = new FixedReplay(PERIOD, delay);
  const latencies = new StartLatencies({ kind: "fixed", ms: startMs }, randomFrom(1), 0);
  all.begin(latencies, { ignored });
  all.add(ARRIVALS);
  all.end();
  return all;
}

function sum(values: Float64Array | undefined): number {
  return (values ?? new Float64Array(0)).reduce((total, value) => total + value, 0);
}
