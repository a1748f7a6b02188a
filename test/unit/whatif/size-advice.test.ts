import { expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { newestPriceList } from "../../../src/platform/catalog/price-lists.ts";
import type { SizeRange } from "../../../src/platform/catalog/sizes.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { type Question, questionFrom } from "../../../src/whatif/input/question.ts";
import { parseSlo, type Slo } from "../../../src/whatif/input/slo.ts";
import { worldDefaults } from "../../../src/whatif/input/world-defaults.ts";
import type { Advice } from "../../../src/whatif/questions/advice/advice.ts";
import { adviceText } from "../../../src/whatif/questions/advice/advice-text.ts";
import { adviceSteps } from "../../../src/whatif/questions/advice/advise-traffic.ts";
import {
  type CapacityReport,
  capacityReport,
} from "../../../src/whatif/questions/capacity/capacity-report.ts";
import { DEFAULT_SLO } from "../../../src/whatif/questions/capacity/missed-share.ts";
import { isSufficient } from "../../../src/whatif/questions/capacity/sufficient-size.ts";
import { type Traffic, trafficOf } from "../../../src/whatif/trace/traffic.ts";
import { DAY, HOUR, MINUTES, SECOND } from "../../support/traffic/traces.ts";

const START = Date.UTC(2026, 0, 5);
const PROFILE = PROFILES["2026"];

/** Three weeks. On every day, a request of 2 s every 8 to 12 minutes, from 8 to 15 or up to 18 o'clock. Each has this load. */
function officeHours(load: number | undefined): Traffic {
  const at: number[] = [];
  for (let day = 0; day < 21; day += 1)
    for (let ms = 8 * HOUR; ms < (15 + ((day * 7) % 4)) * HOUR; ms += (8 + ((day + at.length) % 5)) * MINUTES)
      at.push(START + day * DAY + ms);
  const arrivals = {
    at: Float64Array.from(at),
    durationMs: new Float64Array(at.length).fill(2 * SECOND),
    ...(load === undefined ? {} : { load: new Float64Array(at.length).fill(load) }),
  };
  const period = { startAt: START, endAt: START + 21 * DAY };
  return trafficOf({ period, computes: [{ id: "compute-0", arrivals }] });
}

function questionFor(range: SizeRange): Question {
  const compute = { id: "compute-0", range, suspendTimeoutSeconds: 300 };
  const { setting } = worldDefaults({ profile: "2026", operations: "timed" }, [compute], ["compute-0"]);
  return questionFrom({}, setting);
}

type Terms = { readonly slo?: Slo | undefined; readonly loadPerRequest?: number };

function adviceFor(range: SizeRange, traffic: Traffic, { slo, loadPerRequest }: Terms = {}): Advice {
  const terms = {
    ...({ plan: "scale", priceList: newestPriceList(), usage: {}, budgetDollars: undefined } as const),
    ...{ slo, profile: PROFILE, loadPerRequest, defaultDelayS: 300 },
  };
  const work = adviceSteps(traffic, questionFor(range), terms, randomFrom);
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value.advice;
}

function capacityFor(
  { min_cu, max_cu }: { min_cu: number; max_cu: number },
  range: SizeRange,
  traffic: Traffic,
) {
  const sizes = [{ minCu: min_cu, maxCu: max_cu }];
  const assumptions = { loadPerRequest: 1, reserved: 7, poolBy: "compute", slo: DEFAULT_SLO } as const;
  const work = capacityReport(traffic, sizes, PROFILE, questionFor(range), assumptions, randomFrom(1));
  for (let step = work.next(); ; step = work.next())
    if (step.done === true) return step.value as CapacityReport & { sizes: [CapacityReport["sizes"][0]] };
}

const fixedSize = (cu: number): SizeRange => ({ minCu: cu, maxCu: cu });
const sizeOf = ({ proposals }: Advice) => proposals.find(({ kind }) => kind === "size");

test("a smaller size is the decision if recorded loads leave the current one idle, with the cost of `whatif capacity`", () => {
  const traffic = officeHours(0.1);
  const advice = adviceFor(fixedSize(4), traffic);
  expect(advice.decision).toMatchObject({
    kind: "size",
    size: { min_cu: 0.25, max_cu: 0.25 },
    is_clear: true,
  });
  expect(adviceText(advice).decision).toMatch(/^Set the size to 0\.25 CU, enough for twice the load: −\$/);
  const { decision, bill } = advice;
  const report = capacityFor({ min_cu: 0.25, max_cu: 0.25 }, fixedSize(4), traffic);
  expect(bill.dollars_per_month - (decision?.saves_dollars_per_month ?? 0)).toBeCloseTo(
    report.sizes[0].cost_per_month ?? 0,
    1,
  );
  expect(decision?.margin_95).toBeGreaterThan(0);
  expect(decision?.margin_95).toBeLessThan(decision?.saves_dollars_per_month ?? 0);
  expect(advice.not_known.join()).not.toContain("size");
});

test("no size is proposed that capacity finds too slow, and one that twice the load would not throttle for long", () => {
  for (const load of [0.3, 1, 3]) {
    const traffic = officeHours(load);
    for (const range of [fixedSize(8), { minCu: 2, maxCu: 8 }]) {
      const proposal = sizeOf(adviceFor(range, traffic));
      if (proposal?.size === undefined) continue;
      const report = capacityFor(proposal.size, range, traffic);
      expect(isSufficient(report.sizes[0], report), `${load} vCPU under ${JSON.stringify(range)}`).toBe(true);
    }
  }
  expect(sizeOf(adviceFor(fixedSize(8), officeHours(0.6)))?.size).toEqual({ min_cu: 1, max_cu: 1 });
});

test("sizes are not compared without loads, unless they are stated, and the answer says so", () => {
  const traffic = officeHours(undefined);
  const unknown = adviceFor(fixedSize(4), traffic);
  expect(sizeOf(unknown)).toBeUndefined();
  expect(unknown.not_known).toContain(
    "whether a smaller size is enough: the requests state no load (--load-per-request, or standin whatif capacity)",
  );
  expect(sizeOf(adviceFor(fixedSize(4), traffic, { loadPerRequest: 0.1 }))?.size).toEqual({
    min_cu: 0.25,
    max_cu: 0.25,
  });
  // A size that is not one of the platform.
  expect(adviceFor(fixedSize(3.3), officeHours(0.1)).not_known.join()).toContain("3.3 CU is not a size");
});

test("current sizes that are too small are named with the size that is enough and what it costs", () => {
  const advice = adviceFor(fixedSize(0.25), officeHours(2));
  expect(advice.sizes).toMatchObject({ are_sufficient: false, needed: { kind: "size" } });
  expect(advice.decision?.kind).not.toBe("size");
  expect(adviceText(advice).requirements[0]).toMatch(
    /^The current sizes are too small: the p99 wait is [\d.]+ s, and at most 1 s is the limit\. Set the size to .* CU, enough for twice the load: \+\$/,
  );
  const slo = parseSlo("p99 wait < 3s");
  expect(adviceFor(fixedSize(0.25), officeHours(2), { slo }).current.meets.slo).toBe(false);
  expect(adviceFor(fixedSize(4), officeHours(2), { slo }).current.meets.slo).toBe(true);
});

test("an SLO is about the waits for starts and for throttled requests together", () => {
  const traffic = officeHours(0.3);
  // With half a CU nothing is throttled. A start takes half a second, and with 0.25 CU a request another 0.4 s.
  const waitUnder = (cu: number, slo: string) => {
    const { sizes } = adviceFor(fixedSize(cu), traffic, { slo: parseSlo(slo) });
    return "not_compared" in sizes ? undefined : sizes.wait_ms;
  };
  expect(waitUnder(0.5, "p99 wait < 700ms")).toBeCloseTo(500, -1);
  expect(waitUnder(0.25, "p99 wait < 700ms")).toBeCloseTo(900, -1);
  // A start alone takes longer: that is no question of the size.
  const { sizes } = adviceFor(fixedSize(4), traffic, { slo: parseSlo("p99 wait < 300ms") });
  expect(sizes).toEqual({ not_compared: "waits for starts alone exceed the limit" });
  expect(sizeOf(adviceFor(fixedSize(4), traffic, { slo: parseSlo("p99 wait < 700ms") }))?.size?.min_cu).toBe(
    1,
  );
  expect(sizeOf(adviceFor(fixedSize(4), traffic, { slo: parseSlo("p99 wait < 1m") }))?.size?.min_cu).toBe(
    0.25,
  );
});
