import jStat from "jstat";
import { describe, expect, test } from "vitest";
import { parseObject, renderObject } from "../../src/control-api/http/render-object.ts";
import { type DurationDistribution, drawDuration } from "../../src/kernel/distribution.ts";
import type { Calibration } from "../../src/platform/catalog/calibration.ts";
import { PROFILES } from "../../src/platform/catalog/defaults-and-limits.ts";
import { OPERATION_ACTIONS, type OperationAction } from "../../src/platform/catalog/operation-actions.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import { meanLatencyMs } from "../../src/whatif/units/mean-latency.ts";
import { createBranch } from "../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../support/double/double.ts";
import { createFileDouble } from "../support/double/file-double.ts";

const DRAWS = 10_000;
/** The Kolmogorov-Smirnov statistic that 10,000 draws of the same distribution exceed in 1 of 1,000 cases. */
const KS_LIMIT = 1.95 / Math.sqrt(DRAWS);

type Lognormal = Extract<DurationDistribution, { readonly kind: "lognormal" }>;

/** Every varied duration of the catalog. */
const VARIED = Object.values(PROFILES).flatMap(({ name, variedDurations }) =>
  OPERATION_ACTIONS.map((action) => [name, action, variedDurations[action]] as const),
);

/** In ascending order. */
function draws(distribution: DurationDistribution, seed: number): readonly number[] {
  const random = randomFrom(seed);
  return Array.from({ length: DRAWS }, (_, number) =>
    drawDuration(distribution, () => random.stream("operation-duration", number)),
  ).toSorted((one, other) => one - other);
}

function lognormal(distribution: DurationDistribution): Lognormal {
  if (distribution.kind !== "lognormal") throw new Error(`a ${distribution.kind} duration does not vary`);
  return distribution;
}

describe.each(VARIED)("in the profile of %s, the durations of %s", (_, action, distribution) => {
  const { medianMs, sigma, maxMs } = lognormal(distribution);
  const sorted = draws(distribution, 20_260_101 + OPERATION_ACTIONS.indexOf(action));

  test("are distributed as the catalog says", () => {
    // Draws are whole milliseconds: k is every value from k - 0.5 to k + 0.5.
    const cdf = (ms: number) => jStat.normal.cdf(Math.log(ms + 0.5), Math.log(medianMs), sigma);
    const distance = Math.max(
      ...sorted.map((ms, index) => {
        const isLastOfItsValue = sorted[index + 1] !== ms;
        return isLastOfItsValue ? Math.abs((index + 1) / DRAWS - cdf(ms)) : 0;
      }),
    );
    expect(distance).toBeLessThan(KS_LIMIT);
  });

  test("have the mean, the median and the 99th percentile of the catalog, and stay below its limit", () => {
    const p99 = medianMs * Math.exp(sigma * jStat.normal.inv(0.99, 0, 1));
    const mean = medianMs * Math.exp(sigma ** 2 / 2);
    expect((sorted[DRAWS / 2] ?? 0) / medianMs).toBeCloseTo(1, 1);
    expect((sorted[DRAWS * 0.99] ?? 0) / p99).toBeGreaterThan(0.85);
    expect((sorted[DRAWS * 0.99] ?? 0) / p99).toBeLessThan(1.15);
    expect(sorted.reduce((sum, ms) => sum + ms, 0) / DRAWS / mean).toBeCloseTo(1, 1);
    expect(sorted[0]).toBeGreaterThan(0);
    expect(sorted.at(-1)).toBeLessThanOrEqual(maxMs);
  });
});

/** The action and the duration of each operation that an hour of API calls and queries schedules, in order. */
async function operationsOfAnHour(
  double: Double,
): Promise<readonly (readonly [action: OperationAction, ms: number])[]> {
  const { projectId, endpointId, path } = await createProject(double);
  await double.advance("5m");
  for (let round = 0; round < 8; round += 1) {
    await createBranch(double, projectId, [{ type: "read_write" }]);
    await double.sim("POST", "/activity", { endpoint_id: endpointId, kind: "query" });
    await double.advance("1m");
    await double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 1 + (round % 3) } });
    await double.advance("1m");
    await double.api("POST", `${path}/suspend`);
    await double.advance("5m");
  }
  const { events } = (await double.sim("GET", "/events?limit=10000")).body;
  return (events as readonly RecordedScheduling[]).flatMap(({ type, operation }) =>
    type === "OperationScheduled" ? [[operation.action, operation.duration_ms] as const] : [],
  );
}

type RecordedScheduling = {
  readonly type: string;
  readonly operation: { readonly action: OperationAction; readonly duration_ms: number };
};

test("a world with varied durations draws each from its action's distribution, by seed and number", async () => {
  const seed = 4711;
  const operations = await operationsOfAnHour(await createDouble({ seed, durations: "varied" }));
  const random = randomFrom(seed);
  const expected = operations.map(([action], index) => [
    action,
    drawDuration(PROFILES["2024"].variedDurations[action], () =>
      random.stream("operation-duration", index + 1),
    ),
  ]);
  const recorded = operations.map(([action, ms], index) => [action, ms === 0 ? 0 : expected[index]?.[1]]);
  expect(operations).toEqual(recorded);
  for (const action of ["create_branch", "start_compute", "apply_config", "suspend_compute"] as const) {
    const different = new Set(operations.filter(([of, ms]) => of === action && ms > 0).map(([, ms]) => ms));
    expect(different.size, action).toBeGreaterThan(3);
  }
});

test("worlds with varied durations are the same for the same seed, and differ for another one", async () => {
  const [one, same, other] = await Promise.all(
    [1, 1, 2].map(
      async (seed) => await operationsOfAnHour(await createDouble({ seed, durations: "varied" })),
    ),
  );
  expect(same).toEqual(one);
  expect(other).not.toEqual(one);
});

test("a reopened world continues with the durations that it would have drawn", async () => {
  const stored = await createFileDouble({ seed: 9, durations: "varied" });
  try {
    const inMemory = await createDouble({ seed: 9, durations: "varied" });
    const before = await operationsOfAnHour(stored.double());
    await stored.reopen();
    expect((await stored.double().sim("GET", "/state")).body.world).toMatchObject({ durations: "varied" });
    const after = await operationsOfAnHour(stored.double());
    const [firstHour, secondHour] = [await operationsOfAnHour(inMemory), await operationsOfAnHour(inMemory)];
    expect(before).toEqual(firstHour);
    expect(after).toEqual(secondHour);
  } finally {
    await stored.end();
  }
});

test("constant durations are those of earlier releases: 1 s each, and 3 s or 500 ms for a start", async () => {
  for (const [profile, startMs] of [
    ["2024", 3_000],
    ["2026", 500],
  ] as const) {
    const operations = await operationsOfAnHour(await createDouble({ profile, durations: "constant" }));
    expect(operations.length).toBeGreaterThan(20);
    for (const [action, ms] of operations)
      expect([0, action === "start_compute" ? startMs : 1_000], action).toContain(ms);
  }
});

/** As a profile file gives it. */
const CALIBRATION: Calibration = {
  name: "shop",
  durations: [
    {
      action: "start_compute",
      takes: { kind: "empirical", quantilesMs: [200, 250, 300, 320, 900, 4_000] },
    },
  ],
  failures: [{ action: "start_compute", share: 0.25 }],
};

test("the control API gives the figures of a calibrated world so that its readers get them back", () => {
  expect(parseObject(renderObject(CALIBRATION))).toEqual(CALIBRATION);
});

test("draws of an empirical distribution are distributed as its quantiles, and have its mean", () => {
  const quantilesMs = [200, 250, 300, 320, 900, 4_000];
  const sorted = draws({ kind: "empirical", quantilesMs }, 20_260_107);
  const shares = sorted.map((ms, index) => {
    const above = quantilesMs.findIndex((quantile) => quantile > ms + 0.5);
    const [low = 0, high = 0] = quantilesMs.slice(above - 1, above + 1);
    const share = above === -1 ? 1 : (above - 1 + (ms + 0.5 - low) / (high - low)) / (quantilesMs.length - 1);
    return sorted[index + 1] === ms ? 0 : Math.abs((index + 1) / DRAWS - share);
  });
  expect(Math.max(...shares)).toBeLessThan(KS_LIMIT);
  const mean = sorted.reduce((sum, ms) => sum + ms, 0) / DRAWS;
  expect(mean / meanLatencyMs({ kind: "empirical", quantilesMs })).toBeCloseTo(1, 1);
  expect(sorted[0]).toBeGreaterThanOrEqual(200);
  expect(sorted.at(-1)).toBeLessThanOrEqual(4_000);
});

test("a calibrated world keeps its figures when it is reopened, replayed and forked", async () => {
  const options = { seed: 11, durations: "varied", calibration: CALIBRATION } as const;
  const stored = await createFileDouble({ ...options });
  try {
    const inMemory = await createDouble({ ...options });
    const before = await operationsOfAnHour(stored.double());
    await stored.reopen();
    const calibration = { name: "shop", failures: [{ action: "start_compute", share: 0.25 }] };
    expect((await stored.double().sim("GET", "/state?at=1")).body.world).toMatchObject({ calibration });
    expect((await stored.double().sim("POST", "/worlds", { name: "fork", at: 1 })).status).toBe(201);
    const inFork = await stored.double().fetch(new Request("http://localhost/w/fork/_sim/state"));
    expect(await inFork.json()).toMatchObject({ world: { calibration } });
    const after = await operationsOfAnHour(stored.double());
    expect([before, after]).toEqual([await operationsOfAnHour(inMemory), await operationsOfAnHour(inMemory)]);
    const starts = before.flatMap(([action, ms]) => (action === "start_compute" ? [ms] : []));
    expect(Math.max(...starts)).toBeLessThanOrEqual(4_000);
    expect(Math.min(...starts)).toBeGreaterThanOrEqual(200);
  } finally {
    await stored.end();
  }
});
