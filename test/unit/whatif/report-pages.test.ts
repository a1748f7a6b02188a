import { expect, test } from "vitest";
import { randomFrom } from "../../../src/simulation/random.ts";
import { collectParts } from "../../../src/traffic/recorded/trace/trace.ts";
import { mergeReadings, readCurve } from "../../../src/whatif/gap-curve/curve-reading.ts";
import type { SuspendDelay } from "../../../src/whatif/gap-curve/delay.ts";
import { MAX_DELAYS_TRIED } from "../../../src/whatif/gap-curve/optimum.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { fleetGapsOf, replayComputes } from "../../../src/whatif/input/replay-jobs.ts";
import { reportHtml } from "../../../src/whatif/page/html.ts";
import { drawChart, embeddedSvg, standaloneSvg } from "../../../src/whatif/page/svg.ts";
import { terminalText } from "../../../src/whatif/page/terminal-style.ts";
import { comparisonJobs, comparisonOf } from "../../../src/whatif/questions/compare/comparison.ts";
import { comparisonPage } from "../../../src/whatif/questions/compare/comparison-page.ts";
import { CurveAnswer } from "../../../src/whatif/questions/curve/curve-answer.ts";
import { curveCharts } from "../../../src/whatif/questions/curve/curve-charts.ts";
import { curvePage } from "../../../src/whatif/questions/curve/curve-page.ts";
import { mergeSources } from "../../../src/whatif/trace/merge-sources.ts";
import { selectPeriod, type Traffic, trafficOf, trafficWithin } from "../../../src/whatif/trace/traffic.ts";
import { money } from "../../../src/whatif/units/number-format.ts";
import type { StartLatency } from "../../../src/whatif/units/start-latency.ts";
import { DAY, traceOf } from "../../support/traffic/traces.ts";

const START = Date.parse("2026-03-02T00:00:00Z");
const HOUR = 3_600_000;
const EVIL = `<img src=x onerror="alert('&')">`;
const QUESTION = questionFrom({ present: 3_600 });

/**
 * Three computes with a request every 10, 30 and 90 minutes for two days. The name of the first one is
 * markup.
 */
function threeComputes(): Traffic {
  const period = { startAt: START, endAt: START + 48 * HOUR };
  const computes = [10, 30, 90].map((minutes, index) => {
    const at = Float64Array.from(
      { length: Math.floor((48 * 60) / minutes) },
      (_, i) => START + i * minutes * 60_000,
    );
    return {
      id: index === 0 ? EVIL : `app-${index}`,
      arrivals: { at, durationMs: new Float64Array(at.length).fill(2_000) },
    };
  });
  return trafficOf({ period, computes });
}

function complete<T>(work: Generator<number, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

const OPTIONS = { currentDelay: QUESTION.currentDelay, costs: QUESTION.costs, byCompute: true, byDay: true };

function render(traffic = threeComputes()) {
  const reading = complete(readCurve(traffic, { ...OPTIONS, from: 0, to: traffic.computes.length }));
  const response = new CurveAnswer(traffic, reading, QUESTION, randomFrom(1));
  return { answer: response, summary: response.summary({}) };
}

const plain = (_: string, text: string) => text;

test("computes read in parts give the same curve as computes read at once, whatever the parts", () => {
  const traffic = threeComputes();
  const part = (from: number, to: number) => complete(readCurve(traffic, { ...OPTIONS, from, to }));
  const whole = part(0, 3);
  const bytes = ({ bins }: { readonly bins: Float64Array }) => Buffer.from(bins.buffer);
  for (const parts of [
    [part(0, 1), part(1, 3)],
    [part(0, 1), part(1, 2), part(2, 3)],
  ]) {
    const { gaps, computes } = mergeReadings(parts);
    expect(computes).toEqual(whole.computes);
    expect(bytes(gaps.ended).equals(bytes(whole.gaps.ended))).toBe(true);
    expect(bytes(gaps.tails).equals(bytes(whole.gaps.tails))).toBe(true);
    expect(gaps).toMatchObject({ spanMs: whole.gaps.spanMs, arrivals: 416, computes: 3 });
  }
});

test("the search for a delay within a wait reports its progress after each compute, and its replays are stored", () => {
  const { answer: response } = render();
  const limits = { maxWaitP99Ms: 500 };
  const reported: number[] = [];
  const search = response.search(limits);
  let step = search.next();
  for (; step.done !== true; step = search.next()) reported.push(step.value);
  const computes = threeComputes().computes.length;
  expect(reported.length % computes).toBe(0);
  expect(reported.length).toBeGreaterThan(5 * computes);
  expect(reported).toEqual([...reported].sort((a, b) => a - b));
  expect(reported.at(-1)).toBeLessThanOrEqual(MAX_DELAYS_TRIED * computes);
  expect([...response.search(limits)]).toEqual([]);
  expect(response.summary(limits).cheapest_within?.delay_s).toBe(step.value?.delay);
});

test("the weighted cost of the best delay lies between the bound and the current delay; the saving is the difference", () => {
  const { present, best, clairvoyant, saving, never, busy_s } = render().summary;
  expect(best.burden_s).toBeLessThan(present.burden_s);
  expect(clairvoyant.burden_s).toBeLessThanOrEqual(best.burden_s);
  expect(saving.cu_hours).toBeCloseTo(present.cu_hours - best.cu_hours, 9);
  expect(saving.cold_starts).toBe(present.cold_starts - best.cold_starts);
  expect(never).toMatchObject({ delay_s: "never", cold_starts: 0 });
  expect(busy_s).toBe((288 + 96 + 32) * 2);
});

test("the added wait of a compute counts all requests that wait for a start", () => {
  const second = 1_000;
  // Each hour: a request that starts the compute, and one half a second later, while it starts for three seconds.
  const rows = Array.from({ length: 24 }, (_, hour) => [hour * HOUR, hour * HOUR + 500]).flat();
  const traffic = trafficOf(
    traceOf(
      DAY,
      rows.map((at) => [at]),
    ),
  );
  const question = questionFrom({ present: 300, startLatency: { kind: "fixed", ms: 3 * second } });
  const { costs, currentDelay } = question;
  const options = { currentDelay, costs, startMs: 3 * second, byCompute: true, byDay: true, from: 0, to: 1 };
  const reading = complete(readCurve(traffic, options));
  const { computes = [] } = new CurveAnswer(traffic, reading, question, randomFrom(1)).summary({});
  expect(computes[0]?.present).toMatchObject({ cold_starts: 23, added_wait_s: 24 * (3 + 2.5) });
  expect(computes[0]?.never.added_wait_s).toBe(3 + 2.5);
});

test("computes are ranked by what a delay of their own would gain, in accordance with their figures", () => {
  const { computes = [] } = render().summary;
  expect(computes.map(({ compute }) => compute)).toHaveLength(3);
  const gains = computes.map(({ gain_s }) => gain_s);
  expect(gains).toEqual([...gains].sort((a, b) => b - a));
  for (const { gain_s, gain_of_never_s, present, best, never } of computes) {
    expect(gain_s).toBeCloseTo(present.burden_s - best.burden_s, 6);
    expect(gain_of_never_s).toBeCloseTo(present.burden_s - never.burden_s, 6);
  }
});

test("terminal text begins with the answer and is wrapped to the width", () => {
  const text = terminalText(curvePage(render().summary), 80, plain);
  expect(text).toMatch(/^No recommendation: 2.0 days of traffic/);
  const sentences = text.split("\n\n")[0] ?? "";
  expect(Math.max(...sentences.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(text).toMatch(/^● 1 h /m);
});

test("if the current delay is the best, the answer says so and claims no saving", () => {
  const traffic = threeComputes();
  const { summary } = render(traffic);
  const question = questionFrom({ present: summary.best.delay_s as SuspendDelay });
  const reading = complete(
    readCurve(traffic, { ...OPTIONS, currentDelay: question.currentDelay, from: 0, to: 3 }),
  );
  const again = new CurveAnswer(traffic, reading, question, randomFrom(1)).summary({});
  expect(curvePage(again).answer[1]).toMatch(/^Balanced: .*, the current delay\.$/);
  expect(again.saving).toMatchObject({ cu_hours: 0, cold_starts: 0, share: 0 });
});

test("names from a trace do not become markup, in the page or in a chart", () => {
  const { answer: response, summary } = render();
  const charts = curveCharts(
    summary,
    (delay) => response.figuresAt(delay),
    response.activeSecondsByDay([summary.present.delay_s, summary.best.delay_s]),
  );
  expect(charts.map(({ name }) => name)).toEqual(["trade-off", "curve", "computes", "timeline"]);
  const input = { notes: [EVIL], badRows: 1, bad: [{ input: EVIL, line: 1, reason: EVIL }] };
  const html = reportHtml(curvePage(summary), charts, { trace: EVIL }, input);
  expect(html).not.toContain("<img");
  expect(html).toContain("&lt;img src=x");
  for (const chart of charts) expect(standaloneSvg(chart)).not.toContain("<img");
});

test("a standalone chart is XML with colours for light and dark", () => {
  const { answer: response, summary } = render();
  for (const chart of curveCharts(summary, (delay) => response.figuresAt(delay), new Map())) {
    const svg = standaloneSvg(chart);
    expect(svg).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/,
    );
    expect(svg).toContain("prefers-color-scheme:dark");
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  }
});

test("a chart for another page has its marks, and no styles or labels of groups", () => {
  const { answer: response, summary } = render();
  for (const { svg } of curveCharts(summary, (delay) => response.figuresAt(delay), new Map())) {
    const embedded = embeddedSvg(svg);
    expect(embedded).not.toMatch(/<style| style=|<g[^>]* aria-label=/);
    expect(embedded).toMatch(/^<svg [^>]*aria-label="/);
    const titles = (text: string) => text.match(/<title>[^<]*<\/title>/g);
    expect(titles(embedded)).toEqual(titles(svg));
  }
});

test("the start of a period is inclusive and its end exclusive", () => {
  const period = { startAt: START + HOUR, endAt: START + 2 * HOUR };
  const within = trafficWithin(threeComputes(), period);
  expect([...collectParts(within.arrivals(0)).at]).toEqual(
    [0, 10, 20, 30, 40, 50].map((minutes) => START + HOUR + minutes * 60_000),
  );
  expect([...collectParts(within.arrivals(2)).at]).toEqual([START + 1.5 * HOUR]);
  expect(
    collectParts(trafficWithin(threeComputes(), { startAt: START + 1, endAt: START + 2 }).arrivals(0)).at,
  ).toHaveLength(0);
});

test("bounds of a period may lie outside the trace, but must leave something of it", () => {
  const known = { startAt: START, endAt: START + HOUR };
  expect(selectPeriod(known, {})).toEqual(known);
  expect(selectPeriod(known, { to: START + 2 * HOUR })).toEqual({ startAt: START, endAt: START + 2 * HOUR });
  expect(selectPeriod(known, { from: START - HOUR, to: START + 1 })).toEqual({
    startAt: START - HOUR,
    endAt: START + 1,
  });
  for (const bounds of [
    { from: START + HOUR },
    { to: START },
    { from: START + 2, to: START + 2 },
    { from: START + 2 * HOUR, to: START + 3 * HOUR },
  ])
    expect(selectPeriod(known, bounds)).toBeUndefined();
});

test("the best policy of a comparison does not know the future; the best one that the platform offers is named separately", () => {
  const traffic = threeComputes();
  const jobs = comparisonJobs(["clairvoyant", "immediate", "fixed:60"], QUESTION, 5);
  const work = { jobs, from: 0, to: traffic.computes.length, fleetGaps: undefined };
  const comparison = comparisonOf(
    traffic,
    QUESTION,
    jobs,
    complete(replayComputes(traffic, work, randomFrom)),
  );
  const page = comparisonPage(comparison);
  expect(comparison.policies.map(({ policy, replications }) => [policy, replications])).toEqual([
    ["fixed:3600", 1],
    ["clairvoyant", 1],
    ["immediate", 1],
    ["fixed:60", 1],
  ]);
  expect(page.answer.slice(0, 4).map((sentence) => sentence.split(".")[0])).toEqual([
    "No recommendation, the traffic is too little: 2",
    "Lowest weighted cost: a delay of 1 min",
    "Current: a delay of 1 h",
    "With a program of your own: immediate",
  ]);
  expect(page.tables[0]?.rows.map(({ mark }) => mark)).toEqual(["current", "bound", "best", undefined]);
  const cost = comparison.policies[0]?.figures.cost?.value ?? 0;
  expect(page.facts[0]?.value).toBe(money(cost * (730 / 48)));
  expect(page.facts[0]?.note).toMatch(/^a month, /);
});

test("beyond the maximum number of sources, the busiest keep their names and the others are combined", () => {
  const source = Uint16Array.from([0, 1, 2, 2, 3, 3, 3]);
  const at = Float64Array.from(source, (_, index) => START + index * 1_000);
  const requests = { at, durationMs: new Float64Array(source.length), source };
  const traffic = trafficOf({
    period: { startAt: START, endAt: START + HOUR },
    computes: [{ id: "one", arrivals: requests }],
    sources: ["a", "b", "c", "d"],
  });
  const few = mergeSources(traffic, 3);
  expect(few.sources).toEqual(["d", "c", "(others)"]);
  expect([...(collectParts(few.arrivals(0)).source ?? [])]).toEqual([2, 2, 1, 1, 0, 0, 0]);
  expect(mergeSources(traffic, 4)).toBe(traffic);
});

test("differences have an interval if randomness is involved, and none otherwise", () => {
  const traffic = threeComputes();
  const pageOf = (startLatency: StartLatency) => {
    const question = questionFrom({ present: 3_600, startLatency });
    const jobs = comparisonJobs(["fixed:60"], question, 5);
    const outcomes = complete(
      replayComputes(traffic, { jobs, from: 0, to: 3, fleetGaps: undefined }, randomFrom),
    );
    return comparisonPage(comparisonOf(traffic, question, jobs, outcomes));
  };
  const drawn = pageOf({ kind: "uniform", minMs: 1_000, maxMs: 4_000 });
  const row = drawn.tables[0]?.rows[1]?.cells ?? [];
  expect(drawn.tables[0]?.headings.slice(3, 5)).toEqual(["active h a day", "vs. current"]);
  expect(row[4]).toMatch(/^−[\d.]+ ± [\d.]+ %$/);
  expect(drawn.answer.join(" ")).toMatch(/cost −[\d.]+ ± [\d.]+ %, /);
  const fixed = pageOf({ kind: "fixed", ms: 1_000 });
  expect(JSON.stringify([fixed.tables[0]?.rows, fixed.answer])).not.toMatch(/ ± /);
});

test("a delay chosen in hindsight can be set: it is no bound, and can be the best", () => {
  const traffic = threeComputes();
  const jobs = comparisonJobs(["fixed:1800", "best-fixed:compute", "clairvoyant"], QUESTION, 1);
  const fleetGaps = fleetGapsOf(traffic, QUESTION);
  const work = { jobs, from: 0, to: 3, fleetGaps };
  const comparison = comparisonOf(
    traffic,
    QUESTION,
    jobs,
    complete(replayComputes(traffic, work, randomFrom)),
  );
  expect(comparison.policies.map(({ settable }) => settable)).toEqual([true, true, true, false]);
  const page = comparisonPage(comparison);
  const marks = page.tables[0]?.rows.map(({ mark }) => mark);
  expect(marks).toEqual(["current", undefined, "best", "bound"]);
  expect(comparison.policies[2]?.chosen_delays_s).toEqual([60, 60]);
  expect(page.answer[1]).toMatch(
    /^Lowest weighted cost: a delay of 1 min for all computes \(best-fixed:compute, chosen in hindsight for this traffic\)\. /,
  );
  const unlike = comparison.policies.map((policy) =>
    policy.chosen_delays_s === undefined ? policy : { ...policy, chosen_delays_s: [90, "never"] as const },
  );
  expect(comparisonPage({ ...comparison, policies: unlike }).answer[1]).toMatch(
    /^Lowest weighted cost: a delay for each compute, from 90 s to never \(best-fixed:compute, chosen in hindsight for this traffic; `whatif curve --by-compute` names them\)\. /,
  );
  expect(comparison.limits.left_out[0]).toMatch(/^Policies that know the future \(clairvoyant\) are bounds/);
});

test("a policy that never resumed is reported", () => {
  const traffic = threeComputes();
  const jobs = comparisonJobs(["predictive", "hybrid:fallback=5m"], QUESTION, 1);
  const work = { jobs, from: 0, to: 3, fleetGaps: undefined };
  const comparison = comparisonOf(
    traffic,
    QUESTION,
    jobs,
    complete(replayComputes(traffic, work, randomFrom)),
  );
  const page = comparisonPage(comparison);
  expect(page.answer).toContain("predictive never resumed a compute ahead of a request in this traffic.");
  expect(page.answer.join()).not.toContain("hybrid:fallback=5m never resumed");
  const resumes = page.tables
    .find(({ name }) => name === "resumes")
    ?.rows.map(({ cells }) => cells.slice(0, 3));
  expect(resumes?.[0]).toEqual(["predictive", "0", "0"]);
});

test("control characters in names are escaped in SVG and HTML", () => {
  const name = "a\u0001b\u009b\u202e";
  const chart = drawChart({
    name: "chart",
    title: name,
    caption: name,
    plot: () => ({ x: { type: "band", domain: [name] }, marks: [] }),
  });
  const page = {
    title: name,
    subject: name,
    answer: [name],
    facts: [],
    tables: [],
    limits: { exact: [], simulated: [], left_out: [] },
  } as never;
  for (const text of [
    standaloneSvg(chart),
    reportHtml(page, [chart], {}, { notes: [name], badRows: 0, bad: [] }),
  ]) {
    expect(text).toContain("a\\u0001b\\u009b\\u202e");
    expect(text).not.toMatch(/(?![\n\t])[\p{Cc}\u202e]/u);
  }
});
