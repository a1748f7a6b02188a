import { describe, expect, test } from "vitest";
import { uniform } from "../../../src/kernel/random-port.ts";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { erlangB, erlangC, meanWait } from "../../../src/whatif/questions/capacity/erlang.ts";
import {
  directConnections,
  directLimit,
  POOL_WAIT_LIMIT_MS,
  type PoolRules,
  pooledConnections,
} from "../../../src/whatif/questions/capacity/pool-connections.ts";
import { replayScaling } from "../../../src/whatif/questions/capacity/scaling-replay.ts";
import type { Demand } from "../../../src/whatif/questions/capacity/scaling-setting.ts";
import { hitRatioOf, StackDistances } from "../../../src/whatif/questions/capacity/stack-distance.ts";
import { BEGIN, periodOf, poisson, type Row, requestsOf, SECOND } from "../../support/traffic/traces.ts";
import { WHOLE_SECONDS } from "../../support/whatif/whole-seconds.ts";

describe("Erlang's formulas (validation 7: known values, to the digits given)", () => {
  test("B(30, 25) is 0.0526 and C(3, 2) is 4/9", () => {
    expect(erlangB(30, 25)).toBeCloseTo(0.0526, 4);
    expect(erlangC(3, 2)).toBeCloseTo(4 / 9, 14);
    expect(meanWait(3, 2)).toBeCloseTo(4 / 9, 14);
  });

  test("without servers all arrivals are blocked, without load none; a load equal to the servers makes all wait", () => {
    expect([erlangB(0, 5), erlangB(5, 0), erlangC(5, 0), erlangC(2, 2), meanWait(2, 2)]).toEqual([
      1,
      0,
      0,
      1,
      Number.POSITIVE_INFINITY,
    ]);
  });

  test("thousands of servers cause no overflow or cancellation", () => {
    expect(erlangB(4_000, 3_900)).toBeGreaterThan(0);
    expect(erlangB(4_000, 3_900)).toBeLessThan(0.01);
  });

  test.each([
    [-1, 1, /servers: expected .*, got -1$/],
    [1.5, 1, /servers: expected .*, got 1.5$/],
    [1, -1, /offered: expected .*, got -1$/],
    [1, Number.NaN, /offered: expected .*, got NaN$/],
  ])("%d servers with a load of %d are an error that names the field", (servers, offered, message) => {
    expect(() => erlangB(servers, offered)).toThrow(message);
  });
});

/** Poisson arrivals with durations of equal mean: fixed, exponential, or 1 to 19. */
function sessions(offered: number, count: number, lengths: "fixed" | "exponential" | "mixed") {
  const meanMs = 60 * SECOND;
  const { requests } = poisson(meanMs / offered, count);
  const source = randomFrom(2).stream("lengths", 0);
  const length = {
    fixed: () => meanMs,
    exponential: () => Math.round(-Math.log(1 - uniform(source)) * meanMs),
    mixed: () => Math.round((meanMs / 10) * (uniform(source) < 0.5 ? 1 : 19)),
  }[lengths];
  return { at: requests.at, durationMs: requests.durationMs.map(length) };
}

describe("direct connections", () => {
  test("a connection is free again at the instant at which it ends", () => {
    expect(
      directConnections(
        requestsOf([
          [0, 10],
          [10, 10],
        ]),
        1,
      ),
    ).toEqual({ sessions: 2, refused: 0, judgedRefused: 0, peak: 1 });
    expect(
      directConnections(
        requestsOf([
          [0, 11],
          [10, 10],
        ]),
        1,
      ),
    ).toEqual({ sessions: 2, refused: 1, judgedRefused: 1, peak: 1 });
    expect(
      directConnections(
        requestsOf([
          [0, 11],
          [10, 10],
        ]),
      ),
    ).toEqual({ sessions: 2, refused: 0, judgedRefused: 0, peak: 2 });
  });

  test("the limit is the platform's for the minimum size, less reserved connections", () => {
    expect(directLimit(PROFILES["2024"], { minCu: 0.25, maxCu: 4 })).toBe(112);
    expect(directLimit(PROFILES["2024"], { minCu: 0.25, maxCu: 4 }, 7)).toBe(105);
    expect(directLimit(PROFILES["2026"], { minCu: 0.25, maxCu: 4 }, 1_000)).toBe(0);
  });

  /**
   * Blocking is correlated over service times: 400,000 arrivals at load 25 have 16,000 of them, so the
   * standard error is 2 %. Allows three.
   */
  test.each(["fixed", "exponential", "mixed"] as const)(
    "the share of rejected arrivals is Erlang's for %s durations",
    (lengths) => {
      const { refused } = directConnections(sessions(25, 400_000, lengths), 30);
      expect(Math.abs(refused / 400_000 / erlangB(30, 25) - 1)).toBeLessThan(0.06);
    },
  );
});

describe("pooled connections", () => {
  const rules = (poolSize: number, ceiling = 100): PoolRules => ({
    poolSize,
    ceiling,
    clients: 1e9,
    waitLimitMs: POOL_WAIT_LIMIT_MS,
  });

  test("the limit of clients includes waiting ones, and the next client is rejected at once", () => {
    const all = { at: new Float64Array(12_000).fill(BEGIN), durationMs: new Float64Array(12_000).fill(5) };
    const {
      refused,
      peak,
      sessions: count,
    } = pooledConnections(all, { ...rules(800, 900), clients: 10_000 });
    expect([refused, peak, count]).toEqual([2_000, 800, 12_000]);
  });

  /**
   * Reference, millisecond by millisecond: expire waits, end requests, serve waiting ones, accept or reject
   * arrivals.
   */
  test.each([1, 2, 3, 4])("random requests have the outcome of a simulation by millisecond (%i)", (seed) => {
    const source = randomFrom(seed).stream("pool", 0);
    const rows = Array.from({ length: 300 }, (): Row => [source() % 700, source() % 20]).sort(
      ([a], [b]) => a - b,
    );
    const [servers, clients, waitLimitMs] = [3, 8, 12];
    let [ends, line, refused, sumMs]: [number[], Row[], number, number] = [[], [], 0, 0];
    const serve = (now: number) => {
      for (let isDone = false; !isDone; ) {
        ends = ends.filter((end) => end > now);
        const next = ends.length < servers ? line.shift() : undefined;
        isDone = next === undefined;
        if (next === undefined) continue;
        sumMs += now - next[0];
        ends.push(now + (next[1] as number));
      }
    };
    for (let now = 0; now < 2_000; now += 1) {
      refused += line.filter(([at]) => now - at > waitLimitMs).length;
      line = line.filter(([at]) => now - at <= waitLimitMs);
      serve(now);
      for (const row of rows.filter(([at]) => at === now)) {
        if (ends.length + line.length >= clients) refused += 1;
        else line.push(row);
        serve(now);
      }
    }
    const outcome = pooledConnections(requestsOf(rows), {
      poolSize: servers,
      ceiling: 100,
      clients,
      waitLimitMs,
    });
    expect([outcome.refused, outcome.waits.sumMs]).toEqual([refused, sumMs]);
    expect(refused).toBeGreaterThan(10);
  });

  test("the first to arrive is served first, by the first free server", () => {
    const { waits, refused, peak } = pooledConnections(
      requestsOf([
        [0, 100],
        [0, 50],
        [10, 5],
        [20, 5],
      ]),
      rules(2),
    );
    // The third waits from 10 to 50, the fourth from 20 to 55.
    expect([waits.waited, waits.sumMs, refused, peak]).toEqual([2, 40 + 35, 0, 2]);
  });

  test("a wait of exactly the limit is still served, one millisecond more is not", () => {
    expect(
      pooledConnections(
        requestsOf([
          [0, 120_010],
          [10, 1],
        ]),
        rules(1),
      ),
    ).toMatchObject({ refused: 0 });
    expect(
      pooledConnections(
        requestsOf([
          [0, 120_011],
          [10, 1],
        ]),
        rules(1),
      ),
    ).toMatchObject({ refused: 1 });
  });

  test("pools do not wait for each other below the ceiling", () => {
    const rows: Row[] = [
      [0, 100, 0],
      [0, 100, 1],
      [10, 1, 2],
    ];
    expect(pooledConnections(requestsOf(rows), rules(1)).waits.waited).toBe(0);
    expect(pooledConnections(requestsOf(rows), rules(1, 2)).waits.sumMs).toBe(90);
  });

  test("at the ceiling the longest wait of any pool is served next", () => {
    const rows: Row[] = [
      [0, 100, 0],
      [5, 7, 2],
      [6, 7, 1],
    ];
    // The pool with the lower number waits until the other has been served.
    expect(pooledConnections(requestsOf(rows), rules(1, 1)).waits.sumMs).toBe(95 + 101);
  });

  /**
   * Waits are correlated: 400,000 arrivals at 80 % of 4 servers have about 10,000 busy periods, so 5 % is two
   * standard errors.
   */
  test("when no client gives up, the waits are Erlang's", () => {
    const [servers, offered] = [4, 3.2];
    const { waits, sessions: count } = pooledConnections(sessions(offered, 400_000, "exponential"), {
      ...rules(servers),
      waitLimitMs: 1e12,
    });
    expect(Math.abs(waits.waited / count / erlangC(servers, offered) - 1)).toBeLessThan(0.05);
    expect(Math.abs(waits.mean(count) / (60 * SECOND * meanWait(servers, offered)) - 1)).toBeLessThan(0.1);
  });
});

describe("cache hit ratio by size", () => {
  const read = (blocks: readonly (number | "start")[], rate?: number) => {
    const distances = new StackDistances(rate);
    for (const block of blocks) block === "start" ? distances.restart() : distances.access(block);
    return distances.histogram();
  };

  test("a block is still cached if fewer distinct blocks were used since than the cache holds", () => {
    const histogram = read([1, 2, 3, 1]);
    expect(hitRatioOf(histogram, 2)).toBe(0);
    expect(hitRatioOf(histogram, 3)).toBe(0.25);
  });

  test("the first use since a start is a miss in a cache of any size", () => {
    expect(hitRatioOf(read([1, "start", 1, 1]), 1_000)).toBe(1 / 3);
    expect(read([1, "start", 1]).misses).toBe(2);
    expect(hitRatioOf(read([]), 5)).toBe(0);
  });

  /** Compared with a simulated cache of each size, use by use. */
  test.each([1, 7, 50, 199])(
    "with %i blocks it hits what a simulated cache of that size hits, across many renumberings",
    (size) => {
      const source = randomFrom(4).stream("blocks", 0);
      const uses = Array.from({ length: 20_000 }, (_, index): number | "start" =>
        index % 7_000 === 6_999 ? "start" : Math.floor(200 * uniform(source) ** 2),
      );
      const cache = new Set<number>();
      let hits = 0;
      for (const use of uses) {
        if (use === "start") {
          cache.clear();
          continue;
        }
        if (cache.delete(use)) hits += 1;
        cache.add(use);
        if (cache.size > size) cache.delete(cache.values().next().value as number);
      }
      const histogram = read(uses);
      expect(hitRatioOf(histogram, size)).toBeCloseTo(hits / histogram.accesses, 12);
    },
  );

  /**
   * Errors of hit ratios over 20 samples of one block in ten, each of other blocks. The tolerances are the
   * errors of 300 further samples (root of the mean square), half as much again: of 20, that is three
   * standard errors of it. Where half of all uses are of a quarter of the blocks, which blocks the sample has
   * counts for most; followed always, the hottest tenth takes that away.
   */
  test.each([
    ["alike", 1, 0, [0.0059, 0.0163, 0.032, 0.0231]],
    ["unevenly", 2, 0, [0.0556, 0.0589, 0.0455, 0.0157]],
    ["unevenly, the hottest followed always", 2, 500, [0.0057, 0.0137, 0.0235, 0.0091]],
  ] as const)(
    "sampling blocks that are used %s gives nearly the same ratios",
    (_, skew, always, tolerances) => {
      const sizes = [250, 1_000, 2_500, 5_000];
      const squares = sizes.map(() => 0);
      for (let seed = 1; seed <= 20; seed += 1) {
        const source = randomFrom(seed).stream("blocks", 0);
        const [exact, sampled] = [new StackDistances(), new StackDistances(0.1, always)];
        for (let use = 0; use < 40_000; use += 1) {
          const rank = Math.floor(5_000 * uniform(source) ** skew);
          const block = rank < always ? rank : rank + seed * 10_007;
          exact.access(block);
          sampled.access(block);
        }
        const [right, near] = [exact.histogram(), sampled.histogram()];
        for (const [index, size] of sizes.entries())
          squares[index] =
            (squares[index] as number) + (hitRatioOf(near, size) - hitRatioOf(right, size)) ** 2;
      }
      for (const [index, size] of sizes.entries())
        expect(Math.sqrt((squares[index] as number) / 20), `${size}`).toBeLessThan(
          tolerances[index] as number,
        );
    },
  );

  test.each([0, -1, 1.01, Number.NaN])("a rate of %d is an error", (rate) => {
    expect(() => new StackDistances(rate)).toThrow(/^rate: expected a number above 0 and up to 1, got /);
  });
});

describe("autoscaling", () => {
  const profile = PROFILES["2024"];
  const minute = 60 * SECOND;
  type Limits = { readonly minCu: number; readonly maxCu: number };
  const ALWAYS = { delay: "never", latencies: { at: () => 0 }, readings: WHOLE_SECONDS } as const;
  const run = (rows: readonly Row[], demand: Demand, range: Limits, lengthMs = minute) =>
    replayScaling(requestsOf(rows), demand, { ...ALWAYS, period: periodOf(lengthMs) }, range, profile);
  const fixedSize = (cu: number) => ({ minCu: cu, maxCu: cu });

  test("a steady load of 3.6 grows the size step by step as its average approaches it", () => {
    const resizes: (readonly [number, number])[] = [];
    const observer = {
      started: () => {},
      suspended: () => {},
      ended: () => {},
      resized: (at: number, cu: number) => resizes.push([(at - BEGIN) / SECOND, cu]),
    };
    // Nine tenths of 4 CU, of which 1 − 0.91992^k is reached at reading k: 16 steps × that, rounded.
    const outcome = replayScaling(
      requestsOf([[0, 60 * minute]]),
      { loadPerRequest: 3.6 },
      { ...ALWAYS, period: periodOf(60 * minute) },
      { minCu: 1, maxCu: 4 },
      profile,
      undefined,
      observer,
    );
    // (1 − 0.71613) × 16 = 4.54 steps at 20 s; 15.5 steps need 0.91992^k ≤ 0.03125, that is k = 42.
    expect(resizes[0]).toEqual([20, 1.25]);
    expect(resizes.at(-1)).toEqual([210, 4]);
    expect([resizes.length, outcome.scaleEvents]).toEqual([12, 12]);
  });

  test("a request that no reading sees changes no size, however large its load", () => {
    const short: Row[] = [
      [0, 5 * SECOND],
      [6 * SECOND, 4 * SECOND],
    ];
    expect(run(short, { loadPerRequest: 1 }, { minCu: 1, maxCu: 4 })).toMatchObject({
      scaleEvents: 0,
      cuMs: minute,
    });
  });

  test("requests that need more vCPUs than there are share them, and take longer", () => {
    // Two vCPUs on one: half the speed.
    const alone = run([[0, 10 * SECOND]], { loadPerRequest: 2 }, fixedSize(1));
    expect([alone.throttledMs, alone.addedWaits.sumMs]).toEqual([20 * SECOND, 10 * SECOND]);
    // The first has 5 s left when the second arrives, needs 10 s for them, and leaves 5 s of the second.
    const rows: Row[] = [
      [0, 10 * SECOND],
      [5 * SECOND, 10 * SECOND],
    ];
    const two = run(rows, { loadPerRequest: 1 }, fixedSize(1));
    expect([two.throttledMs, two.addedWaits.sumMs, two.addedWaits.waited]).toEqual([
      10 * SECOND,
      10 * SECOND,
      2,
    ]);
    expect(run(rows, { loadPerRequest: 1 }, fixedSize(2))).toMatchObject({ throttledMs: 0 });
    expect(two.cuMs).toBe(minute);
  });

  test("a throttled request keeps its compute active for longer, and later requests find it active", () => {
    const rows: Row[] = [
      [0, 40 * SECOND],
      [130 * SECOND, SECOND],
    ];
    const at = (loadPerRequest: number) =>
      replayScaling(
        requestsOf(rows),
        { loadPerRequest },
        {
          delay: 60,
          latencies: { at: () => 0 },
          readings: WHOLE_SECONDS,
          period: periodOf(600 * SECOND),
        },
        fixedSize(1),
        profile,
      );
    expect(at(1)).toMatchObject({ starts: 2, activeMs: (40 + 60 + 1 + 60) * SECOND });
    expect(at(2)).toMatchObject({ starts: 1, activeMs: (130 + 2 + 60) * SECOND });
  });

  /** 400,000 requests at 70 %: the mean wait of a shared processor is S ρ / (1 − ρ). */
  test("the added wait of a shared processor is that of M/M/1 with processor sharing", () => {
    const { at, durationMs } = sessions(0.7, 400_000, "exponential");
    const period = { startAt: BEGIN, endAt: (at.at(-1) ?? BEGIN) + 1 };
    const outcome = replayScaling(
      { at, durationMs },
      { loadPerRequest: 1 },
      { ...ALWAYS, period },
      fixedSize(1),
      profile,
    );
    const expected = (60 * SECOND * 0.7) / 0.3;
    expect(Math.abs(outcome.addedWaits.mean(at.length) / expected - 1)).toBeLessThan(0.1);
  });

  /**
   * 60 requests a second of 4 s on average, each of a hundredth of a vCPU: the load is Poisson with mean 2.4,
   * its average over a minute nearly normal. The earlier rule, the highest load of the last minute, gave whole
   * CUs.
   */
  test("a steady load of 2.4 gets the size that theory gives, and not that of its peaks", () => {
    const [load, meanMs, hours] = [0.01, 4 * SECOND, 4];
    const source = randomFrom(3).stream("lengths", 0);
    const { requests, period } = poisson(1_000 / 60, 60 * 3_600 * hours);
    const durationMs = requests.durationMs.map(() => Math.round(-Math.log(1 - uniform(source)) * meanMs));
    const { cuMs, activeMs } = replayScaling(
      { at: requests.at, durationMs },
      { loadPerRequest: load },
      { ...ALWAYS, period },
      { minCu: 0.25, maxCu: 10 },
      profile,
    );
    const deviation = Math.sqrt((2.4 * load * meanMs) / (meanMs + minute));
    const steps = Array.from({ length: 21 }, (_, index) => index).reduce((sum, step) => {
      const upTo = (goal: number) => normalCdf((goal * 0.9 * 0.25 - 2.4) / deviation);
      return sum + step * (upTo(step + 0.5) - upTo(step - 0.5));
    }, 0);
    expect(steps).toBeCloseTo(10.8, 1);
    expect(Math.abs(cuMs / activeMs / 0.25 / steps - 1)).toBeLessThan(0.02);
  });

  test("memory and working set need their size from the first reading on, and throttle nothing", () => {
    const all = (demand: Partial<Demand>) =>
      run([[0, minute]], { loadPerRequest: 0, ...demand }, { minCu: 1, maxCu: 4 });
    const after5s = (cu: number) => 5 * SECOND + 55 * SECOND * cu;
    expect(all({ memoryGbPerRequest: 3 }).cuMs).toBe(minute);
    expect(all({ memoryGbPerRequest: 3.01 }).cuMs).toBe(after5s(1.25));
    expect(all({ workingSetGb: 6.01 }).cuMs).toBe(after5s(2.25));
    expect(all({ workingSetGb: 60 })).toMatchObject({ cuMs: after5s(4), throttledMs: 0, scaleEvents: 1 });
    // While nothing runs the working set still counts; memory does not.
    const moment = run(
      [[0, 0]],
      { loadPerRequest: 0, memoryGbPerRequest: 9, workingSetGb: 6 },
      { minCu: 1, maxCu: 4 },
    );
    expect(moment.cuMs).toBe(after5s(2));
  });

  test("each request has the load that its journal states", () => {
    const rows = requestsOf([[0, 10 * SECOND]]);
    const loaded = { ...rows, load: Float64Array.of(2) };
    const setting = { ...ALWAYS, period: periodOf(minute) };
    expect(replayScaling(loaded, { loadPerRequest: 1 }, setting, fixedSize(1), profile).throttledMs).toBe(
      20 * SECOND,
    );
  });

  /** Reference, reading by reading, with loads that are never throttled. */
  test.each([1, 2, 3, 4, 5])("random requests have the sizes of a simulation by reading (%i)", (seed) => {
    const source = randomFrom(seed).stream("scaling", 0);
    const rows = Array.from(
      { length: 60 },
      (): Row => [SECOND * (source() % 900), SECOND * ([0, 0, 1, 3, 20, 90][source() % 6] as number)],
    );
    rows.push([0, 0]);
    rows.sort(([a], [b]) => a - b);
    const demand = { loadPerRequest: 0.2, memoryGbPerRequest: 2.9, workingSetGb: 1 };
    let [cuMs, scaleEvents, size, load1] = [5 * SECOND, 0, 1, 0];
    for (let at = 5 * SECOND; at < 1_000 * SECOND; at += 5 * SECOND) {
      const running = rows.filter(([from, length = 0]) => from <= at && at < from + length).length;
      load1 = (load1 * 1_884 + running * 0.2 * 164) / 2_048;
      const used = running * 2.9;
      const steps = Math.max(
        Math.round(load1 / 0.9 / 0.25),
        Math.ceil(used / 0.75),
        Math.ceil((used + 1) / 0.9),
        2,
      );
      const goal = Math.min(8, Math.max(1, steps / 4));
      if (goal !== size) scaleEvents += 1;
      size = goal;
      cuMs += 5 * SECOND * size;
    }
    const outcome = run(rows, demand, { minCu: 1, maxCu: 8 }, 1_000 * SECOND);
    expect(outcome).toMatchObject({ cuMs, throttledMs: 0, scaleEvents });
    expect(scaleEvents).toBeGreaterThan(5);
  });
});

function normalCdf(z: number): number {
  // Abramowitz and Stegun 26.2.17, accurate to 1e-7.
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const tail =
    (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z > 0 ? 1 - tail : tail;
}
