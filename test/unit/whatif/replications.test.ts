import { describe, expect, test } from "vitest";
import { normal } from "../../../src/kernel/random-port.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { parsePolicy } from "../../../src/whatif/policies/parse-policy.ts";
import {
  confidenceInterval,
  pairedDifference,
  replicationSeed,
} from "../../../src/whatif/units/replications.ts";
import { MEASURED_LATENCY } from "../../../src/whatif/units/start-latency.ts";
import { poisson, SECOND } from "../../support/traffic/traces.ts";
import { replayTrace } from "../../support/whatif/replay-trace.ts";

function replicate<T>(replications: number, seed: number, run: (seed: number) => T): T[] {
  return Array.from({ length: replications }, (_, index) => run(replicationSeed(seed, index)));
}

test("neighbouring seeds share no replication, and the first replication has the given seed", () => {
  const seedsOf = (seed: number) => replicate(1_000, seed, (each) => each);
  expect(seedsOf(1)[0]).toBe(1);
  expect(new Set([1, 2, 3].flatMap(seedsOf)).size).toBe(3_000);
  expect(seedsOf(7)).toEqual(seedsOf(7));
  for (const seed of seedsOf(2 ** 32 - 1)) expect(seed >= 0 && seed < 2 ** 32).toBe(true);
});

describe("an interval", () => {
  test("has the width of Student's table", () => {
    // 0.975 quantiles of t with 1, 9 and 29 degrees of freedom, as printed.
    for (const [n, quantile] of [
      [2, 12.7062],
      [10, 2.2622],
      [30, 2.0452],
    ] as const) {
      const values = Array.from({ length: n }, (_, index) => (index % 2 === 0 ? 1 : -1));
      const deviation = Math.sqrt(n / (n - 1));
      expect((confidenceInterval(values).halfWidth * Math.sqrt(n)) / deviation).toBeCloseTo(quantile, 4);
    }
    expect(confidenceInterval([4, 6])).toMatchObject({ mean: 5, replications: 2 });
  });

  test("of one replication is infinitely wide; none is an error", () => {
    expect(confidenceInterval([3])).toEqual({
      mean: 3,
      halfWidth: Number.POSITIVE_INFINITY,
      replications: 1,
    });
    expect(() => confidenceInterval([])).toThrow("replications: expected at least 1, got 0");
    expect(() => pairedDifference([1], [1, 2])).toThrow("replications: 1 cannot be paired with 2");
  });

  /**
   * Validation 9: of 1,000 experiments the share that covers has a standard error of 0.69 %, so 93.5–96.5 %
   * is two of them to both sides. The seed is fixed; of seeds drawn anew one in twenty would fail.
   */
  test("of 95 % covers the truth in 93.5 to 96.5 % of 1,000 experiments", () => {
    const source = randomFrom(9).stream("coverage", 0);
    const experiments = Array.from({ length: 1_000 }, () =>
      confidenceInterval(Array.from({ length: 8 }, () => 10 + 3 * normal(source))),
    );
    const covering =
      experiments.filter(({ mean, halfWidth }) => Math.abs(mean - 10) <= halfWidth).length / 1_000;
    expect(covering).toBeGreaterThanOrEqual(0.935);
    expect(covering).toBeLessThanOrEqual(0.965);
  });

  /** The same for the simulator itself, with a known true value: validation 2 without latency. */
  test("covers the cold starts of Poisson arrivals as often", () => {
    const [count, delay, meanS] = [200, 60, 60];
    const truth = Math.exp(-delay / meanS);
    const covering = replicate(1_000, 1_000, (seed) =>
      confidenceInterval(
        replicate(8, 8 * seed, (each) => {
          const { requests, period } = poisson(meanS * SECOND, count, randomFrom(each));
          const trace = { period, computes: [{ id: "poisson", arrivals: requests }] };
          const setting = {
            latency: { kind: "fixed", ms: 0 },
            coldStartS: 60,
            random: randomFrom(each),
          } as const;
          return replayTrace(trace, parsePolicy(`fixed:${delay}`), setting).coldStarts / (count - 1);
        }),
      ),
    ).filter(({ mean, halfWidth }) => Math.abs(mean - truth) <= halfWidth).length;
    expect(covering).toBeGreaterThanOrEqual(935);
    expect(covering).toBeLessThanOrEqual(965);
  });
});

test("common random numbers make the interval of a difference narrower than those of the two policies", () => {
  const waits = (policy: string) =>
    replicate(20, 50, (seed) => {
      const { requests, period } = poisson(100 * SECOND, 500, randomFrom(seed));
      const setting = { latency: MEASURED_LATENCY, coldStartS: 60, random: randomFrom(seed) };
      return replayTrace(
        { period, computes: [{ id: "poisson", arrivals: requests }] },
        parsePolicy(policy),
        setting,
      ).waits.mean(500);
    });
  const [present, other] = [waits("fixed:60"), waits("fixed:61")];
  expect(pairedDifference(other, present).halfWidth).toBeLessThan(confidenceInterval(present).halfWidth / 3);
  expect(waits("fixed:60")).toEqual(present);
});
