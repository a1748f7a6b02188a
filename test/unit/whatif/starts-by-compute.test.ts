import { expect, test } from "vitest";
import {
  addCompute,
  distributionOf,
  emptyStartsByCompute,
  mergeStartsByCompute,
} from "../../../src/whatif/replay/starts-by-compute.ts";

const NONE = { arrivals: 0, coldStarts: 0, firstStarts: 0 };

/** A compute with 100 requests, of which `coldStarts` and the first one start it. */
function startsOf(names: readonly string[], coldStartsOf: (index: number) => number) {
  const starts = emptyStartsByCompute();
  for (const [index, name] of names.entries()) {
    const coldStarts = coldStartsOf(index);
    addCompute(
      starts,
      name,
      NONE,
      { arrivals: 100, coldStarts, firstStarts: 1 },
      Array(coldStarts + 1).fill(500),
    );
  }
  return starts;
}

test("the share of cold starts includes the first request, and a compute without requests does not count", () => {
  const starts = startsOf(["a", "b", "c", "d"], (index) => index * 10);
  addCompute(starts, "unused", NONE, NONE, []);
  const { p25, p50, p75, highest } = distributionOf(starts.coldPercents, starts.mostColdStarts);
  expect([p25, p50, p75]).toEqual([1, 11, 21]);
  expect(highest[0]).toEqual({ compute: "d", value: 31 });
});

test("p99 is exceeded by at most 1 % of the requests, those that do not wait included", () => {
  expect(startsOf(["a"], () => 0).waitsP99Ms).toEqual([0]);
  expect(startsOf(["a"], () => 1).waitsP99Ms).toEqual([500]);
});

test("parts in any order name the same five computes", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  const whole = startsOf(names, (index) => index % 3);
  const parts = [names.slice(4), names.slice(0, 4)].map((part) =>
    startsOf(part, (index) => names.indexOf(part[index] as string) % 3),
  );
  const merged = emptyStartsByCompute();
  for (const part of parts) mergeStartsByCompute(merged, part);
  expect(merged.mostColdStarts).toEqual(whole.mostColdStarts);
  expect(merged.mostColdStarts.map(({ compute }) => compute)).toEqual(["c", "f", "b", "e", "a"]);
  expect(distributionOf(merged.coldPercents, [])).toEqual(distributionOf(whole.coldPercents, []));
});
