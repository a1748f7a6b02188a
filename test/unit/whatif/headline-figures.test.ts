import { describe, expect, test } from "vitest";
import { uniform } from "../../../src/kernel/random-port.ts";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { readCurve } from "../../../src/whatif/gap-curve/curve-reading.ts";
import { questionFrom } from "../../../src/whatif/input/question.ts";
import { replayComputes } from "../../../src/whatif/input/replay-jobs.ts";
import type { ReportPage } from "../../../src/whatif/page/page-layout.ts";
import { attributionPage } from "../../../src/whatif/questions/attribution/attribution-page.ts";
import { attributionReport } from "../../../src/whatif/questions/attribution/attribution-report.ts";
import { capacityPage } from "../../../src/whatif/questions/capacity/capacity-page.ts";
import { capacityReport } from "../../../src/whatif/questions/capacity/capacity-report.ts";
import { comparisonJobs, comparisonOf } from "../../../src/whatif/questions/compare/comparison.ts";
import { comparisonPage } from "../../../src/whatif/questions/compare/comparison-page.ts";
import { CurveAnswer } from "../../../src/whatif/questions/curve/curve-answer.ts";
import { curvePage } from "../../../src/whatif/questions/curve/curve-page.ts";
import { profilesPage } from "../../../src/whatif/questions/profiles/profiles-page.ts";
import { profilesReport } from "../../../src/whatif/questions/profiles/profiles-report.ts";
import { quotaPage } from "../../../src/whatif/questions/quota/quota-page.ts";
import { quotaReport } from "../../../src/whatif/questions/quota/quota-report.ts";
import { startsPage } from "../../../src/whatif/questions/starts/starts-page.ts";
import { startsReport } from "../../../src/whatif/questions/starts/starts-report.ts";
import { trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { builtInProfile } from "../../../src/whatif/units/prices.ts";
import { DAY, type Row, SECOND, traceOf } from "../../support/traffic/traces.ts";

const DAYS = 14;
const QUESTION = questionFrom({ cu: 0.25 });
const RANDOM = randomFrom(1);

function rowsOf(compute: number): Row[] {
  const draw = RANDOM.stream("headline-test", compute);
  const rows: Row[] = [];
  for (let at = 0; at < DAYS * DAY; at += Math.round(-Math.log(1 - uniform(draw)) * 900 * SECOND))
    rows.push([at, 20 * SECOND, uniform(draw) < 0.8 ? 0 : 1]);
  return rows;
}

const TRAFFIC = trafficOf({
  ...traceOf(DAYS * DAY, ...[1, 2, 3, 4, 5, 6].map(rowsOf)),
  sources: ["web", "check"],
});

function complete<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

const computes = TRAFFIC.computes.length;
const PAGES: Readonly<Record<string, () => ReportPage>> = {
  curve: () => {
    const { currentDelay, costs } = QUESTION;
    const options = {
      currentDelay,
      costs,
      startMs: 3 * SECOND,
      byCompute: true,
      byDay: true,
      from: 0,
      to: computes,
    };
    const reading = complete(readCurve(TRAFFIC, options));
    return curvePage(new CurveAnswer(TRAFFIC, reading, QUESTION, RANDOM).summary({}));
  },
  compare: () => {
    const jobs = comparisonJobs(["fixed:60", "hazard"], QUESTION, 1);
    const work = { jobs, from: 0, to: computes, fleetGaps: undefined };
    const outcomes = complete(replayComputes(TRAFFIC, work, randomFrom));
    return comparisonPage(comparisonOf(TRAFFIC, QUESTION, jobs, outcomes));
  },
  attribute: () => attributionPage(complete(attributionReport(TRAFFIC, QUESTION, RANDOM))),
  starts: () =>
    startsPage(complete(startsReport(TRAFFIC, QUESTION, { delay: 300, concurrent: [] }, RANDOM)).report),
  capacity: () => {
    const assumptions = { loadPerRequest: 0.2, reserved: 7, poolBy: "compute" as const };
    const ranges = [{ minCu: 0.25, maxCu: 0.25 }];
    return capacityPage(
      complete(capacityReport(TRAFFIC, ranges, PROFILES["2024"], QUESTION, assumptions, RANDOM)),
    );
  },
  profiles: () => {
    const profiles = [builtInProfile("2024"), builtInProfile("2026")];
    const question = { profiles, delay: undefined, cu: 0.25, coldStartS: 300, reserved: 7, seed: 1 };
    return profilesPage(complete(profilesReport(TRAFFIC, question, RANDOM)));
  },
  quota: () => {
    const projects = [{ project: "p", computes: [...TRAFFIC.computes.keys()], computeSeconds: 360_000 }];
    const question = { delays: [300], projects, monthsAhead: 1, replications: 39 };
    return quotaPage(complete(quotaReport(TRAFFIC, QUESTION, question, randomFrom)));
  },
};

describe.each(Object.entries(PAGES))("the answer of %s", (_, pageOf) => {
  const page = pageOf();
  const texts = [...page.answer, ...page.facts.map(({ value, note }) => `${value} ${note}`)].join("\n");

  test("has an interval in its first two sentences", () => {
    expect(page.answer.slice(0, 2).join(" ")).toMatch(/ ± |interval/);
  });

  test("has an interval beside each key figure of a cost", () => {
    const costs = page.facts.filter(({ value }) => /\$[1-9]/.test(value));
    for (const { label, value, note } of costs) expect(`${label} ${value} ${note}`).toContain("± $");
  });

  test("has dates instead of instants, and waits in readable units", () => {
    expect(page.subject).toContain("2026-01-05 to 2026-01-18 (14 days)");
    expect(`${page.subject}\n${texts}`).not.toMatch(/\dT\d|\d{4,}\s?ms/);
  });

  test("has at most three significant digits", () => {
    const amounts = texts.match(/\$[\d,.]*\d/g) ?? [];
    for (const text of amounts) {
      const digits = text.replaceAll(/[$,.]/g, "").replace(/^0+/, "");
      expect(digits.replace(/0+$/, "").length, text).toBeLessThanOrEqual(3);
    }
  });

  test("states no cost of the period beside those of a month", () => {
    const tables = page.tables.flatMap(({ headings }) => headings);
    expect(tables).not.toContain("cost");
    expect(
      page.answer
        .filter((sentence) => sentence.includes("$"))
        .every((sentence) => sentence.includes("month")),
    ).toBe(true);
  });
});
