import { expect, test } from "vitest";
import { uniform } from "../../../src/kernel/random-port.ts";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../../src/platform/catalog/sizes.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { parseSlo } from "../../../src/whatif/input/slo.ts";
import { fixed } from "../../../src/whatif/policies/fixed.ts";
import { capacityPage } from "../../../src/whatif/questions/capacity/capacity-page.ts";
import {
  type CapacityReport,
  capacityReport,
} from "../../../src/whatif/questions/capacity/capacity-report.ts";
import type { CapacityAssumptions } from "../../../src/whatif/questions/capacity/capacity-totals.ts";
import { meteredMs } from "../../../src/whatif/replay/replay-outcome.ts";
import { fleetTraffic } from "../../../src/whatif/trace/fleet-traffic.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { MEASURED_LATENCY, NO_LATENCY, type StartLatency } from "../../../src/whatif/units/start-latency.ts";
import { HOUR, MINUTES, type Row, replaySetting, SECOND, traceOf } from "../../support/traffic/traces.ts";
import { replayTrace } from "../../support/whatif/replay-trace.ts";

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
  const traffic = trafficOf({ ...traceOf(HOUR, rows), sources: ["batch", "web"] });
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

/** One request of 1 s every 10 s: always on, and 0.25 CU has enough vCPUs. */
const steady = Array.from({ length: 360 }, (_, index): Row => [index * 10 * SECOND, SECOND]);

test("a range has the size that its working set needs, and the hit ratio of a simulated cache of that size", () => {
  const cache = { workingSetGb: 1, blocksPerRequest: 1_000, skew: 0, storageReadMs: 1 };
  const { sizes } = reportOf(steady, { cache });
  // 1 GB is three quarters of 1.33 GB, which 0.5 CU has at 4 GB per CU. The range has it within 5 s.
  expect(sizes.map(({ cu_hours }) => cu_hours).slice(0, 2)).toEqual([0.25, 0.5]);
  expect(sizes[2]?.cu_hours).toBeLessThan(0.5);
  expect(sizes[2]?.cu_hours).toBeGreaterThanOrEqual(0.5 - (0.25 * 5) / 3_600);
  expect(sizes.map(({ cache_gb }) => cache_gb)).toEqual([0.75, 1.5, 1.5]);
  const expected = sizes.map(({ cache_gb }) => {
    const source = randomFrom(1).stream("whatif-blocks", 0);
    const cached = new Set<number>();
    let hits = 0;
    for (let use = 0; use < 360_000; use += 1) {
      const block = Math.floor(131_072 * uniform(source));
      if (cached.delete(block)) hits += 1;
      cached.add(block);
      if (cached.size > cache_gb * 131_072) cached.delete(cached.values().next().value as number);
    }
    return hits / 360_000;
  });
  for (const [index, { cache_hit_ratio }] of sizes.entries())
    expect(cache_hit_ratio).toBeCloseTo(expected[index] as number, 12);
  expect(expected[1]).toBeGreaterThan(expected[0] as number);
});

test("with a working set, the cheapest sufficient size answers 99 % of reads from the cache", () => {
  const few = { workingSetGb: 1 / 1_024, blocksPerRequest: 100, skew: 0, storageReadMs: 1 };
  expect(capacityPage(reportOf(steady, { cache: few })).answer[0]).toMatch(
    /^0.25 CU, \$40\.\d+ a month, assuming 0.1 vCPU per running request, which the trace cannot tell\.$/,
  );
  expect(capacityPage(reportOf(steady, { cache: few })).answer[1]).toMatch(
    /^It is the cheapest size with no throttling and no rejected connections and at least 99 % of reads from the cache, 99\.\d % of reads/,
  );
  const much = { workingSetGb: 6, blocksPerRequest: 100, skew: 0, storageReadMs: 1 };
  const { answer } = capacityPage(reportOf(steady, { cache: much }));
  expect(answer[0]).toMatch(/^0.25 CU, /);
  expect(answer[1]).toMatch(/^It is the cheapest size with no throttling and no rejected connections/);
  expect(answer[2]).toMatch(
    /^No size answers 99 % of reads from the cache, as recommended for OLTP\. .* comes closest with \d/,
  );
  expect(capacityPage(reportOf(steady, {})).answer[0]).toMatch(/^0.25 CU, /);
});

test("the least throttled size comes closest", () => {
  const fixedSizes = [0.25, 0.5, 1].map((cu) => ({ minCu: cu, maxCu: cu }));
  const nearest = (rows: readonly Row[]) =>
    capacityPage(reportOf(rows, { loadPerRequest: 1 }, fixedSizes)).answer[0];
  expect(nearest(Array.from({ length: 300 }, (): Row => [0, SECOND]))).toMatch(
    /^No size is sufficient, .*\. 1 CU comes closest, .* 0 direct connections and \d+ pooled rejected/,
  );
  expect(
    nearest([
      [0, SECOND],
      [0, SECOND],
    ]),
  ).toMatch(/^No size is sufficient, .*\. 1 CU comes closest, /);
});

test("a size that rejects pooled connections is not sufficient", () => {
  // A pool of 93 servers: the 94th would wait for five minutes, above the limit of two.
  const rows = Array.from({ length: 94 }, (): Row => [0, 300 * SECOND]);
  const report = reportOf(rows, { loadPerRequest: 0.001 }, [{ minCu: 0.25, maxCu: 0.25 }]);
  expect(report.sizes[0]).toMatchObject({ throttled_s: 0, direct_refused: 0, pooled_refused: 1 });
  const { answer, facts } = capacityPage(report);
  expect(answer[0]).toMatch(
    /^No size is sufficient, .*\. 0.25 CU comes closest, .* 0 direct connections and 1 pooled rejected/,
  );
  expect(facts[0]?.note).toMatch(/0 rejected, 1 by the pooler$/);
});

test("a range also scales with the memory that requests take", () => {
  const [, , range] = reportOf([[0, HOUR]], { memoryGbPerRequest: 6 }).sizes;
  // 6 GB / 0.75 are 8 steps of 1 GB: 2 CU, from the first reading on, within 5 s.
  expect(range?.cu_hours).toBeLessThan(2);
  expect(range?.cu_hours).toBeGreaterThanOrEqual(2 - (1.75 * 5) / 3_600);
});

test("three requests of 1 s next to one of 1 h throttle 2 CU for 2 s, and each takes 1 s longer", () => {
  const rows: Row[] = [
    [0, SECOND],
    [0, SECOND],
    [0, SECOND],
    [0, HOUR],
  ];
  const { sizes } = reportOf(rows, { loadPerRequest: 1 }, [{ minCu: 2, maxCu: 2 }]);
  expect(sizes[0]).toMatchObject({
    throttled_s: 2,
    added_wait_mean_ms: SECOND,
    added_wait_p99_ms: SECOND,
    cu_hours: 2 + 2 / 3_600,
  });
});

test("the pooler accepts as many clients as the platform's, and Erlang's formula gives the expected waits", () => {
  const many = Array.from({ length: 12_000 }, (): Row => [0, 100]);
  const [row] = reportOf(many, {}, [{ minCu: 1, maxCu: 1 }]).sizes;
  expect(row).toMatchObject({
    pool_clients: 10_000,
    pooled_refused: 2_000,
    pool_waited_share_erlang: expect.closeTo(0, 9),
  });
  // Three servers at a load of two: 4/9 of the requests wait (validation 7), 4/9 of a service time on
  // average.
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

test("each source can have its own pool, as each user and database has on the platform", () => {
  // 450 requests of each of two sources at once: one pool of 377, or two pools below the ceiling of 412.
  const rows = Array.from({ length: 900 }, (_, index): Row => [0, 100, index % 2]);
  const of = (poolBy: "compute" | "source") => reportOf(rows, { poolBy }, [{ minCu: 1, maxCu: 1 }]).sizes[0];
  expect(of("compute")?.pool_waited).toBe(900 - 377);
  expect(of("source")?.pool_waited).toBe(900 - 412);
});

test("a request that runs beyond the trace keeps its size to its end, but its load counts only within the trace", () => {
  const [row] = reportOf([[HOUR - SECOND, HOUR]], {}, [{ minCu: 1, maxCu: 1 }]).sizes;
  expect(row?.cu_hours).toBe(1);
  // One connection: the offered load is one second of the hour.
  const offered = 1 / 3_600;
  const [few] = reportOf([[HOUR - SECOND, HOUR]], { reserved: 103 }, [{ minCu: 0.25, maxCu: 0.25 }]).sizes;
  expect(few?.direct_limit).toBe(1);
  expect(few?.direct_refused_share_erlang).toBeCloseTo(offered / (1 + offered), 12);
});

test("pool waits are those of served requests only, not of those that gave up after two minutes", () => {
  // One server and 1 min per request: the first three are served, the other seven are not.
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
  "a fixed size is metered like a replay, from the end of each start: %o",
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

/** One request of 10 s a minute keeps 2 vCPUs busy. */
const bursts = Array.from({ length: 60 }, (_, index): Row => [index * 60 * SECOND, 10 * SECOND]);

test("a tolerated share of throttled time admits a smaller size", () => {
  const sizes = [1, 2].map((cu) => ({ minCu: cu, maxCu: cu }));
  const chosen = (tolerate: number) =>
    capacityPage(reportOf(bursts, { loadPerRequest: 2, tolerate }, sizes)).answer;
  expect(chosen(0)[0]).toMatch(/^2 CU, \$.* a month, assuming 2 vCPU per running request, /);
  // 20 of 60 s are throttled on 1 CU.
  expect(chosen(0.33)[0]).toMatch(/^2 CU, /);
  expect(chosen(0.34)[0]).toMatch(/^1 CU, /);
  expect(chosen(0.34)[1]).toMatch(
    /^It is the cheapest size that throttles at most 34 % of the active time and rejects at most 34 % of the requests\. It is throttled for 33\.3 % of the active time\.$/,
  );
});

test("a size is sufficient if it meets the SLO, in which a rejected request exceeds any wait", () => {
  const sizes = [0.25, 1, 2].map((cu) => ({ minCu: cu, maxCu: cu }));
  // Of 60 requests, 3 are together and need 6 vCPUs: on 2 CU each of these takes 20 s longer.
  const first: Row = [0, 10 * SECOND];
  const rows = [first, first, ...bursts];
  const answer = (share: number, waitMs: number) =>
    capacityPage(reportOf(rows, { loadPerRequest: 2, slo: { share, waitMs } }, sizes)).answer;
  expect(answer(0.95, 9_999)[0]).toMatch(/^2 CU, /);
  expect(answer(0.95, 10_000)[0]).toMatch(/^1 CU, /);
  expect(answer(0.96, 20_000)[0]).toMatch(/^2 CU, /);
  expect(answer(0.96, 20_000)[1]).toMatch(
    /^It is the cheapest size that meets "p96 wait < 20s", where a rejected request exceeds any wait\. .*; 0 % of the requests exceed the limit\.$/,
  );
  expect(answer(0.96, 19_999)[0]).toMatch(/^No size is sufficient, /);
  const many = Array.from({ length: 300 }, (): Row => [0, SECOND]);
  const [row] = reportOf(many, { loadPerRequest: 0.001, slo: { share: 0.9, waitMs: 60_000 } }, sizes).sizes;
  expect(row?.slo_missed_share).toBeCloseTo(
    ((row?.direct_refused ?? 0) + (row?.pooled_refused ?? 0)) / 300,
    9,
  );
  expect(row?.slo_missed_share).toBeGreaterThan(0.1);
});

test("an SLO for a source is about its requests, throttled or rejected", () => {
  // Three requests at once need 6 vCPUs of 1; the fourth is alone.
  const rows: Row[] = [0, 0, 0].map((at) => [at, 10 * SECOND, 0]);
  const missed = (of: readonly Row[], loadPerRequest: number, source?: string) => {
    const cu = loadPerRequest === 8 ? 1 : 0.25;
    const assumptions = { loadPerRequest, slo: { share: 0.9, waitMs: 60_000, source } };
    return reportOf(of, assumptions, [{ minCu: cu, maxCu: cu }]).sizes[0]?.slo_missed_share;
  };
  expect(missed([...rows, [1_800 * SECOND, SECOND, 1]], 8)).toBe(0.75);
  expect(missed([...rows, [1_800 * SECOND, SECOND, 1]], 8, "batch")).toBe(1);
  expect(missed([...rows, [1_800 * SECOND, SECOND, 1]], 8, "web")).toBe(0);
  // Of 300 requests of a source at once, as many are rejected as without the requests of the other.
  const many = Array.from({ length: 300 }, (): Row => [0, SECOND, 0]);
  const share = missed(many, 0.001) ?? 0;
  expect(share).toBeGreaterThan(0);
  expect(missed([...many, [60 * SECOND, SECOND, 1]], 0.001, "batch")).toBe(share);
  expect(missed([...many, [60 * SECOND, SECOND, 1]], 0.001, "web")).toBe(0);
});

test("the answer has the usual range, and what another share of the processor would change", () => {
  const sizes = [
    { minCu: 0.25, maxCu: 0.25 },
    { minCu: 2, maxCu: 2 },
    { minCu: 0.25, maxCu: 2 },
  ];
  const { answer } = capacityPage(reportOf(bursts, { loadPerRequest: 2 }, sizes));
  expect(answer).toContainEqual(
    expect.stringMatching(/^The usual range, 0\.25–2 CU: \$.* a month, not sufficient, throttled for /),
  );
  expect(answer.at(-1)).toMatch(
    /^0\.25–2 CU takes .* CU-hours in the period if a request keeps its vCPUs busy for 100 % of its duration, and .* if for 50 % \(--cpu-share\)\.$/,
  );
  const cuHours = (cpuShare: number, loadPerRequest: number) =>
    reportOf(bursts, { loadPerRequest, cpuShare }, sizes).sizes.map(({ cu_hours }) => cu_hours);
  expect(cuHours(0.5, 2)).toEqual(cuHours(1, 1));
});

test.each([
  ["p99 wait < 2s", { share: 0.99, waitMs: 2_000 }],
  ["p99.9 wait <= 500ms", { share: 0.999, waitMs: 500 }],
  ["p50 wait at most 1m", { share: 0.5, waitMs: 60_000 }],
])("an SLO is a percentile of the wait: %s", (text, slo) => {
  expect(parseSlo(text)?.share).toBeCloseTo(slo.share, 12);
  expect(parseSlo(text)?.waitMs).toBe(slo.waitMs);
});

test.each(["p0 wait < 2s", "p100 wait < 2s", "p99 wait > 2s", "p99 wait < 2", "wait < 2s", "p99 wait < s"])(
  "not an SLO: %s",
  (text) => expect(parseSlo(text)).toBeUndefined(),
);

test("the answer says which other loads would change it", () => {
  const sizes = [0.25, 1, 2].map((cu) => ({ minCu: cu, maxCu: cu }));
  const answer = (loadPerRequest: number) =>
    capacityPage(reportOf(bursts, { loadPerRequest }, sizes)).answer.at(-1);
  expect(answer(1)).toBe(
    "The answer depends on the load per running request: with 0.25 vCPU, 0.25 CU is sufficient; with 2 vCPU, 2 CU is sufficient; with 4 vCPU, no size is sufficient.",
  );
  expect(answer(0.01)).toBe("A quarter to four times that load would not change the size.");
  expect(reportOf(bursts, { loadPerRequest: 1 }, sizes).sensitivity.map(({ factor }) => factor)).toEqual([
    0.25, 0.5, 2, 4,
  ]);
});

test("a start costs reads from storage until the cache has recovered", () => {
  // A start every 400 s; 1,000 of 8,192 blocks per request, uniformly.
  const rows = Array.from(
    { length: 90 },
    (_, index): Row => [Math.floor(index / 10) * 400 * SECOND + (index % 10) * SECOND, 500],
  );
  const cache = { workingSetGb: 1 / 16, blocksPerRequest: 1_000, skew: 0, storageReadMs: 2 };
  const [row] = reportOf(rows, { cache }, [{ minCu: 1, maxCu: 1 }]).sizes;
  expect(row?.starts).toBe(9);
  expect(row?.cold_cache_reads).toBeGreaterThan(500);
  expect(row?.cold_cache_s).toBeCloseTo(((row?.cold_cache_reads ?? 0) * 2) / 1_000, 9);
  expect(reportOf(rows, {}, [{ minCu: 1, maxCu: 1 }]).sizes[0]).toMatchObject({
    cold_cache_reads: null,
    cold_cache_s: null,
  });
});

test("bursts of builds need few CU-hours of a range, but are throttled", () => {
  const period = { startAt: Date.parse("2026-01-05"), endAt: Date.parse("2026-01-12") };
  const builds = fleetTraffic({ computes: 6, seed: 5, patterns: ["bursts", "office-hours"], period });
  const work = capacityReport(
    builds,
    [{ minCu: 0.25, maxCu: 2 }],
    PROFILE,
    // Short starts: after starts of 3 s, the requests that waited would scale the range.
    questionFrom({ startLatency: PROFILES["2026"].durations.start_compute }),
    { loadPerRequest: 0.5, reserved: 7, poolBy: "compute" },
    randomFrom(1),
  );
  let step = work.next();
  while (step.done !== true) step = work.next();
  const [row] = step.value.sizes;
  // The number of running requests with a hold of a minute gave 103 CU-hours and no throttling.
  expect(row?.cu_hours).toBeCloseTo(53.1, 1);
  // Half of it is what the requests would need: each takes twice as long on half of its vCPUs.
  expect(row?.throttled_s).toBeGreaterThan(2 * 10_200);
  expect(row?.throttled_s).toBeLessThan(2 * 10_400);
});

test("figures of a month do not depend on a smaller size that falls behind", () => {
  // 40 requests of 90 s every 7 min keep 8.6 vCPUs busy: 0.25 CU needs 34 times the recorded time, and 10 CU is enough.
  const heavy = Array.from(
    { length: 3 * 40 },
    (_, index): Row => [Math.floor(index / 40) * 20 * MINUTES, 90 * SECOND],
  );
  const monthly = (...cu: readonly number[]) =>
    reportOf(
      heavy,
      { loadPerRequest: 1 },
      cu.map((size) => ({ minCu: size, maxCu: size })),
    ).sizes.map(({ cu_hours_per_month }) => cu_hours_per_month);
  const [small, large] = monthly(0.25, 10);
  expect(monthly(10)).toEqual([large]);
  expect(small).toBeCloseTo(0.25 * 730, 6);
  expect(large).toBeGreaterThan(10 * 200);
});

test("the interval of a size that falls behind does not count its arrears on one day", () => {
  const heavy = Array.from({ length: 14 * 24 }, (_, index): Row => [index * HOUR, HOUR]);
  const traffic = trafficOf({ ...traceOf(14 * 24 * HOUR, heavy), sources: ["batch"] });
  const work = capacityReport(
    traffic,
    SIZES.slice(0, 1),
    PROFILE,
    questionFrom({ startLatency: NO_LATENCY }),
    { loadPerRequest: 1, reserved: 7, poolBy: "compute" },
    randomFrom(1),
  );
  let step = work.next();
  while (step.done !== true) step = work.next();
  const [size] = step.value.sizes;
  expect(size?.cu_hours_per_month).toBeCloseTo(0.25 * 730, 3);
  expect(size?.margin_95?.cost_per_month).toBeLessThan(1);
});
