import { expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/profile.ts";
import type { SizeRange } from "../../../src/platform/catalog/sizes.ts";
import { uniform } from "../../../src/platform/core/random-port.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { capacityPage } from "../../../src/whatif/capacity/capacity-page.ts";
import {
  type CapacityAssumptions,
  type CapacityReport,
  capacityReport,
} from "../../../src/whatif/capacity/capacity-report.ts";
import { fixed } from "../../../src/whatif/policies/fixed.ts";
import { meteredMs } from "../../../src/whatif/replay/replay-outcome.ts";
import { MEASURED_LATENCY, NO_LATENCY, type StartLatency } from "../../../src/whatif/replay/start-latency.ts";
import { questionFrom } from "../../../src/whatif/report/question.ts";
import { trafficOf } from "../../../src/whatif/trace/known-traffic.ts";
import { replayTrace } from "../../support/replay-trace.ts";
import { HOUR, type Row, replaySetting, SECOND, traceOf } from "../../support/traces.ts";

const PROFILE = PROFILES["2026"];
const SIZES: readonly SizeRange[] = [
  { minCu: 0.25, maxCu: 0.25 },
  { minCu: 0.5, maxCu: 0.5 },
  { minCu: 0.25, maxCu: 4 },
];

function reportOf(
  rows: readonly Row[],
  assumptions: Partial<CapacityAssumptions>,
  sizes = SIZES,
  startLatency: StartLatency = NO_LATENCY,
): CapacityReport {
  const traffic = trafficOf(traceOf(HOUR, rows));
  const work = capacityReport(
    traffic,
    sizes,
    PROFILE,
    questionFrom({ startLatency }),
    { loadPerRequest: 0.1, reserved: 7, poolBy: "compute", ...assumptions },
    randomFrom(1),
  );
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

/** Every ten seconds one that takes a second: never asleep, and 0.25 CU have vCPUs enough. */
const steady = Array.from({ length: 360 }, (_, index): Row => [index * 10 * SECOND, SECOND]);

test("a range has the size that its working set asks for, and the cache of that size: what a simulated cache answers", () => {
  const cache = { workingSetGb: 1, blocksPerRequest: 1_000, skew: 0 };
  const { sizes } = reportOf(steady, { cache });
  // 1 GB is three quarters of 1.33 GB, which half a CU has at 4 GB a CU.
  expect(sizes.map(({ cu_hours }) => cu_hours)).toEqual([0.25, 0.5, 0.5]);
  expect(sizes.map(({ cache_gb }) => cache_gb)).toEqual([0.75, 1.5, 1.5]);
  const expected = sizes.map(({ cache_gb }) => {
    const source = randomFrom(1).stream("whatif-blocks", 0);
    const kept = new Set<number>();
    let hits = 0;
    for (let use = 0; use < 360_000; use += 1) {
      const block = Math.floor(131_072 * uniform(source));
      if (kept.delete(block)) hits += 1;
      kept.add(block);
      if (kept.size > cache_gb * 131_072) kept.delete(kept.values().next().value as number);
    }
    return hits / 360_000;
  });
  for (const [index, { cache_hit_ratio }] of sizes.entries())
    expect(cache_hit_ratio).toBeCloseTo(expected[index] as number, 12);
  expect(expected[1]).toBeGreaterThan(expected[0] as number);
});

test("the cheapest that carries all of it has 99 % of reads from the cache, where a working set was given", () => {
  const few = { workingSetGb: 1 / 1_024, blocksPerRequest: 100, skew: 0 };
  expect(capacityPage(reportOf(steady, { cache: few })).answer[0]).toMatch(
    /^Cheapest that carries all of it, with nothing throttled, nobody refused and at least 99 % of reads from the cache: 0.25 CU, .* 99\.\d % of reads/,
  );
  const much = { workingSetGb: 6, blocksPerRequest: 100, skew: 0 };
  const { answer } = capacityPage(reportOf(steady, { cache: much }));
  expect(answer[0]).toMatch(
    /^None of these sizes answers the 99 % of reads from the cache that are advised for OLTP: .* comes nearest with \d/,
  );
  expect(answer[1]).toMatch(/^Cheapest with nothing throttled and nobody refused: 0.25 CU, /);
  expect(capacityPage(reportOf(steady, {})).answer[0]).toMatch(
    /with nothing throttled and nobody refused: 0.25 CU, /,
  );
});

test("where all are throttled alike, what refuses fewer comes nearest, and of those the cheapest", () => {
  const fixedSizes = [0.25, 0.5, 1].map((cu) => ({ minCu: cu, maxCu: cu }));
  const nearest = (rows: readonly Row[]) =>
    capacityPage(reportOf(rows, { loadPerRequest: 1 }, fixedSizes)).answer[0];
  expect(nearest(Array.from({ length: 300 }, (): Row => [0, SECOND]))).toMatch(
    /^None of these sizes carries all of it\. 1 CU comes nearest: .* 0 connections refused/,
  );
  expect(
    nearest([
      [0, SECOND],
      [0, SECOND],
    ]),
  ).toMatch(/^None of these sizes carries all of it\. 0.25 CU comes nearest: /);
});

test("who is refused through the pool is refused: such a size does not carry all of it", () => {
  // A pool of 93: one of 94 waits for five minutes, and nobody does for more than two.
  const rows = Array.from({ length: 94 }, (): Row => [0, 300 * SECOND]);
  const report = reportOf(rows, { loadPerRequest: 0.001 }, [{ minCu: 0.25, maxCu: 0.25 }]);
  expect(report.sizes[0]).toMatchObject({ throttled_s: 0, direct_refused: 0, pooled_refused: 1 });
  const { answer, facts } = capacityPage(report);
  expect(answer[0]).toMatch(
    /^None of these sizes carries all of it\. 0.25 CU comes nearest: .* 1 through the pool/,
  );
  expect(facts[0]?.note).toMatch(/0 refused, 1 through the pool$/);
});

test("a range follows the memory that requests take, too", () => {
  const [, , range] = reportOf([[0, HOUR]], { memoryGbPerRequest: 6 }).sizes;
  expect(range?.cu_hours).toBe(2);
});

test("three requests of a second beside one of an hour throttle two CU for a second", () => {
  const rows: Row[] = [
    [0, SECOND],
    [0, SECOND],
    [0, SECOND],
    [0, HOUR],
  ];
  const { sizes } = reportOf(rows, { loadPerRequest: 1 }, [{ minCu: 2, maxCu: 2 }]);
  expect(sizes[0]).toMatchObject({ throttled_s: 1, cu_hours: 2 });
});

test("through the pool come as many clients as the platform takes, and waits stand beside those of Erlang's formula", () => {
  const many = Array.from({ length: 12_000 }, (): Row => [0, 100]);
  const [row] = reportOf(many, {}, [{ minCu: 1, maxCu: 1 }]).sizes;
  expect(row).toMatchObject({
    pool_clients: 10_000,
    pooled_refused: 2_000,
    pool_waited_share_erlang: expect.closeTo(0, 9),
  });
  // Three servers for two vCPUs' worth of work: four ninths wait (validation 7), four ninths of a time of service in the mean.
  const servers = { ...PROFILE, maxConnections: () => 4 };
  const busy = Array.from({ length: 7_200 }, (_, index): Row => [index * 499, SECOND]);
  const traffic = trafficOf(traceOf(HOUR, busy));
  const work = capacityReport(
    traffic,
    [{ minCu: 1, maxCu: 1 }],
    servers,
    questionFrom({}),
    { loadPerRequest: 1, reserved: 0, poolBy: "compute" },
    randomFrom(1),
  );
  let step = work.next();
  while (step.done !== true) step = work.next();
  expect(step.value.sizes[0]).toMatchObject({
    pool_size: 3,
    pool_waited_share_erlang: expect.closeTo(4 / 9, 9),
    pool_wait_mean_erlang_ms: expect.closeTo((1_000 * 4) / 9, 6),
  });
});

test("each source may have a pool of its own, as the platform has for a user and a database", () => {
  // At one instant 450 of each of two: a pool of 377, or two of them below the 412 that all may have.
  const rows = Array.from({ length: 900 }, (_, index): Row => [0, 100, index % 2]);
  const of = (poolBy: "compute" | "source") => reportOf(rows, { poolBy }, [{ minCu: 1, maxCu: 1 }]).sizes[0];
  expect(of("compute")?.pool_waited).toBe(900 - 377);
  expect(of("source")?.pool_waited).toBe(900 - 412);
});

test("what still runs when the trace ends has its size to its end, and its load counts within the trace", () => {
  const [row] = reportOf([[HOUR - SECOND, HOUR]], {}, [{ minCu: 1, maxCu: 1 }]).sizes;
  expect(row?.cu_hours).toBe(1);
  // One of one connection: offered is a second of the hour.
  const offered = 1 / 3_600;
  const [few] = reportOf([[HOUR - SECOND, HOUR]], { reserved: 103 }, [{ minCu: 0.25, maxCu: 0.25 }]).sizes;
  expect(few?.direct_limit).toBe(1);
  expect(few?.direct_refused_share_erlang).toBeCloseTo(offered / (1 + offered), 12);
});

test("waits for the pool are those of who got a server: who gave up after two minutes waited for nothing", () => {
  // One server, and a minute each: the second and the third are served, the other seven are not.
  const one = reportOf(
    Array.from({ length: 10 }, (): Row => [0, 60 * SECOND]),
    { reserved: 103 },
    [{ minCu: 0.25, maxCu: 0.25 }],
  );
  expect(one.sizes[0]).toMatchObject({
    pooled_refused: 7,
    pool_waited: 2,
    pool_wait_p50_ms: 60 * SECOND,
    pool_wait_p99_ms: 120 * SECOND,
  });
});

test.each<StartLatency>([NO_LATENCY, { kind: "fixed", ms: 45 * SECOND }, MEASURED_LATENCY])(
  "a size alone is metered as a replay of it is, from the end of each start: %o",
  (latency) => {
    const rows = Array.from(
      { length: 300 },
      (_, index): Row => [index * 7 * SECOND + (index % 10) * 400 * SECOND, (index % 4) * 9 * SECOND],
    );
    const sorted = rows.filter(([at]) => at < HOUR).sort(([a], [b]) => a - b);
    const { sizes } = reportOf(sorted, {}, [{ minCu: 2, maxCu: 2 }], latency);
    const replayed = replayTrace(traceOf(HOUR, sorted), fixed(300), replaySetting(60, latency));
    expect(sizes[0]?.cu_hours).toBeCloseTo((2 * meteredMs(replayed)) / HOUR, 9);
  },
);
