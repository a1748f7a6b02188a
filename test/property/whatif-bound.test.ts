import fc from "fast-check";
import { expect, test } from "vitest";
import { randomFrom } from "../../src/simulation/random.ts";
import type { ComputeArrivals, Trace } from "../../src/traffic/recorded/trace/trace.ts";
import { experimentSetting, type Question, questionFrom } from "../../src/whatif/input/question.ts";
import { POLICY_FORMS, parsePolicy } from "../../src/whatif/policies/parse-policy.ts";
import { createReplay } from "../../src/whatif/replay/experiment.ts";
import { outcomeFigures } from "../../src/whatif/replay/figures.ts";
import { FixedReplay } from "../../src/whatif/replay/fixed-replay.ts";
import { PolicyReplay } from "../../src/whatif/replay/policy-replay.ts";
import type { ReplayOutcome } from "../../src/whatif/replay/replay-outcome.ts";
import type { StartLatency } from "../../src/whatif/units/start-latency.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { DAY, HOUR, periodOf, type Row, requestsOf, SECOND, traceOf } from "../support/traffic/traces.ts";
import { fleetGapsOf, replayTrace } from "../support/whatif/replay-trace.ts";

const policies = [
  ...POLICY_FORMS.map(({ form }) => form.replace("SECONDS", "90").replace(/\[.*\]/, "")),
  "fixed:1",
  "fixed:300",
  "schedule:trained,until=1d",
].map(parsePolicy);
/** All but those that need a curve, which takes milliseconds. */
const quickPolicies = policies.filter(({ knows }) => knows !== "hindsight");

/** Starts of up to 10 s, for which bursts of up to 25 requests wait, some of which run for longer than the start. */
function burstsAround(worthMs: number, latencyMs: number, maxBursts: number): fc.Arbitrary<readonly Row[]> {
  const gapMs = fc.oneof(
    fc.constantFrom(1, latencyMs, worthMs, worthMs + 1, 2 * worthMs, 12 * worthMs),
    fc.nat(2 * latencyMs),
    fc.nat(2 * worthMs),
    fc.nat(20 * worthMs),
    fc.nat(DAY / 2),
  );
  const request = fc.record({
    afterMs: fc.oneof(fc.constant(0), fc.nat(latencyMs), fc.nat(3 * latencyMs)),
    durationMs: fc.oneof(fc.constantFrom(0, 1), fc.nat(2 * latencyMs), fc.nat(60 * SECOND)),
  });
  const burst = fc.record({
    gapMs,
    requests: fc.array(request, { minLength: 1, maxLength: 5 }),
    times: fc.constantFrom(1, 1, 2, 5),
  });
  return fc.array(burst, { minLength: 1, maxLength: maxBursts, size: "max" }).map((bursts) => {
    const rows: Row[] = [];
    let at = 0;
    for (const { gapMs: gap, requests, times } of bursts) {
      at += gap;
      for (const { afterMs, durationMs } of requests)
        for (let time = 0; time < times; time += 1) rows.push([at + afterMs, durationMs]);
    }
    return rows.sort(([a], [b]) => a - b);
  });
}

const latencyMs = fc.oneof(fc.constantFrom(0, 500, 3_000, 10_000), fc.nat(10 * SECOND));
const worthS = fc.oneof(fc.constantFrom(0, 1, 60, 300, 7_200), fc.nat(20), fc.nat(4 * 3_600));
const question = fc
  .record({
    latencyMs,
    worthS,
    worthIn: fc.constantFrom("seconds", "dollars", "waits"),
    cu: fc.constantFrom(0.25, 1, 8),
  })
  .map(({ latencyMs: ms, worthS: seconds, worthIn, cu }) => {
    const price = 0.16;
    const dollars = ((seconds * cu) / 3_600) * price;
    const worth =
      worthIn === "seconds"
        ? { coldStartWorthS: seconds }
        : worthIn === "dollars"
          ? { coldStartDollars: dollars }
          : { waitDollarsPerHour: (dollars * HOUR) / 3_000 };
    return {
      ms,
      seconds,
      question: questionFrom({ startLatency: { kind: "fixed", ms }, cu, price, ...worth }),
    };
  });
const situation = question.chain(({ ms, seconds, question: asked }) =>
  fc
    .array(burstsAround(seconds * SECOND, ms, 12), { minLength: 1, maxLength: 3 })
    .map((computes) => ({ latencyMs: ms, question: asked, trace: traceUntilEnd(computes) })),
);

function traceUntilEnd(computes: readonly (readonly Row[])[]): Trace {
  const lastMs = Math.max(...computes.flatMap((rows) => rows.map(([at]) => at)));
  return traceOf(lastMs + 1, ...computes);
}

function weightedCost(
  trace: Trace,
  asked: Question,
  name: string,
  ignored?: Uint8Array,
): { readonly costS: number; readonly outcome: ReplayOutcome } {
  const setting = { ...experimentSetting(asked, randomFrom(1)), ignored };
  const outcome = replayTrace(trace, parsePolicy(name), setting);
  const { startAt, endAt } = trace.period;
  return { costS: outcomeFigures(outcome, endAt - startAt, asked.costs).burden_s, outcome };
}

test("no policy that only suspends beats the bound, whatever waits for a start", async () => {
  await expectHolds(
    fc.property(situation, ({ question: asked, trace }) => {
      const bound = weightedCost(trace, asked, "clairvoyant").costS;
      for (const { name, resumes } of quickPolicies) {
        if (!resumes)
          expect(weightedCost(trace, asked, name).costS, name).toBeGreaterThanOrEqual(bound - 1e-6);
      }
    }),
    7_000,
  );
});

test("no policy beats the bound for resumes, unless a cold start is worth less than two starts take", async () => {
  await expectHolds(
    fc.property(situation, ({ latencyMs: ms, question: asked, trace }) => {
      const bound = weightedCost(trace, asked, "clairvoyant:resume").costS;
      for (const { name, resumes } of quickPolicies) {
        const { costS, outcome } = weightedCost(trace, asked, name);
        // Being ready late can save up to two starts of metered time each time, if no worth is set against it.
        const isBound = asked.costs.dollars === undefined && asked.costs.coldStartS * SECOND >= 2 * ms;
        const late = isBound || !resumes ? 0 : (outcome.resumesUsed * 2 * ms) / SECOND;
        expect(costS, name).toBeGreaterThanOrEqual(bound - late - 1e-6);
      }
    }),
    1_500,
  );
});

test("the best delays in hindsight do not beat the bound either", async () => {
  await expectHolds(
    fc.property(situation, ({ question: asked, trace }) => {
      const bound = weightedCost(trace, asked, "clairvoyant").costS;
      for (const name of ["best-fixed:fleet", "best-fixed:compute"])
        expect(weightedCost(trace, asked, name).costS, name).toBeGreaterThanOrEqual(bound - 1e-6);
    }),
    40,
  );
});

test("the bound is the least cost of all ways to suspend", async () => {
  const given = question.chain(({ ms, seconds, question: asked }) =>
    burstsAround(seconds * SECOND, ms, 4).map((rows) => ({ question: asked, rows: rows.slice(0, 9) })),
  );
  await expectHolds(
    fc.property(given, ({ question: asked, rows }) => {
      const trace = traceUntilEnd([rows]);
      const bound = weightedCost(trace, asked, "clairvoyant").outcome;
      expect(bound.activeMs - bound.startingMs + bound.startWorthMs).toBe(leastCostMs(trace, asked));
    }),
    700,
  );
});

/** Nobody waits for the second source, whose requests are about half of all. */
const IGNORED = Uint8Array.of(0, 1);
const sourcesOf = (rows: readonly Row[], sources: readonly number[]): Row[] =>
  rows.map(([at, durationMs = 0], index) => [at, durationMs, sources[index % sources.length] as number]);
const sources = fc.array(fc.nat(1), { minLength: 1, maxLength: 12 });

test("no policy that only suspends beats the bound if nobody waits for a source", async () => {
  const given = question.chain(({ ms, seconds, question: asked }) =>
    fc
      .tuple(burstsAround(seconds * SECOND, ms, 12), sources)
      .map(([rows, of]) => ({ question: asked, trace: traceUntilEnd([sourcesOf(rows, of)]) })),
  );
  await expectHolds(
    fc.property(given, ({ question: asked, trace }) => {
      const costOf = (name: string) => weightedCost(trace, asked, name, IGNORED).costS;
      const bound = costOf("clairvoyant");
      for (const { name, resumes } of quickPolicies)
        if (!resumes) expect(costOf(name), name).toBeGreaterThanOrEqual(bound - 1e-6);
    }),
    1_500,
  );
});

test("the bound is the least cost of all ways to suspend if nobody waits for a source", async () => {
  const given = question.chain(({ ms, seconds, question: asked }) =>
    fc
      .tuple(burstsAround(seconds * SECOND, ms, 4), sources)
      .map(([rows, of]) => ({ question: asked, rows: sourcesOf(rows.slice(0, 9), of) })),
  );
  await expectHolds(
    fc.property(given, ({ question: asked, rows }) => {
      const trace = traceUntilEnd([rows]);
      const bound = weightedCost(trace, asked, "clairvoyant", IGNORED).outcome;
      expect(bound.activeMs - bound.startingMs + bound.startWorthMs).toBe(leastCostMs(trace, asked, IGNORED));
    }),
    500,
  );
});

test("starts of random length: no policy that only suspends beats the bound", async () => {
  const measured: StartLatency = { kind: "lognormal", medianMs: 1_344, sigma: 1.326, maxMs: 600_000 };
  const given = worthS.chain((seconds) =>
    burstsAround(seconds * SECOND, 3_000, 12).map((rows) => ({
      question: questionFrom({ startLatency: measured, coldStartWorthS: seconds }),
      trace: traceUntilEnd([rows]),
    })),
  );
  await expectHolds(
    fc.property(given, ({ question: asked, trace }) => {
      const bound = weightedCost(trace, asked, "clairvoyant").costS;
      for (const { name, resumes } of quickPolicies)
        if (!resumes)
          expect(weightedCost(trace, asked, name).costS, name).toBeGreaterThanOrEqual(bound - 1e-6);
    }),
    700,
  );
});

/** By trying all choices at all requests that may find the compute idle. */
function leastCostMs({ period, computes: [compute] }: Trace, asked: Question, ignored?: Uint8Array): number {
  const arrivals = compute?.arrivals as ComputeArrivals;
  let least = Number.POSITIVE_INFINITY;
  for (let choice = 0; choice < 2 ** (arrivals.at.length - 1); choice += 1) {
    const policy = {
      ...parsePolicy("immediate"),
      delay: undefined,
      createState: () => ({
        schedule: (
          idleSince: number,
          schedule: { sleepAt: number; resumeAt: number; holdMs: number },
          nextAt: number,
        ) => {
          const isSuspended =
            nextAt === Number.POSITIVE_INFINITY || ((choice >> (arrivals.at.indexOf(nextAt) - 1)) & 1) === 1;
          Object.assign(schedule, {
            sleepAt: isSuspended ? idleSince : nextAt,
            resumeAt: Number.POSITIVE_INFINITY,
            holdMs: 0,
          });
        },
      }),
    };
    const { delay: _, ...withoutDelay } = policy;
    const setting = { ...experimentSetting(asked, randomFrom(1)), ignored };
    const replay = createReplay(withoutDelay, period, setting, () => fleetGapsOf({ period, computes: [] }));
    replay.begin(
      0,
      () => expect.fail(),
      () => arrivals,
    );
    replay.add(arrivals);
    replay.end();
    const { activeMs, startingMs, startWorthMs } = replay.outcome;
    least = Math.min(least, activeMs - startingMs + startWorthMs);
  }
  return least;
}

test("20 requests at an instant every 400 s: autosuspend off is right, and the bound says so", () => {
  const rows = Array.from({ length: (9 * DAY) / (400 * SECOND) }, (_, burst) => 400 * SECOND * burst).flatMap(
    (at) => Array.from({ length: 20 }, (): Row => [at, 100]),
  );
  const trace = traceOf(9 * DAY, rows);
  const asked = questionFrom({ startLatency: { kind: "fixed", ms: 3_000 } });
  const [never, bound] = ["never", "clairvoyant"].map((name) => weightedCost(trace, asked, name));
  expect(never?.costS).toBeGreaterThanOrEqual(bound?.costS ?? Number.NaN);
  expect(bound?.outcome.coldStarts).toBe(0);
  // The first bursts teach what a start is worth.
  for (const name of ["ski-rental", "hazard"])
    expect(weightedCost(trace, asked, name).outcome.coldStarts, name).toBeLessThanOrEqual(1);
});

test("the kernels count what a start is worth alike", () => {
  const rows: readonly Row[] = [[0], [HOUR, 10], [HOUR + 1_000, 10], [HOUR + 3_000, 10]];
  const worths: number[] = [];
  const startWorth = (waitMs: number) => worths.push(waitMs);
  for (const replay of [new FixedReplay(periodOf(DAY), 60), new PolicyReplay(periodOf(DAY))]) {
    const latencies = { at: () => 3_000 };
    if (replay instanceof FixedReplay) replay.begin(latencies, { startWorth });
    else
      replay.begin(
        {
          schedule: (since, into) =>
            Object.assign(into, { sleepAt: since + 60_000, resumeAt: Number.POSITIVE_INFINITY }),
        },
        latencies,
        { startWorth },
      );
    replay.add(requestsOf(rows));
    replay.end();
  }
  // The request that arrives when the start ends does not wait, and nothing is counted for the first start.
  expect(worths).toEqual([5_000, 5_000]);
});
