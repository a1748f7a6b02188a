import { describe, expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import type { Client } from "../../../src/whatif/coupled/clients.ts";
import {
  type CoupledFleet,
  type CoupledObserver,
  simulateCoupled,
} from "../../../src/whatif/coupled/coupled-simulation.ts";
import { type LatencySource, latenciesOf } from "../../../src/whatif/replay/start-latency.ts";
import { BEGIN, DAY, HOUR, periodOf, type Row, requestsOf, SECOND } from "../../support/traces.ts";

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

function witnessed(fleet: CoupledFleet) {
  const events: string[] = [];
  const witness: CoupledObserver = {
    started: (compute, at, readyAt) => events.push(`${compute} starts ${at - BEGIN}..${readyAt - BEGIN}`),
    suspended: (compute, at) => events.push(`${compute} sleeps ${at - BEGIN}`),
  };
  return { outcome: simulateCoupled(fleet, witness), events };
}

describe("a limit of concurrent starts", () => {
  const limited = { starts: { concurrent: 1 } };

  test("who comes while it is reached waits for the turn and for the start, in the order of arrival", () => {
    const { outcome, events } = witnessed(fleetOf([[[0]], [[2_000]], [[1_000]]], limited));
    expect(events.slice(0, 3)).toEqual([
      "0 starts 0..10000",
      "2 starts 10000..20000",
      "1 starts 20000..30000",
    ]);
    expect(outcome.waits.sumMs).toBe(10_000 + 28_000 + 19_000);
    expect(outcome.limiter).toMatchObject({ mostUnderWay: 1, mostQueued: 2 });
  });

  test("who comes at the instant at which a start ends takes its place", () => {
    expect(witnessed(fleetOf([[[0]], [[10_000]]], limited)).events[1]).toBe("1 starts 10000..20000");
    expect(witnessed(fleetOf([[[0]], [[9_999]]], limited)).outcome.limiter.mostQueued).toBe(1);
  });

  test("queued, a compute is not active, and more requests to it wait with the first", () => {
    const { outcome } = witnessed(fleetOf([[[0]], [[0], [15_000]]], limited));
    expect(outcome.activeMs).toBe(2 * (10_000 + 60_000));
    expect(outcome.waits.sumMs).toBe(10_000 + 20_000 + 5_000);
    expect(outcome.firstStarts).toBe(2);
  });

  /** First come, first served at so many desks; two requests a compute, the second while the first may still wait. */
  test.each([
    ["seldom looked at", {}],
    ["looked at always", { quotas: { computeSeconds: Float64Array.of(1e12), groupOf: new Int32Array(60) } }],
  ] as const)("who waits for a turn when the period ends waits on until it comes, %s", (_, more) => {
    const source = randomFrom(5).stream("arrivals", 0);
    const arrivals = Array.from({ length: 60 }, () => source() % 9_000).sort((a, b) => a - b);
    const latency = { kind: "lognormal", medianMs: 2_000, sigma: 0.5, maxMs: 60_000 } as const;
    const latencies = latenciesOf(latency, randomFrom(1), 60);
    const desks = [0, 0, 0];
    const waits: number[] = [];
    const readyAts: number[] = [];
    let lastAt = 0;
    for (const [compute, at] of arrivals.entries()) {
      desks.sort((a, b) => a - b);
      lastAt = Math.max(at, desks[0] as number);
      const readyAt = lastAt + (latencies[compute] as LatencySource).at(BEGIN + lastAt);
      desks[0] = readyAt;
      readyAts.push(readyAt);
      waits.push(readyAt - at);
      if (at + 500 < readyAt) waits.push(readyAt - at - 500);
    }
    const rows = arrivals.map((at): Row[] => [[at], [at + 500]]);
    const { outcome, events } = witnessed(
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
    // Each is charged for its start; those that are ready by then, until the end of the period.
    expect(outcome.activeMs - outcome.startingMs).toBe(
      readyAts.reduce((sum, at) => sum + Math.max(0, 9_500 - at), 0),
    );
  });

  test("without one, all that come at nine start at nine", () => {
    const rows = Array.from({ length: 50 }, (): Row[] => [[9 * HOUR]]);
    expect(witnessed(fleetOf(rows)).outcome.limiter.mostUnderWay).toBe(50);
  });
});

describe("a pool of prepared computes", () => {
  const pooled = {
    starts: { pool: { size: 1, refillMs: 30_000 } },
    preparedLatency: { kind: "fixed", ms: 300 },
  } as const;

  test("the first start is short, the next is not until the pool is filled again", () => {
    expect(witnessed(fleetOf([[[0]], [[29_999]]], pooled)).outcome.limiter).toMatchObject({
      poolHits: 1,
      poolMisses: 1,
    });
    const { events, outcome } = witnessed(fleetOf([[[0]], [[30_000]]], pooled));
    expect(events.slice(0, 2)).toEqual(["0 starts 0..300", "1 starts 30000..30300"]);
    expect(outcome.limiter).toMatchObject({ poolHits: 2, poolMisses: 0 });
  });
});

describe("clients", () => {
  test("a subscriber that reconnects keeps its compute from sleeping for longer than that", () => {
    const clients: Client[] = [{ kind: "subscriber", compute: 0, reconnectMs: 5_000 }];
    const { events } = witnessed(fleetOf([[]], { clients }));
    expect(events.slice(0, 4)).toEqual([
      "0 starts 5000..15000",
      "0 sleeps 75000",
      "0 starts 80000..90000",
      "0 sleeps 150000",
    ]);
  });

  test("a check comes at its own instants, whatever it waits for, and each one that finds the compute asleep wakes it", () => {
    const clients: Client[] = [{ kind: "check", compute: 0, everyMs: HOUR }];
    const { events, outcome } = witnessed(fleetOf([[]], { clients }));
    expect(outcome).toMatchObject({ arrivals: 24, firstStarts: 1, coldStarts: 23 });
    const starts = events
      .filter((event) => event.includes("starts"))
      .map((event) => Number(/starts (\d+)/.exec(event)?.[1]));
    expect(starts.map((at) => at % HOUR)).toEqual(starts.map(() => (starts[0] as number) % HOUR));
    // Of one that is refused the next comes in its turn, too: two minutes awake are all there is.
    const quotas = { computeSeconds: new Float64Array([120]), groupOf: new Int32Array([0]) };
    const stopped = witnessed(fleetOf([[]], { clients, quotas, latency: { kind: "fixed", ms: 0 } })).outcome;
    expect(stopped).toMatchObject({ arrivals: 24, refused: 22 });
  });

  test("a client in a closed loop sends nothing while it waits", () => {
    const loop: Client = { kind: "loop", compute: 0, thinkMs: 1_000, serviceMs: 0, retryMs: 1_000 };
    const slow = witnessed(
      fleetOf([[]], { clients: [loop], latency: { kind: "fixed", ms: DAY - HOUR } }),
    ).outcome;
    const fast = witnessed(fleetOf([[]], { clients: [loop], latency: { kind: "fixed", ms: 0 } })).outcome;
    // Of requests every second in the mean, within four standard errors: of a day, and of an hour.
    expect(Math.abs(fast.arrivals - 86_400)).toBeLessThan(4 * Math.sqrt(86_400));
    expect(Math.abs(slow.arrivals - 3_600)).toBeLessThan(4 * Math.sqrt(3_600));
  });
});

describe("a quota that computes share", () => {
  const shared = (computeSeconds: number): Partial<CoupledFleet> => ({
    latency: { kind: "fixed", ms: 0 },
    quotas: { computeSeconds: new Float64Array([computeSeconds]), groupOf: new Int32Array([0, 0]) },
  });

  test("all are suspended in the millisecond in which their use together is as much, and nothing starts again this month", () => {
    const { outcome, events } = witnessed(
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

  test("with the next month it begins anew, at its first millisecond", () => {
    const february = Date.parse("2026-02-01T00:00:00Z") - BEGIN;
    const rows: Row[] = [[0, HOUR], [february - 1], [february]];
    const { outcome, events } = witnessed({
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

  test("what is still running when the period ends uses it up, what is idle does not", () => {
    const fleet = fleetOf([[[0, HOUR]], [[0]]], { ...shared(250), delayMs: new Float64Array(2).fill(HOUR) });
    const { outcome, events } = witnessed({ ...fleet, period: periodOf(100 * SECOND) });
    // 100 s of both, and 50 s of the first.
    expect(outcome).toMatchObject({
      activeMs: 250 * SECOND,
      quotaReached: [{ group: 0, at: BEGIN + 150_000 }],
    });
    expect(events.at(-1)).toBe("0 sleeps 150000");
  });

  test("one that nobody can reach stops nobody", () => {
    const { outcome } = witnessed(fleetOf([[[0, HOUR]], []], shared(Number.POSITIVE_INFINITY)));
    expect(outcome).toMatchObject({ refused: 0, activeMs: HOUR + MINUTE });
  });
});
