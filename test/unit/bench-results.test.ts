import { expect, test } from "vitest";
import { BENCHMARKS } from "../../bench/all-benchmarks.ts";
import { comparedFigure, plainFigure } from "../../bench/figure.ts";
import { readMeasured } from "../../bench/measured-run.ts";
import { renderResults, updateResultsPage } from "../../bench/results-page.ts";

test("the page of benchmarks has the recorded results of every run", () => {
  const runs = readMeasured(BENCHMARKS);
  expect(runs.length).toBeGreaterThan(0);
  expect(updateResultsPage(runs, true)).toBe(true);
});

test("a recorded run is a table with its date and the machine", () => {
  const rendered = renderResults([
    {
      ...{ name: "reads", measures: "lists, compared with a | b" },
      ...{ measuredOn: "2026-11-28", node: "20.20.2", cores: 2, loadBefore: 0.4 },
      figures: [
        comparedFigure("GET projects", "/s", "a | b", [{ own: 1_000, baseline: 4_000 }], {
          of: "ratio",
          atLeast: 0.4,
        }),
        plainFigure("  of which JSON", "us", 12.34),
      ],
    },
  ]);
  expect(rendered.split("\n")).toEqual([
    "",
    "### reads",
    "",
    "Lists, compared with a | b. 2026-11-28, 2 cores, Node 20.20.2, load average before the run 0.4.",
    "",
    "| Figure | Value | Baseline | Ratio | Target | Reached |",
    "| --- | --- | --- | --- | --- | --- |",
    "| GET projects | 1,000 /s | 4,000 (a \\| b) | 0.25 x | >= 0.4 x | NO |",
    "| &emsp;of which JSON | 12.3 us | - | - | - | - |",
    "",
  ]);
});
