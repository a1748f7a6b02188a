import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { weightedCostMs } from "../../../src/whatif/gap-curve/costs.ts";
import { POLICY_FORMS, parsePolicy } from "../../../src/whatif/policies/parse-policy.ts";
import type { SleepSchedule } from "../../../src/whatif/policies/policy.ts";
import { randomisedDelay } from "../../../src/whatif/policies/ski-rental.ts";
import { PolicyReplay } from "../../../src/whatif/replay/policy-replay.ts";
import { StartLatencies } from "../../../src/whatif/units/start-latency.ts";
import {
  BEGIN,
  DAY,
  HOUR,
  periodOf,
  type Row,
  replaySetting,
  requestsOf,
  SECOND,
  traceOf,
} from "../../support/traffic/traces.ts";
import { policyContext, replayTrace } from "../../support/whatif/replay-trace.ts";

const MINUTE = 60 * SECOND;
const WEEK = 7 * DAY;

function run(name: string, rows: readonly Row[], lengthMs: number, coldStartS = 60, latencyMs = 0) {
  return replayTrace(
    traceOf(lengthMs, rows),
    parsePolicy(name),
    replaySetting(coldStartS, { kind: "fixed", ms: latencyMs }),
  );
}

/** Requests at a constant interval. */
function every(ms: number, count: number): Row[] {
  return Array.from({ length: count }, (_, index): Row => [index * ms]);
}

/** Validation 4. */
describe("ski rental", () => {
  const BREAK_EVEN = 300;
  const burden = (gap: number, delay: number) => (gap > delay ? delay + BREAK_EVEN : gap);

  // A sum of 200,000 strips instead of the integral: the jump is within one strip, worth 2·B/200,000.
  test.each([1, 30, 150, 299, 300, 301, 10_000])(
    "the randomised policy costs 1.5820 × min(gap, B) for a gap of %i s",
    (gap) => {
      const strips = 200_000;
      let sum = 0;
      for (let strip = 0; strip < strips; strip += 1)
        sum += burden(gap, randomisedDelay(BREAK_EVEN, (strip + 0.5) / strips));
      expect(Math.abs(sum / strips / Math.min(gap, BREAK_EVEN) - Math.E / (Math.E - 1))).toBeLessThan(0.003);
      expect(Math.E / (Math.E - 1)).toBeCloseTo(1.582, 3);
    },
  );

  // The mean cost of n draws has a standard error below B/√n: 0.7 % of B for 20,000. Allows four.
  test.each([300, 600])("and so it does in a replay of gaps of %i s", (gap) => {
    const count = 20_000;
    const outcome = run(
      "ski-rental:randomised",
      every(gap * SECOND, count + 1),
      gap * SECOND * count + 1,
      BREAK_EVEN,
    );
    const ratio = weightedCostMs(outcome, BREAK_EVEN) / (count * BREAK_EVEN * SECOND);
    expect(Math.abs(ratio - Math.E / (Math.E - 1))).toBeLessThan(0.03);
  });

  test("the deterministic policy costs the optimum for gaps up to B, and twice that just above", () => {
    const bear = (gapMs: number) =>
      weightedCostMs(run("ski-rental", [[0], [gapMs]], gapMs + 1, BREAK_EVEN), BREAK_EVEN) - 1;
    expect(bear(BREAK_EVEN * SECOND + 1)).toBe(2 * BREAK_EVEN * SECOND);
    expect(bear(BREAK_EVEN * SECOND)).toBe(BREAK_EVEN * SECOND);
  });
});

describe("the hybrid histogram", () => {
  // 30 min is in the bin from 30 to 31: resumes at 27 min, active until 31 × 1.1.
  test("with idle times of 30 min it resumes before the next request once the histogram is representative", () => {
    const outcome = run("hybrid:fallback=5m", every(30 * MINUTE, 101), 50 * HOUR + 1, 60);
    expect(outcome).toMatchObject({ coldStarts: 1, resumesUsed: 99, resumesWasted: 0 });
    // The fallback applies to the first gap; for the others the compute is active from the resume to the
    // arrival.
    expect(outcome.activeMs).toBe(5 * MINUTE + 99 * 3 * MINUTE);
  });

  test("a resume without a request is wasted, and the next request is a cold start", () => {
    const rows: Row[] = [...every(30 * MINUTE, 51), [25 * HOUR + 60 * MINUTE]];
    const outcome = run("hybrid:fallback=5m", rows, 27 * HOUR, 60);
    // It has learned the gap of one hour, so the last resume is still active at the end.
    expect(outcome).toMatchObject({ resumesWasted: 1, coldStarts: 2 });
  });

  test("idle times below one minute keep it active", () => {
    expect(run("hybrid", every(30 * SECOND, 101), 50 * MINUTE + 1)).toMatchObject({
      coldStarts: 0,
      resumesUsed: 0,
      activeMs: 50 * MINUTE + 1,
    });
  });

  test("idle times beyond the range are predicted by smoothing, with a margin of 15 % on both sides", () => {
    const outcome = run("hybrid:range=1h,fallback=5m", every(2 * HOUR, 51), 100 * HOUR + 1);
    expect(outcome).toMatchObject({ coldStarts: 2, resumesUsed: 48, resumesWasted: 0 });
    // The fallback twice, then active from 85 % of two hours on.
    expect(outcome.activeMs).toBe(2 * 5 * MINUTE + 48 * 18 * MINUTE + 0);
  });

  const stateOf = (policy: string) => parsePolicy(policy).createState(policyContext({}));

  test("the margin of the histogram is 10 % on both sides", () => {
    const keeper = stateOf("hybrid");
    for (let count = 0; count < 100; count += 1) keeper.learn?.(30 * MINUTE, BEGIN);
    const plan: SleepSchedule = { sleepAt: 0, resumeAt: 0, holdMs: 0 };
    keeper.schedule(BEGIN, plan, Number.POSITIVE_INFINITY);
    expect(plan).toEqual({
      sleepAt: BEGIN,
      resumeAt: BEGIN + 0.9 * 30 * MINUTE,
      holdMs: 1.1 * 31 * MINUTE - 0.9 * 30 * MINUTE,
    });
  });

  test.each([
    ["hybrid", 4 * HOUR],
    ["hybrid:range=2h", 2 * HOUR],
    ["hybrid:range=2h,fallback=10m", 10 * MINUTE],
  ])(
    "%s stays active for %i ms while it has learned nothing: the range, unless a fallback is given",
    (policy, ms) => {
      const plan: SleepSchedule = { sleepAt: 0, resumeAt: 0, holdMs: 0 };
      stateOf(policy).schedule(BEGIN, plan, Number.POSITIVE_INFINITY);
      expect(plan.sleepAt).toBe(BEGIN + ms);
    },
  );

  test("with evenly spread idle times it uses the fallback", () => {
    const keeper = stateOf("hybrid:fallback=10m");
    for (let bin = 0; bin < 240; bin += 1) keeper.learn?.(bin * MINUTE + 1, BEGIN);
    const plan: SleepSchedule = { sleepAt: 0, resumeAt: 0, holdMs: 0 };
    keeper.schedule(BEGIN, plan, Number.POSITIVE_INFINITY);
    expect(plan).toEqual({ sleepAt: BEGIN + 10 * MINUTE, resumeAt: Number.POSITIVE_INFINITY, holdMs: 0 });
  });
});

describe("the learned hazard", () => {
  test("learns not to wait if all idle times are longer than a cold start is worth", () => {
    const outcome = run("hazard", every(HOUR, 1_001), 1_000 * HOUR + 1, 60);
    // Ten times the delay of ski rental, then no delay.
    expect(outcome).toMatchObject({ coldStarts: 1_000, activeMs: 10 * MINUTE + 1 - 1 });
  });

  test("learns to stay active for idle times that are worth it, within the 7 % of its bins", () => {
    const rows: Row[] = [];
    // Nine of ten idle times are 50 s, one is 1 h.
    for (let index = 0, at = 0; index < 2_000; index += 1, at += index % 10 === 0 ? HOUR : 50 * SECOND)
      rows.push([at]);
    const end = (rows.at(-1)?.[0] ?? 0) + 1;
    const [hazard, knowing] = ["hazard", "clairvoyant"].map((name) => run(name, rows, end, 60));
    expect(hazard?.coldStarts).toBe(knowing?.coldStarts);
    expect((hazard?.activeMs ?? 0) / ((knowing?.activeMs ?? 1) + 200 * 54 * SECOND)).toBeLessThan(1.01);
  });
});

describe("predictive resume", () => {
  /** A request per minute from nine to ten on working days, for four weeks. */
  const office: Row[] = [0, 1, 2, 3].flatMap((week) =>
    [0, 1, 2, 3, 4].flatMap((day) =>
      every(MINUTE, 60).map(([at]): Row => [week * WEEK + day * DAY + 9 * HOUR + 10 * SECOND + at]),
    ),
  );

  test("resumes ahead of the hours of the week that it knows, and counts used, wasted and missed resumes", () => {
    const outcome = run("predictive", office, 4 * WEEK);
    // It knows nothing in the first week. The very first request ends no idle time.
    expect(outcome.firstStarts).toBe(1);
    expect(outcome.coldStarts).toBeGreaterThanOrEqual(4);
    expect(outcome.coldStarts).toBeLessThanOrEqual(9);
    expect(outcome.resumesUsed).toBeGreaterThanOrEqual(10);
    expect(outcome.coldStarts + outcome.resumesUsed).toBe(19);
  });

  test("wastes one resume per expected hour in a week of holidays", () => {
    const withHolidays = office.filter(([at]) => at < 2 * WEEK || at >= 3 * WEEK);
    const outcome = run("predictive", withHolidays, 4 * WEEK);
    expect(outcome.resumesWasted).toBeGreaterThanOrEqual(5);
    expect(run("predictive:share=1", office, 4 * WEEK).resumesUsed).toBeLessThanOrEqual(
      run("predictive", office, 4 * WEEK).resumesUsed,
    );
  });

  test("expected requests wait only if the lead is shorter than the start", () => {
    const waited = (name: string) => {
      const { waits, firstStarts, coldStarts } = run(name, office, 4 * WEEK, 60, 3_000);
      return waits.waited - firstStarts - coldStarts;
    };
    expect(waited("predictive")).toBe(0);
    expect(waited("predictive:lead=2s")).toBeGreaterThan(5);
  });
});

describe("perfect foresight", () => {
  test("with resumes is ready exactly at each arrival, whatever the latency", () => {
    const outcome = run("clairvoyant:resume", every(HOUR, 11), 10 * HOUR + 1, 60, 3_000);
    expect(outcome).toMatchObject({ coldStarts: 0, firstStarts: 1, resumesUsed: 10 });
    expect(outcome.waits.waited).toBe(1);
  });
});

test("best fixed delays, for the fleet and by compute, are those that a search finds", () => {
  const trace = traceOf(10 * HOUR, every(100 * SECOND, 200), every(1_000 * SECOND, 30));
  const figures = (name: string) => replayTrace(trace, parsePolicy(name), replaySetting(90));
  const bear = (name: string) => weightedCostMs(figures(name), 90);
  const delays = Array.from({ length: 1_200 }, (_, index) => 60 + index);
  // That of the fleet has the lowest cost if gaps get 5 % longer: then it has the cold starts of a shorter delay now.
  const stretched = delays.map((delay) => {
    const { coldStarts } = figures(`fixed:${Math.floor(delay / 1.05)}`);
    return weightedCostMs({ activeMs: figures(`fixed:${delay}`).activeMs, coldStarts }, 90);
  });
  const chosen = delays[stretched.indexOf(Math.min(...stretched, bear("never")))];
  expect(bear("best-fixed:fleet")).toBe(bear(`fixed:${chosen}`));
  expect(bear("best-fixed:compute")).toBeLessThan(bear("best-fixed:fleet"));
});

describe("parsing a policy", () => {
  test.each(POLICY_FORMS.map(({ form }) => form.replace("SECONDS", "300")))(
    "%s is known, and its name is the form",
    (form) => {
      for (const text of [form.replace(/\[.*\]/, ""), form.replace(/[[\]]/g, "")])
        expect(parsePolicy(text).name).toBe(text);
    },
  );

  test.each(POLICY_FORMS)("$form has a row in the reference", ({ form }) => {
    expect(readFileSync("docs/reference/whatif.md", "utf8")).toContain(`\n| \`${form}\` | `);
  });

  test("fixed:0 is immediate", () => expect(parsePolicy("fixed:0").name).toBe("immediate"));

  test.each([
    ["fast", /^policy: "fast" is not known; expected one of: fixed:SECONDS, never, .*clairvoyant:resume$/],
    ["", /^policy: "" is not known/],
    ["never:1", /is not known/],
    ["toString", /is not known/],
    ["fixed", /^policy: "fixed": expected whole seconds from 0 to 604800, such as fixed:300$/],
    ["fixed:604801", /expected whole seconds/],
    ["fixed:1.5", /expected whole seconds/],
    ["hybrid:bin=60", /unknown option "bin" in "hybrid:bin=60"; expected range, fallback/],
    ["hybrid:range=5h", /range in "hybrid:range=5h": expected 1h to 4h/],
    ["hybrid:range=59m", /expected 1h to 4h/],
    ["hybrid:fallback=0", /fallback in "hybrid:fallback=0": expected a duration of at least 1s/],
    ["predictive:lead=soon", /lead in "predictive:lead=soon": expected a duration/],
    ["predictive:share=0", /share in "predictive:share=0": expected a number above 0 and up to 1/],
    ["predictive:share=1.1", /expected a number above 0/],
  ])("%j is an error that says what is expected", (text, message) => {
    expect(() => parsePolicy(text)).toThrow(message);
  });
});

test("a policy that resumes before it suspends, or repeatedly for no time, throws", () => {
  const replayed = (plan: SleepSchedule) => {
    const replay = new PolicyReplay(periodOf(DAY));
    const latencies = new StartLatencies({ kind: "fixed", ms: 0 }, replaySetting().random, 0);
    replay.begin(
      {
        schedule: (since, into) =>
          void Object.assign(into, {
            ...plan,
            sleepAt: since + plan.sleepAt,
            resumeAt: since + plan.resumeAt,
          }),
      },
      latencies,
    );
    return () => replay.add(requestsOf([[0], [HOUR]]));
  };
  expect(replayed({ sleepAt: 10, resumeAt: 9, holdMs: 0 })).toThrow(
    /resumes at \d+, before it suspends at \d+/,
  );
  expect(replayed({ sleepAt: 10, resumeAt: 10, holdMs: 0 })).toThrow(/resumes at \d+ for no time/);
});
