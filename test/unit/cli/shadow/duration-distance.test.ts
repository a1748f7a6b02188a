import { expect, test } from "vitest";
import { distanceLimit, durationDistance } from "../../../../src/cli/shadow/duration-distance.ts";
import { type DurationDistribution, drawDuration } from "../../../../src/kernel/distribution.ts";
import { randomFrom } from "../../../../src/simulation/random.ts";

const DRAWS = 2_000;

const DISTRIBUTIONS: readonly DurationDistribution[] = [
  { kind: "fixed", ms: 3_000 },
  { kind: "uniform", minMs: 100, maxMs: 400 },
  { kind: "lognormal", medianMs: 500, sigma: 0.8, maxMs: 2_000 },
  { kind: "empirical", quantilesMs: [200, 250, 250, 900, 4_000] },
];

function sortedDraws(distribution: DurationDistribution): readonly number[] {
  const random = randomFrom(20_260_101);
  return Array.from({ length: DRAWS }, (_, number) =>
    drawDuration(distribution, () => random.stream("duration", number)),
  ).toSorted((one, other) => one - other);
}

test.each(DISTRIBUTIONS)(
  "draws of %j are within the limit of their own distribution only",
  (distribution) => {
    const sorted = sortedDraws(distribution);
    const limit = distanceLimit(DRAWS, undefined);
    for (const other of DISTRIBUTIONS) {
      const distance = durationDistance(sorted, other);
      if (other === distribution) expect(distance).toBeLessThan(limit);
      else expect(distance).toBeGreaterThan(limit);
    }
  },
);

test("the limit is larger if the profile comes from a sample, too", () => {
  expect(distanceLimit(100, undefined)).toBeCloseTo(0.269, 3);
  expect(distanceLimit(100, 100)).toBeCloseTo(0.269 * Math.SQRT2, 3);
});
