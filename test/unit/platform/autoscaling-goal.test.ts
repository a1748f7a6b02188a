import { describe, expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { LoadAverage, loadUnits } from "../../../src/platform/model/load-average.ts";
import {
  goalSizeCu,
  type ScalingMetrics,
} from "../../../src/platform/rules/compute/autoscaling/autoscaling-goal.ts";

const WIDE = { minCu: 0.25, maxCu: 10 };
const goal = (metrics: Partial<ScalingMetrics>, range = WIDE) =>
  goalSizeCu({ load1: 0, ...metrics }, range, PROFILES["2024"]);

describe("the goal of a reading", () => {
  test.each([
    // load1 / 0.9 / 0.25, rounded to the nearest step of 0.25 CU.
    [0, 0.25], // 0 steps, but at least the minimum
    [0.3374, 0.25], // 1.4996
    [0.3376, 0.5], // 1.5004
    [0.9, 1], // 4
    [1, 1], // 4.44: no longer the next larger size
    [1.0124, 1], // 4.4996
    [1.0126, 1.25], // 4.5004
    [2.4, 2.75], // 10.67
    [8.99, 10], // 39.96
    [100, 10],
  ])("a load average of %d needs %d CU", (load1, cu) => {
    expect(goal({ load1 })).toBe(cu);
  });

  test("used memory fills at most three quarters; a step has 1 GB, and parts of a step round up", () => {
    expect(goal({ usedMemoryGb: 3 })).toBe(1);
    expect(goal({ usedMemoryGb: 3.01 })).toBe(1.25);
  });

  test("the cache gets three quarters of the memory, and must hold the working set", () => {
    expect(goal({ workingSetGb: 6 })).toBe(2);
    expect(goal({ workingSetGb: 6.01 })).toBe(2.25);
  });

  test("used memory and the cached working set fill at most nine tenths together", () => {
    // (2 + 6) / 0.9 = 8.89 GB, that is 9 steps. The working set alone needs 8 steps, used memory 3.
    expect(goal({ usedMemoryGb: 2, workingSetGb: 6 })).toBe(2.25);
    // Exactly 9 GB: 10 steps.
    expect(goal({ usedMemoryGb: 3, workingSetGb: 6 })).toBe(2.5);
  });

  test("the largest of the terms wins, within the limits", () => {
    expect(goal({ load1: 2.4, usedMemoryGb: 3, workingSetGb: 1 })).toBe(2.75);
    expect(goal({ load1: 0.1, usedMemoryGb: 9, workingSetGb: 1 })).toBe(3);
    expect(goal({ load1: 9 }, { minCu: 0.5, maxCu: 2 })).toBe(2);
    expect(goal({}, { minCu: 0.5, maxCu: 2 })).toBe(0.5);
  });
});

describe("the load average", () => {
  /** The step of the kernel, with its fixed-point factor of 1884/2048. */
  const step = (load1: number, load: number) => load1 * (1_884 / 2_048) + load * (164 / 2_048);

  test("moves toward the load of each reading as the kernel's does", () => {
    const average = new LoadAverage();
    average.count(loadUnits(1));
    expect(average.load1).toBeCloseTo(0.080078125, 12);
    average.count(loadUnits(1));
    // 0.080078125 × 0.919921875 + 0.080078125
    expect(average.load1).toBeCloseTo(0.153743743896484, 12);
    average.count(0);
    expect(average.load1).toBeCloseTo(0.141432233, 9);
  });

  test("reaches 63 % of a steady load after about a minute, and falls to 37 % of it as fast", () => {
    const average = new LoadAverage();
    average.count(loadUnits(4), 12);
    expect(average.load1 / 4).toBeCloseTo(0.6327, 3);
    average.count(loadUnits(4), 10_000);
    expect(average.load1).toBe(4);
    average.count(0, 12);
    expect(average.load1 / 4).toBeCloseTo(0.3673, 3);
  });

  test("many readings at once give the same bits as one after another", () => {
    const loads = [0, 0, 3, 3, 3, 0.5, 0.5, 0, 0, 0, 0, 7, 7, 0].map(loadUnits);
    const [single, grouped] = [new LoadAverage(), new LoadAverage()];
    let byHand = 0;
    for (const load of loads) {
      single.count(load);
      byHand = step(byHand, load / 1e6);
    }
    for (let i = 0; i < loads.length; ) {
      let count = 1;
      while (loads[i + count] === loads[i]) count += 1;
      grouped.count(loads[i] as number, count);
      i += count;
    }
    expect(grouped.load1).toBe(single.load1);
    expect(single.load1).toBeCloseTo(byHand, 12);
    expect(new LoadAverage(single.state).load1After(loadUnits(2), 5)).toBe(
      grouped.load1After(loadUnits(2), 5),
    );
  });

  test("tells the reading at which the goal changes, without counting up to it", () => {
    const average = new LoadAverage();
    average.count(loadUnits(4), 10_000);
    const goalFor = (load1: number) => goal({ load1 });
    // From 4 down to 0.3374 or less takes ln(0.0844) / ln(0.91992) = 29.6 readings, but the first step already
    // changes 17.8 to 16.4 steps.
    expect(average.readingsUntilOther(4.5, 0, 1_000, goalFor)).toBe(1);
    average.count(0, 29);
    expect(goal({ load1: average.load1 })).toBe(0.5);
    expect(average.readingsUntilOther(0.5, 0, 1_000, goalFor)).toBe(1);
    average.count(0);
    expect(goal({ load1: average.load1 })).toBe(0.25);
    expect(average.readingsUntilOther(0.25, 0, 1_000_000, goalFor)).toBeUndefined();
    // From 0.3282 to 0.3375 under a load of 0.4: (0.4 − 0.3375) / (0.4 − 0.3282) = 0.87 is 1.67 readings.
    expect(average.readingsUntilOther(0.25, loadUnits(0.4), 10, goalFor)).toBe(2);
    expect(average.readingsUntilOther(0.25, loadUnits(0.4), 1, goalFor)).toBeUndefined();
  });
});
