import { describe, expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { curveOf, pointAt } from "../../../src/whatif/gap-curve/curve.ts";
import { fixed } from "../../../src/whatif/policies/fixed.ts";
import { FixedReplay } from "../../../src/whatif/replay/fixed-replay.ts";
import { emptyOutcomeByDay, meteredMs } from "../../../src/whatif/replay/replay-outcome.ts";
import { WaitHistogram } from "../../../src/whatif/replay/wait-histogram.ts";
import { gapsOf } from "../../../src/whatif/trace/gaps.ts";
import {
  MEASURED_LATENCY,
  NO_LATENCY,
  StartLatencies,
  type StartLatency,
} from "../../../src/whatif/units/start-latency.ts";
import {
  BEGIN,
  DAY,
  HOUR,
  periodOf,
  poisson,
  type Row,
  replaySetting,
  requestsOf,
  SECOND,
  traceOf,
} from "../../support/traffic/traces.ts";
import { replayTrace } from "../../support/whatif/replay-trace.ts";

const LATENCY = { kind: "fixed", ms: 10 * SECOND } as const;

function outcomeOf(rows: readonly Row[], delay: number, latency: StartLatency = LATENCY, lengthMs = DAY) {
  return replayTrace(traceOf(lengthMs, rows), fixed(delay), replaySetting(60, latency));
}

describe("a start", () => {
  test("a request during a start waits for the rest of it, one at its end does not wait", () => {
    const { waits, arrivals: requests } = outcomeOf(
      [[0], [4 * SECOND], [10 * SECOND - 1], [10 * SECOND]],
      60,
    );
    expect([waits.waited, waits.sumMs]).toEqual([3, 16_001]);
    expect([0.25, 0.26, 0.5, 0.51, 0.75, 0.76, 1].map((share) => waits.quantile(share, requests))).toEqual([
      0, 1, 1, 6_000, 6_000, 10_000, 10_000,
    ]);
  });

  test("a request that waited runs from the end of the start, and the delay counts from the end of the request", () => {
    const atDeadline = 10 * SECOND + 5 * SECOND + 60 * SECOND;
    expect(outcomeOf([[0], [SECOND, 5 * SECOND], [atDeadline]], 60).coldStarts).toBe(0);
    expect(outcomeOf([[0], [SECOND, 5 * SECOND], [atDeadline + 1]], 60).coldStarts).toBe(1);
  });

  test("a start counts as active; metering begins at its end", () => {
    const outcome = outcomeOf([[0, 5 * SECOND]], 60);
    expect(outcome).toMatchObject({ activeMs: 75 * SECOND, startingMs: 10 * SECOND });
    expect(meteredMs(outcome)).toBe(65 * SECOND);
  });

  test("a start and its requests continue after the period, idle time does not", () => {
    const all = { activeMs: 10 * SECOND + HOUR, startingMs: 10 * SECOND };
    expect(outcomeOf([[0, HOUR]], 60, LATENCY, 4 * SECOND)).toMatchObject(all);
    expect(outcomeOf([[0, HOUR]], 60, LATENCY, 14 * SECOND)).toMatchObject(all);
    expect(outcomeOf([[0, HOUR]], 60, LATENCY, HOUR + 11 * SECOND).activeMs).toBe(HOUR + 11 * SECOND);
  });
});

test("metered time is reported by day and split at midnight", () => {
  const { activeByDay, activeMs } = outcomeOf([[DAY - 30 * SECOND], [DAY + HOUR]], 60, LATENCY, 2 * DAY);
  expect([...activeByDay]).toEqual([20 * SECOND, 100 * SECOND]);
  expect(activeMs).toBe(140 * SECOND);
});

test("a period longer than the maximum has no active time by day", () => {
  const last = 3_660 * DAY;
  expect(outcomeOf([[0], [last - 1]], 60, NO_LATENCY, last).activeByDay).toHaveLength(3_660);
  const longer = outcomeOf([[0], [last]], 60, NO_LATENCY, 8_000 * 365 * DAY);
  expect([longer.activeByDay.length, longer.activeMs]).toEqual([0, 120 * SECOND]);
});

test("a deleted compute costs nothing after its deletion, under any delay", () => {
  const period = periodOf(DAY);
  const rows: Row[] = [
    [0, SECOND],
    [HOUR, SECOND],
  ];
  for (const [delay, activeMs] of [
    [60, 2 * (SECOND + 60 * SECOND)],
    [3_599, 2 * HOUR],
    ["never", 2 * HOUR],
  ] as const) {
    const gaps = gapsOf(requestsOf(rows), period, BEGIN + 2 * HOUR);
    expect(pointAt(curveOf(gaps), delay).activeMs).toBe(activeMs);
    const replay = new FixedReplay(period, delay);
    for (const goneAt of [BEGIN + 2 * HOUR, undefined]) {
      replay.begin({ at: () => 0 }, { deletedAt: goneAt });
      replay.add(requestsOf(rows));
      replay.end();
    }
    const whole = delay === "never" ? DAY : 2 * (SECOND + delay * SECOND);
    expect(replay.outcome.activeMs).toBe(activeMs + whole);
  }
});

test("a compute without requests has no start and no active time", () => {
  expect(replayTrace(traceOf(DAY, [], []), fixed(60), replaySetting())).toEqual(
    emptyOutcomeByDay(periodOf(DAY)),
  );
});

test("a replay without a compute throws", () => {
  const replay = new FixedReplay(periodOf(DAY), 60);
  expect(() => replay.add({ at: new Float64Array([BEGIN]), durationMs: new Float64Array(1) })).toThrow(
    "begin() must be called before add()",
  );
});

/**
 * Validation 2. Cycles are renewals. With 2,000,000 arrivals there are about 259,000 cycles; a start rate
 * from n cycles has a relative standard error of c/√n, with c (the cycle's coefficient of variation) below 1
 * here: 0.2 %. Four of them, for a fixed seed.
 */
test("Poisson with a start latency: λ = 1/30, T = 60, L = 10 gives 15.5392 starts an hour and a mean added wait of 1.51076 s", () => {
  const [lambda, delay, latency, count] = [1 / 30, 60, 10, 2_000_000];
  const { requests, period } = poisson(SECOND / lambda, count);
  const outcome = replayTrace(
    { period, computes: [{ id: "poisson", arrivals: requests }] },
    fixed(delay),
    replaySetting(60, LATENCY),
  );
  const lengthS = (period.endAt - period.startAt) / SECOND;
  const grown = Math.exp(lambda * delay);
  const expected = {
    startsPerHour: (3_600 * lambda) / (lambda * latency + grown),
    active: (latency + (grown - 1) / lambda) / (latency + grown / lambda),
    waitS: (latency * (1 + (lambda * latency) / 2)) / (lambda * latency + grown),
  };
  expect(expected.startsPerHour).toBeCloseTo(15.5392, 4);
  expect(expected.waitS).toBeCloseTo(1.51076, 5);
  const within = 4 / Math.sqrt(259_000);
  expect(
    Math.abs(((outcome.coldStarts + outcome.firstStarts) * 3_600) / lengthS / expected.startsPerHour - 1),
  ).toBeLessThan(within);
  expect(Math.abs(outcome.activeMs / SECOND / lengthS / expected.active - 1)).toBeLessThan(within);
  expect(Math.abs(outcome.waits.mean(outcome.arrivals) / SECOND / expected.waitS - 1)).toBeLessThan(within);
});

/** Validation 3: nothing is random, so the results are exact. */
describe("requests at a constant interval", () => {
  const [count, period] = [1_000, 300 * SECOND];
  const rows: Row[] = Array.from({ length: count }, (_, index) => [index * period]);

  test.each([60, 299])("with a delay of %i s each request is a cold start and costs one delay", (delay) => {
    const { coldStarts, firstStarts, activeMs } = outcomeOf(
      rows,
      delay,
      { kind: "fixed", ms: 0 },
      count * period,
    );
    expect(coldStarts + firstStarts).toBe(count);
    expect(activeMs / (count * period)).toBe((delay * SECOND) / period);
  });

  test.each([300, 301])("with a delay of %i s there is one start", (delay) => {
    const { coldStarts, firstStarts, activeMs } = outcomeOf(
      rows,
      delay,
      { kind: "fixed", ms: 0 },
      count * period,
    );
    expect(coldStarts + firstStarts).toBe(1);
    expect(activeMs).toBe(count * period);
  });
});

describe("start latencies", () => {
  const draws = (latency: StartLatency, number = 0, seed = 1) => {
    const latencies = new StartLatencies(latency, randomFrom(seed), number);
    return Array.from({ length: 20_000 }, (_, index) => latencies.at(BEGIN + 977 * index));
  };

  test("a start at an instant takes the same time, whatever started before it", () => {
    const latencies = new StartLatencies(MEASURED_LATENCY, randomFrom(1), 0);
    const first = latencies.at(BEGIN);
    latencies.at(BEGIN + 1);
    expect(latencies.at(BEGIN)).toBe(first);
  });

  test("another instant, compute or seed draws another latency", () => {
    const [one, two, three] = [
      draws(MEASURED_LATENCY),
      draws(MEASURED_LATENCY, 1),
      draws(MEASURED_LATENCY, 0, 2),
    ];
    expect(new Set(one).size).toBeGreaterThan(3_000);
    for (const other of [two, three]) {
      const same = one.filter((ms, index) => ms === other[index]).length;
      expect(same).toBeLessThan(100);
    }
  });

  test("a pool is empty for the configured share of starts", () => {
    const latency = {
      kind: "pool",
      hit: { kind: "fixed", ms: 300 },
      miss: { kind: "fixed", ms: 4_000 },
      missShare: 0.1,
    } as const;
    const misses = draws(latency).filter((ms) => ms === 4_000).length / 20_000;
    // Within four standard errors of a share of 0.1 among 20,000.
    expect(Math.abs(misses - 0.1)).toBeLessThan(0.0085);
  });

  test("log-normal latencies have the configured median and spread", () => {
    const sorted = draws(MEASURED_LATENCY).sort((a, b) => a - b);
    const quantile = (share: number) => Math.log((sorted[Math.floor(share * 20_000)] ?? 0) / 1_000);
    // A quantile of 20,000 has the standard error σ√(q(1 − q)/n)/φ: 0.012 for the median, 0.018 for the
    // others. Allows four.
    expect(Math.abs(quantile(0.5) - 0.296)).toBeLessThan(0.05);
    expect(Math.abs(quantile(0.8413) - 0.296 - 1.326)).toBeLessThan(0.075);
    expect(Math.abs(quantile(0.1587) - 0.296 + 1.326)).toBeLessThan(0.075);
  });
});

describe("added waits", () => {
  test("requests that did not wait count in quantiles", () => {
    const waits = new WaitHistogram();
    waits.add(0);
    waits.add(5);
    expect([0.99, 1].map((share) => waits.quantile(share, 100))).toEqual([0, 5]);
    expect(new WaitHistogram().quantile(0.99, 0)).toBe(0);
    expect(new WaitHistogram().mean(0)).toBe(0);
  });

  test("waits of hours are exact to a thousandth, mean and longest wait are exact, also when merged from parts and workers", () => {
    const [part, waits] = [new WaitHistogram(), new WaitHistogram()];
    for (let minute = 1; minute <= 300; minute += 1) (minute % 2 === 0 ? part : waits).add(minute * 60_007);
    waits.merge(WaitHistogram.from(part.plain()));
    expect([waits.waited, waits.mean(300), waits.longestMs]).toEqual([300, 150.5 * 60_007, 300 * 60_007]);
    expect(waits.quantile(1, 300)).toBe(300 * 60_007);
    expect(waits.quantile(17 / 300, 300)).toBe(17 * 60_007);
    for (const minute of [18, 20, 150, 299]) {
      const wait = waits.quantile(minute / 300, 300);
      expect(wait).toBeGreaterThanOrEqual(minute * 60_007);
      expect(wait).toBeLessThanOrEqual(minute * 60_007 * 1.001);
    }
  });

  test("histograms of parts add up, whichever is longer", () => {
    const [short, long] = [new WaitHistogram(), new WaitHistogram()];
    short.add(3);
    long.add(500_000);
    const [one, two] = [new WaitHistogram(), new WaitHistogram()];
    one.merge(short);
    one.merge(long);
    two.merge(long);
    two.merge(short);
    expect([one.quantile(0.5, 2), one.quantile(1, 2), one.mean(2)]).toEqual([3, 500_000, 250_001.5]);
    expect([two.quantile(0.5, 2), two.quantile(1, 2), two.mean(2)]).toEqual([3, 500_000, 250_001.5]);
  });
});
