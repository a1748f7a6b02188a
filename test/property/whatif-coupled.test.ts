import fc from "fast-check";
import { expect, test } from "vitest";
import { randomFrom } from "../../src/simulation/random.ts";
import type { Trace } from "../../src/traffic/recorded/trace/trace.ts";
import type { CoupledFleet } from "../../src/whatif/coupled/coupled-fleet.ts";
import { simulateCoupled } from "../../src/whatif/coupled/coupled-simulation.ts";
import { startWorth } from "../../src/whatif/gap-curve/costs.ts";
import { fixed } from "../../src/whatif/policies/fixed.ts";
import {
  monthsOf,
  type QuotaMonthOutcome,
  quotaMonths,
} from "../../src/whatif/questions/quota/quota-months.ts";
import type { StartLatency } from "../../src/whatif/units/start-latency.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { replaySetting, SECOND, tracesAround } from "../support/traffic/traces.ts";
import { extendToLastDeparture, simulateComputes, simulateProject } from "../support/whatif/live-computes.ts";
import { replayTrace } from "../support/whatif/replay-trace.ts";

const delays = fc.constantFrom(60, 300, 3_600, 604_800);
const given = delays.chain((delay) => tracesAround(delay * SECOND).map((trace) => ({ delay, trace })));

function fleetOf(
  trace: Trace,
  delay: number,
  latency: StartLatency,
  options: Partial<CoupledFleet> = {},
): CoupledFleet {
  const many = trace.computes.length;
  return {
    period: trace.period,
    delayMs: new Float64Array(many).fill(delay * SECOND),
    cu: new Float64Array(many).fill(0.25),
    arrivals: trace.computes.map(({ arrivals: requests }) => requests),
    clients: [],
    latency,
    starts: {},
    random: randomFrom(1),
    ...options,
  };
}

test("computes that share nothing behave as each does alone, for any start latency", async () => {
  const latencies = fc.constantFrom<StartLatency[]>(
    { kind: "fixed", ms: 0 },
    { kind: "fixed", ms: 3_000 },
    { kind: "lognormal", medianMs: 1_344, sigma: 1.326, maxMs: 600_000 },
  );
  await expectHolds(
    fc.asyncProperty(given, latencies, async ({ delay, trace }, latency) => {
      const {
        events,
        limiter: gate,
        quotaReached,
        refused,
        ...outcome
      } = simulateCoupled({
        ...fleetOf(trace, delay, latency),
        startWorths: trace.computes.map(() => startWorth({ coldStartS: 60 })),
      });
      // 0.25 CU each here; a replay without sizes assumes 1 CU.
      const { cuMs, cuColdStarts, cuStartWorthMs } = outcome;
      // Only replays have totals by UTC day.
      const { days: _, ...replayed } = replayTrace(trace, fixed(delay), replaySetting(60, latency));
      expect({
        ...outcome,
        cuMs: cuMs / 0.25,
        cuColdStarts: cuColdStarts / 0.25,
        cuStartWorthMs: cuStartWorthMs / 0.25,
      }).toEqual(replayed);
      expect([quotaReached, refused]).toEqual([[], 0]);
    }),
    200,
  );
});

test("independent computes that share starts have the same outcome when simulated arrival by arrival", async () => {
  const limits = fc.record({
    concurrent: fc.integer({ min: 1, max: 3 }),
    pool: fc.option(
      fc.record({ size: fc.integer({ min: 1, max: 3 }), refillMs: fc.integer({ min: 1, max: 600_000 }) }),
      {
        nil: undefined,
      },
    ),
  });
  await expectHolds(
    fc.asyncProperty(given, limits, async ({ delay, trace }, starts) => {
      const options = { starts, preparedLatency: { kind: "fixed", ms: 300 } } as const;
      const latency = { kind: "lognormal", medianMs: 20_000, sigma: 1.3, maxMs: 600_000 } as const;
      // A quota that is never reached makes the computes dependent: each arrival might be rejected.
      const quotas = {
        computeSeconds: Float64Array.of(1e12),
        groupOf: new Int32Array(trace.computes.length),
      };
      const [independent, dependent] = [options, { ...options, quotas }].map((given) => {
        const events: unknown[] = [];
        const outcome = simulateCoupled(fleetOf(trace, delay, latency, given), {
          started: (compute, at, readyAt) => events.push([at, compute, readyAt]),
          suspended: (compute, at) => events.push([at, compute]),
        });
        return { ...outcome, gate: { ...outcome.limiter }, events: outcome.events, witnessed: events.sort() };
      });
      expect(independent).toEqual(dependent);
    }),
    100,
  );
});

/** Validation 8 for the coupled simulation: a project whose computes share a quota. */
test("computes that share a quota start and suspend when the live ones do", async () => {
  await expectHolds(
    fc.asyncProperty(
      given,
      fc.integer({ min: 1, max: 2_000 }),
      async ({ delay, trace: any }, computeTimeSeconds) => {
        const trace = extendToLastDeparture(any);
        const events: unknown[][][] = trace.computes.map(() => [[], []]);
        const many = trace.computes.length;
        const groups = {
          computeSeconds: new Float64Array(many).fill(computeTimeSeconds),
          groupOf: Int32Array.from({ length: many }, (_, i) => i),
        };
        const fleet = fleetOf(trace, delay, { kind: "fixed", ms: 3_000 }, { quotas: groups });
        const { refused } = simulateCoupled(fleet, {
          started: (compute, at, readyAt) => events[compute]?.[0]?.push([at, readyAt]),
          suspended: (compute, at) => events[compute]?.[1]?.push(at),
        });
        const lives = simulateComputes(trace, {
          delay,
          operations: "timed",
          startDelay: { kind: "fixed", ms: 3_000 },
          computeTimeSeconds,
        });
        expect(events).toEqual(lives.map(({ starts, suspends }) => [starts, suspends]));
        expect(refused).toBe(lives.reduce((sum, { dropped }) => sum + dropped, 0));
      },
    ),
    60,
  );
});

test("by month, a project reaches its quota, uses compute time and rejects requests as the live one does", async () => {
  await expectHolds(
    fc.asyncProperty(
      given,
      fc.integer({ min: 1, max: 4_000 }),
      async ({ delay, trace: any }, computeTimeSeconds) => {
        const trace = extendToLastDeparture(any);
        const months = quotaMonths(fleetOf(trace, delay, { kind: "fixed", ms: 3_000 }), computeTimeSeconds);
        const settings = {
          delay,
          operations: "timed",
          startDelay: { kind: "fixed", ms: 3_000 },
          computeTimeSeconds,
        } as const;
        const { stoppedAt, refusedAt, meteredMs } = simulateProject(trace, settings);
        const within = (instants: readonly number[]) =>
          monthsOf(trace.period).map(({ startAt, endAt }) =>
            instants.filter((at) => at >= startAt && at < endAt),
          );
        expect(months.map(({ reachedAt }) => reachedAt)).toEqual(
          within(stoppedAt).map((own) => Math.min(...own)),
        );
        expect(months.map(({ refused }) => refused)).toEqual(within(refusedAt).map((own) => own.length));
        expect(sumOf(months, ({ usedCuHours }) => usedCuHours)).toBeCloseTo(
          (meteredMs * 0.25) / 3_600_000,
          9,
        );
        expect(sumOf(months, ({ arrivals: requests }) => requests)).toBe(
          trace.computes.reduce((sum, { arrivals: { at } }) => sum + at.length, 0),
        );
      },
    ),
    60,
  );
});

function sumOf(months: readonly QuotaMonthOutcome[], of: (month: QuotaMonthOutcome) => number): number {
  return months.reduce((sum, month) => sum + of(month), 0);
}
