import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { capacityCharts } from "../../../src/whatif/questions/capacity/capacity-charts.ts";
import { capacityPage } from "../../../src/whatif/questions/capacity/capacity-page.ts";
import {
  type CapacityReport,
  capacityReport,
} from "../../../src/whatif/questions/capacity/capacity-report.ts";
import { startsCharts } from "../../../src/whatif/questions/starts/starts-charts.ts";
import { startsReport } from "../../../src/whatif/questions/starts/starts-report.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { money } from "../../../src/whatif/units/number-format.ts";
import { DAY, HOUR, type Row, SECOND, traceOf } from "../../support/traffic/traces.ts";

/** One request of 1 s every 10 s, with a working set that every size holds. */
function capacityOfSizes(...cus: readonly number[]): CapacityReport {
  const rows = Array.from({ length: 360 }, (_, index): Row => [index * 10 * SECOND, SECOND]);
  const work = capacityReport(
    trafficOf(traceOf(HOUR, rows)),
    cus.map((cu) => ({ minCu: cu, maxCu: cu })),
    PROFILES["2026"],
    questionFrom({}),
    {
      loadPerRequest: 0.1,
      reserved: 7,
      poolBy: "compute",
      cache: { workingSetGb: 0.25, blocksPerRequest: 100, skew: 0, storageReadMs: 1 },
    },
    randomFrom(1),
  );
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

const report = capacityOfSizes(0.5, 1);

test("sizes with the same cache hit ratios share a line and an entry of the legend", () => {
  const chart = capacityCharts(report).find(({ name }) => name === "recovery");
  const legend = parseHTML(`<body>${chart?.svg}</body>`).document.querySelectorAll(
    'g[aria-label="legend"] text',
  );
  expect([...legend].map(({ textContent }) => textContent)).toEqual(["0.5 CU, 1 CU"]);
});

test("ticks of the time since a start are the ends of the ranges, without repeating the beginnings", () => {
  const chart = capacityCharts(report).find(({ name }) => name === "recovery");
  const ticks = parseHTML(`<body>${chart?.svg}</body>`).document.querySelectorAll(
    'g[aria-label="x-axis tick label"] text',
  );
  const texts = [...ticks].map(({ textContent }) => String(textContent));
  expect(texts.length).toBe(report.cache_recovery.length);
  for (const text of texts) expect(text).toMatch(/^(\d+ (s|min|h)|longer)$/);
});

test("key figures of sizes are costs of a month, as in the chart", () => {
  for (const [index, fact] of capacityPage(report).facts.entries()) {
    expect(fact.value).toBe(money(report.sizes[index]?.cost_per_month ?? 0));
    expect(fact.note).toMatch(/^a month, throttled /);
  }
});

test("a small number of starts has whole numbers at its axis", () => {
  const traffic = trafficOf(traceOf(DAY, [[HOUR, SECOND]], [[HOUR, SECOND]], [[HOUR, SECOND]]));
  const work = startsReport(traffic, questionFrom({}), { delay: 60, concurrent: [] }, randomFrom(1));
  let step = work.next();
  while (step.done !== true) step = work.next();
  for (const { name, svg } of startsCharts(step.value, traffic.period).slice(0, 2)) {
    const ticks = parseHTML(`<body>${svg}</body>`).document.querySelectorAll(
      'g[aria-label="y-axis tick label"] text',
    );
    expect(
      [...ticks].map(({ textContent }) => textContent),
      name,
    ).toEqual(["0", "1", "2", "3"]);
  }
});
