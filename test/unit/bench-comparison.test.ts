import { expect, test } from "vitest";
import { compareFigures, renderComparison } from "../../bench/comparison.ts";
import { comparedFigure, type Figure, plainFigure } from "../../bench/figure.ts";

const figure = (unit: string, ratios: readonly number[], name = "reads"): Figure =>
  comparedFigure(
    name,
    unit,
    "node:http",
    ratios.map((own) => ({ own, baseline: 1 })),
  );

test.each([
  ["a rate that falls", "/s", [0.6], [0.5], -0.17, true],
  ["a rate that rises", "/s", [0.5], [0.6], 0.2, false],
  ["a time that rises", "ms", [1], [1.2], -0.17, true],
  ["a time that falls", "ms", [1.2], [1], 0.2, false],
  ["a rate within the tolerance", "/s", [1], [0.91], -0.09, false],
  ["a rate that is as before in a quarter of the rounds", "/s", [1], [0.5, 0.5, 0.5, 1, 1], -0.5, false],
])("%s", (_, unit, before, now, gain, isWorse) => {
  const { ratios, unmatched } = compareFigures([figure(unit, before)], [figure(unit, now)]);
  expect(ratios).toMatchObject([{ figure: "reads", what: "node:http", isWorse }]);
  expect(ratios[0]?.gain).toBeCloseTo(gain, 2);
  expect(unmatched).toBe(0);
});

test("only ratios of the same figure are compared, and the others are counted", () => {
  const before = [figure("/s", [1]), figure("/s", [1], "old"), plainFigure("size", "MiB", 5)];
  const now = [figure("/s", [0.5]), figure("ms", [1]), plainFigure("size", "MiB", 50)];
  const comparison = compareFigures(before, now);
  expect(comparison.unmatched).toBe(2);
  expect(renderComparison(comparison)).toBe(
    [
      "WORSE   -50 %  1.00 -> 0.500  reads (node:http)",
      "1 of 1 ratios are worse by more than 10 %; 2 are in one run only\n",
    ].join("\n"),
  );
});
