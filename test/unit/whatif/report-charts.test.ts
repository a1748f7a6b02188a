import { parseHTML } from "linkedom";
import { describe, expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { readCurve } from "../../../src/whatif/gap-curve/curve-reading.ts";
import type { SuspendDelay } from "../../../src/whatif/gap-curve/delay.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { weekendsOf } from "../../../src/whatif/page/date-axis.ts";
import { overlaps, type PointLabel, placeLabels } from "../../../src/whatif/page/label-placement.ts";
import type { Chart } from "../../../src/whatif/page/page-layout.ts";
import { drawChart } from "../../../src/whatif/page/svg.ts";
import { timelineChart } from "../../../src/whatif/page/timeline-chart.ts";
import { CurveAnswer } from "../../../src/whatif/questions/curve/curve-answer.ts";
import { curveCharts } from "../../../src/whatif/questions/curve/curve-charts.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";

const START = Date.parse("2026-03-02T00:00:00Z");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const FRAME = { x: 0, y: 0, width: 400, height: 300 };

const label = (text: string, x: number, y: number): PointLabel => ({
  text,
  x,
  y,
  radius: 7,
  isStrong: true,
  isOptional: false,
});

/** The charts of a curve of two computes over ten days, with this current delay or the best one. */
function chartsWith(current: SuspendDelay | "best"): Chart[] {
  const traffic = trafficOf({
    period: { startAt: START, endAt: START + 10 * DAY },
    computes: [7, 90].map((minutes) => {
      const at = Float64Array.from(
        { length: Math.floor((10 * 24 * 60) / minutes) },
        (_, i) => START + i * minutes * 60_000 + (i % 7) * 10_000,
      );
      return {
        id: `app-${minutes}`,
        arrivals: { at, durationMs: new Float64Array(at.length).fill(2_000) },
      };
    }),
  });
  const answerFor = (present: SuspendDelay) => {
    const question = questionFrom({ present });
    const options = {
      currentDelay: question.currentDelay,
      costs: question.costs,
      byCompute: true,
      byDay: true,
    };
    const work = readCurve(traffic, { ...options, from: 0, to: 2 });
    for (let step = work.next(); ; step = work.next())
      if (step.done === true) return new CurveAnswer(traffic, step.value, question, randomFrom(1));
  };
  const present = current === "best" ? answerFor(300).summary({}).best.delay_s : current;
  const answer = answerFor(present as SuspendDelay);
  const summary = answer.summary({});
  const days = answer.activeSecondsByDay([summary.present.delay_s, summary.best.delay_s]);
  return curveCharts(summary, (delay) => answer.figuresAt(delay), days);
}

const drawings = (charts: readonly Chart[]) =>
  charts.flatMap(({ name, svg, narrowSvg }) => [
    [`${name}, wide`, svg] as const,
    [`${name}, narrow`, narrowSvg] as const,
  ]);
const parsed = (svg: string) => parseHTML(`<body>${svg}</body>`).document;

describe("placement of labels", () => {
  test.each([
    ["at the same point", [label("best, 5 min", 200, 150), label("current, 5 min", 200, 150)]],
    ["at close points", [label("best, 5 min", 200, 150), label("current, 6 min", 204, 152)]],
    ["in a corner", [label("best, 5 min", 395, 5), label("current, 6 min", 394, 6)]],
    ["at one point many times", Array.from({ length: 12 }, (_, i) => label(`policy ${i}`, 200, 150))],
  ])("labels %s do not overlap each other or the marks, and stay in the frame", (_, labels) => {
    const placed = placeLabels(labels, FRAME, []);
    expect(placed).toHaveLength(labels.length);
    for (const [index, { box }] of placed.entries()) {
      for (const other of placed.slice(0, index)) expect(overlaps(box, other.box)).toBe(false);
      for (const { x, y } of labels)
        expect(overlaps(box, { x: x - 7, y: y - 7, width: 14, height: 14 })).toBe(false);
      expect(box.x).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width).toBeLessThanOrEqual(FRAME.width);
      expect(box.y).toBeGreaterThanOrEqual(0);
      expect(box.y + box.height).toBeLessThanOrEqual(FRAME.height);
    }
  });

  test("an optional label without room next to its point is left out, and a required one moves away", () => {
    const crowd = Array.from({ length: 8 }, (_, i) => label(`policy ${i}`, 200, 150));
    const placed = placeLabels([...crowd, { ...label("1 h", 200, 150), isOptional: true }], FRAME, []);
    expect(placed.map(({ label: { text } }) => text)).toEqual(crowd.map(({ text }) => text));
    expect(placed.some(({ isRemote }) => isRemote)).toBe(true);
  });

  test("a label avoids a line if it can", () => {
    const line = Array.from({ length: 200 }, (_, i) => ({ x: 200 + i, y: 148, width: 4, height: 4 }));
    const [placed] = placeLabels([label("best", 200, 150)], FRAME, line);
    expect(line.some((part) => overlaps(part, placed?.box ?? FRAME))).toBe(false);
  });
});

describe.each([["best"], [300], [60], [3_600], ["never"]] as const)(
  "charts with a current delay of %s",
  (current) => {
    const all = drawings(chartsWith(current));

    test("every axis has a label with a unit", () => {
      for (const [name, svg] of all) {
        const labels = [...parsed(svg).querySelectorAll('g[aria-label$="-axis label"] text')].map((text) =>
          String(text.textContent),
        );
        expect(labels.length, name).toBeGreaterThanOrEqual(1);
        for (const text of labels) expect(text, name).toMatch(/\$ a month|a day|hours|UTC|scale/);
      }
    });

    test("every mark has a title", () => {
      for (const [name, svg] of all) {
        const document = parsed(svg);
        const marks = [...document.querySelectorAll("circle, rect, path, line")].filter(
          (mark) =>
            mark.closest(
              '[aria-label*="axis"], [aria-label*="grid"], [aria-label="legend"], [aria-label="labels"], [aria-hidden]',
            ) === null,
        );
        expect(marks.length, name).toBeGreaterThan(0);
        for (const mark of marks)
          expect(mark.querySelector("title")?.textContent, `${name}: ${mark}`).toBeTruthy();
      }
    });

    test("no number has more than three significant digits", () => {
      for (const [name, svg] of all) {
        for (const text of parsed(svg).querySelectorAll("text, title")) {
          const words = String(text.textContent).replaceAll(/app-\d+|\(20\d\d\)/g, "");
          for (const [number] of words.matchAll(/\d[\d,]*(\.\d+)?/g)) {
            const digits = number.replaceAll(/[,.]/g, "").replace(/^0+/, "");
            const significant = number.includes(".") ? digits : digits.replace(/0+$/, "");
            expect(significant.length, `${name}: ${words}`).toBeLessThanOrEqual(3);
          }
        }
      }
    });
  },
);

test("if the current delay is the best one, they share one mark and one label", () => {
  const [tradeOff] = chartsWith("best");
  const labels = [...parsed(tradeOff?.svg ?? "").querySelectorAll('g[aria-label="labels"] text')];
  expect(labels.filter(({ textContent }) => /best|current/.test(String(textContent)))).toHaveLength(1);
  expect(labels[0]?.textContent).toMatch(/^best and current, /);
});

test("a timeline has dates, and shades the weekends within its period", () => {
  const [chart] = timelineChart([{ name: "a", ink: "red", activeSeconds: Array(10).fill(3_600) }], {
    from: "2026-03-02T00:00:00.000Z",
    to: "2026-03-12T00:00:00.000Z",
  });
  const document = parsed(chart?.svg ?? "");
  const shaded = [...document.querySelectorAll("rect title")].map(({ textContent }) => textContent);
  expect(shaded).toEqual(["weekend of 7 Mar"]);
  const ticks = [...document.querySelectorAll('g[aria-label="x-axis tick label"] text')];
  expect(ticks.map(({ textContent }) => textContent).slice(0, 2)).toEqual(["2 Mar", "3 Mar"]);
  expect(String(chart?.svg)).toContain("Sat 7 Mar: 1 active hours, a");
});

test("weekends are Saturday to Sunday in UTC, clipped to the period", () => {
  const saturday = START + 5 * DAY;
  expect(weekendsOf({ startAt: START, endAt: saturday })).toEqual([]);
  expect(weekendsOf({ startAt: START, endAt: START + 7 * DAY })).toEqual([
    { startAt: saturday, endAt: saturday + 2 * DAY },
  ]);
  expect(weekendsOf({ startAt: saturday + 30 * HOUR, endAt: saturday + 40 * HOUR })).toEqual([
    { startAt: saturday + 30 * HOUR, endAt: saturday + 40 * HOUR },
  ]);
});

test("names in labels and legends do not become markup", () => {
  const chart = drawChart({
    name: "chart",
    title: "t",
    caption: "c",
    legend: [{ name: "<script>", ink: "red", sample: "dot" }],
    labels: [{ x: 1, y: 1, text: "<script>", ink: "red" }],
    plot: () => ({ x: { domain: [0, 2] }, y: { domain: [0, 2] }, marks: [] }),
  });
  for (const [, svg] of drawings([chart])) {
    expect(svg).not.toContain("<script>");
    expect(svg.match(/&lt;script&gt;/g)).toHaveLength(2);
  }
});
