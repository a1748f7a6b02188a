import { describe, expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import type { Client } from "../../../src/whatif/coupled/clients.ts";
import type { CoupledFleet, CoupledObserver } from "../../../src/whatif/coupled/coupled-fleet.ts";
import { simulateCoupled } from "../../../src/whatif/coupled/coupled-simulation.ts";
import { type LatencySource, latenciesOf } from "../../../src/whatif/units/start-latency.ts";
import { BEGIN, DAY, HOUR, periodOf, type Row, requestsOf, SECOND } from "../../support/traffic/traces.ts";

const MINUTE = 60 * SECOND;

function fleetOf(computes: readonly (readonly Row[])[], options: Partial<CoupledFleet> = {}): CoupledFleet {
  return {
    period: periodOf(DAY),
    delayMs: new Float64Array(computes.length).fill(MINUTE),
    cu: new Float64Array(computes.length).fill(1),
    arrivals: computes.map(requestsOf),
    clients: [],
    latency: { kind: "fixed", ms: 10 * SECOND },
    starts: {},
    random: randomFrom(1),
    ...options,
  };
}

function observed(fleet: CoupledFleet) {
  const events: string[] = [];
  const observer: CoupledObserver = {
    started: (compute, at, readyAt) => events.push(`${compute} starts ${at - BEGIN}..${readyAt - BEGIN}`),
    suspended: (compute, at) => events.push(`${compute} sleeps ${at - BEGIN}`),
  };
  return { outcome: simulateCoupled(fleet, observer), events };
}

describe("a limit of concurrent starts", () => {
  const limited = { starts: { concurrent: 1 } };

  test("at the limit a start is queued in order of arrival, and its request waits for the queue and the start", () => {
    const { outcome, events } = observed(fleetOf([[[0]], [[2_000]], [[1_000]]], limited));
    expect(events.slice(0, 3)).toEqual([
      "0 starts 0..10000",
      "2 starts 10000..20000",
      "1 starts 20000..30000",
    ]);
    expect(outcome.waits.sumMs).toBe(10_000 + 28_000 + 19_000);
    expect(outcome.limiter).toMatchObject({ mostUnderWay: 1, mostQueued: 2 });
  });

  test("an arrival at the instant at which a start ends starts at once", () => {
    expect(observed(fleetOf([[[0]], [[10_000]]], limited)).events[1]).toBe("1 starts 10000..20000");
    expect(observed(fleetOf([[[0]], [[9_999]]], limited)).outcome.limiter.mostQueued).toBe(1);
  });

  test("a queued compute is not active, and its further requests wait with the first", () => {
    const { outcome } = observed(fleetOf([[[0]], [[0], [15_000]]], limited));
    expect(outcome.activeMs).toBe(2 * (10_000 + 60_000));
    expect(outcome.waits.sumMs).toBe(10_000 + 20_000 + 5_000);
    expect(outcome.firstStarts).toBe(2);
  });

  /**
   * Reference: a first-come, first-served queue with three servers. Two requests per compute, 500 ms apart.
   */
  test.each([
    ["as independent computes", {}],
    [
      "arrival by arrival",
      { quotas: { computeSeconds: Float64Array.of(1e12), groupOf: new Int32Array(60) } },
    ],
  ] as const)("a start that is queued when the period ends still takes place, %s", (_, more) => {
    const source = randomFrom(5).stream("arrivals", 0);
    const arrivals = Array.from({ length: 60 }, () => source() % 9_000).sort((a, b) => a - b);
    const latency = { kind: "lognormal", medianMs: 2_000, sigma: 0.5, maxMs: 60_000 } as const;
    const latencies = latenciesOf(latency, randomFrom(1), 60);
    const servers = [0, 0, 0];
    const waits: number[] = [];
    const readyAts: number[] = [];
    let lastAt = 0;
    for (const [compute, at] of arrivals.entries()) {
      servers.sort((a, b) => a - b);
      lastAt = Math.max(at, servers[0] as number);
      const readyAt = lastAt + (latencies[compute] as LatencySource).at(BEGIN + lastAt);
      servers[0] = readyAt;
      readyAts.push(readyAt);
      waits.push(readyAt - at);
      if (at + 500 < readyAt) waits.push(readyAt - at - 500);
    }
    const rows = arrivals.map((at): Row[] => [[at], [at + 500]]);
    const { outcome, events } = observed(
      fleetOf(rows, {
        latency,
        starts: { concurrent: 3 },
        period: periodOf(9_500),
        delayMs: new Float64Array(60).fill(HOUR),
        ...more,
      }),
    );
    expect(outcome.waits.sumMs).toBe(waits.reduce((sum, wait) => sum + wait, 0));
    expect(outcome.waits.waited).toBe(waits.length);
    expect(outcome.waits.quantile(1, waits.length)).toBe(Math.max(...waits));
    expect(lastAt).toBeGreaterThan(20_000);
    expect(events.filter((event) => event.includes("starts")).at(-1)).toContain(`starts ${lastAt}..`);
    // Active time after the start lasts until the end of the period, for computes that are ready by then.
    expect(outcome.activeMs - outcome.startingMs).toBe(
      readyAts.reduce((sum, at) => sum + Math.max(0, 9_500 - at), 0),
    );
  });

  test("without a limit, all computes with a request at nine start at nine", () => {
    const rows = Array.from({ length: 50 }, (): Row[] => [[9 * HOUR]]);
    expect(observed(fleetOf(rows)).outcome.limiter.mostUnderWay).toBe(50);
  });
});

describe("a pool of prepared computes", () => {
  const pooled = {
    starts: { pool: { size: 1, refillMs: 30_000 } },
    preparedLatency: { kind: "fixed", ms: 300 },
  } as const;

  test("the first start is short, the next one only after the pool is refilled", () => {
    expect(observed(fleetOf([[[0]], [[29_999]]], pooled)).outcome.limiter).toMatchObject({
      poolHits: 1,
      poolMisses: 1,
    });
    const { events, outcome } = observed(fleetOf([[[0]], [[30_000]]], pooled));
    expect(events.slice(0, 2)).toEqual(["0 starts 0..300", "1 starts 30000..30300"]);
    expect(outcome.limiter).toMatchObject({ poolHits: 2, poolMisses: 0 });
  });
});

describe("clients", () => {
  test("a subscriber ends each suspend when it reconnects", () => {
    const clients: Client[] = [{ kind: "subscriber", compute: 0, reconnectMs: 5_000 }];
    const { events } = observed(fleetOf([[]], { clients }));
    expect(events.slice(0, 4)).toEqual([
      "0 starts 5000..15000",
      "0 sleeps 75000",
      "0 starts 80000..90000",
      "0 sleeps 150000",
    ]);
  });

  test("a check keeps its interval whatever it waits for, and starts a suspended compute", () => {
    const clients: Client[] = [{ kind: "check", compute: 0, everyMs: HOUR }];
    const { events, outcome } = observed(fleetOf([[]], { clients }));
    expect(outcome).toMatchObject({ arrivals: 24, firstStarts: 1, coldStarts: 23 });
    const starts = events
      .filter((event) => event.includes("starts"))
      .map((event) => Number(/starts (\d+)/.exec(event)?.[1]));
    expect(starts.map((at) => at % HOUR)).toEqual(starts.map(() => (starts[0] as number) % HOUR));
    // A rejected check also keeps the interval: the quota is two active minutes.
    const quotas = { computeSeconds: new Float64Array([120]), groupOf: new Int32Array([0]) };
    const stopped = observed(fleetOf([[]], { clients, quotas, latency: { kind: "fixed", ms: 0 } })).outcome;
    expect(stopped).toMatchObject({ arrivals: 24, refused: 22 });
  });

  test("a client in a closed loop sends nothing while it waits", () => {
    const loop: Client = { kind: "loop", compute: 0, thinkMs: 1_000, serviceMs: 0, retryMs: 1_000 };
    const slow = observed(
      fleetOf([[]], { clients: [loop], latency: { kind: "fixed", ms: DAY - HOUR } }),
    ).outcome;
    const fast = observed(fleetOf([[]], { clients: [loop], latency: { kind: "fixed", ms: 0 } })).outcome;
    // One request per second on average, for a day and for an hour, within four standard errors.
    expect(Math.abs(fast.arrivals - 86_400)).toBeLessThan(4 * Math.sqrt(86_400));
    expect(Math.abs(slow.arrivals - 3_600)).toBeLessThan(4 * Math.sqrt(3_600));
  });
});

describe("a quota that computes share", () => {
  const shared = (computeSeconds: number): Partial<CoupledFleet> => ({
    latency: { kind: "fixed", ms: 0 },
    quotas: { computeSeconds: new Float64Array([computeSeconds]), groupOf: new Int32Array([0, 0]) },
  });

  test("all computes are suspended at the millisecond at which the quota is reached, and none starts again that month", () => {
    const { outcome, events } = observed(
      fleetOf(
        [
          [[0, HOUR], [HOUR]],
          [[5_000, HOUR], [2 * HOUR]],
        ],
        shared(25),
      ),
    );
    // 5 s of one, then both: 5 + 2·10 = 25.
    expect(events).toEqual(["0 starts 0..0", "1 starts 5000..5000", "0 sleeps 15000", "1 sleeps 15000"]);
    expect(outcome.quotaReached).toEqual([{ group: 0, at: BEGIN + 15_000 }]);
    expect(outcome.refused).toBe(2);
  });

  test("the quota starts again at the first millisecond of the next month", () => {
    const february = Date.parse("2026-02-01T00:00:00Z") - BEGIN;
    const rows: Row[] = [[0, HOUR], [february - 1], [february]];
    const { outcome, events } = observed({
      ...fleetOf([rows, []], shared(25)),
      period: periodOf(february + HOUR),
    });
    expect(events).toEqual([
      "0 starts 0..0",
      "0 sleeps 25000",
      `0 starts ${february}..${february}`,
      `0 sleeps ${february + 25_000}`,
    ]);
    expect(outcome.refused).toBe(1);
  });

  test("after the period busy computes use the quota, idle ones do not", () => {
    const fleet = fleetOf([[[0, HOUR]], [[0]]], { ...shared(250), delayMs: new Float64Array(2).fill(HOUR) });
    const { outcome, events } = observed({ ...fleet, period: periodOf(100 * SECOND) });
    // 100 s of both computes, and 50 s more of the first.
    expect(outcome).toMatchObject({
      activeMs: 250 * SECOND,
      quotaReached: [{ group: 0, at: BEGIN + 150_000 }],
    });
    expect(events.at(-1)).toBe("0 sleeps 150000");
  });

  test("an infinite quota stops nothing", () => {
    const { outcome } = observed(fleetOf([[[0, HOUR]], []], shared(Number.POSITIVE_INFINITY)));
    expect(outcome).toMatchObject({ refused: 0, activeMs: HOUR + MINUTE });
  });
});
