import { expect, test } from "vitest";
import { uniform } from "../../../src/kernel/random-port.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { LeftOutDays } from "../../../src/whatif/held-out/left-out-days.ts";
import { DayMargins } from "../../../src/whatif/held-out/margins.ts";
import { OutcomeMargins } from "../../../src/whatif/held-out/outcome-margins.ts";
import { parsePolicy } from "../../../src/whatif/policies/parse-policy.ts";
import { type OutcomeDays, totalsOfDays } from "../../../src/whatif/replay/outcome-days.ts";
import { outcomeBetween, type ReplayOutcome } from "../../../src/whatif/replay/replay-outcome.ts";
import { emptyGaps, GapReader } from "../../../src/whatif/trace/gaps.ts";
import { LongGapStore } from "../../../src/whatif/trace/long-gap-store.ts";
import type { LongGaps } from "../../../src/whatif/trace/long-gaps.ts";
import { BEGIN, DAY, periodOf, type Row, SECOND, traceOf } from "../../support/traffic/traces.ts";
import { replayTrace } from "../../support/whatif/replay-trace.ts";

const COSTS = { cu: 1, pricePerCuHour: 0.2, coldStartS: 300 };
const DAYS = 9;
const PERIOD = periodOf(DAYS * DAY);
const TRACE = traceOf(DAYS * DAY, ...[1, 2, 3].map(rowsOf));

/** Random arrivals, 400 s apart on average, of 90 s. None runs at midnight, where the curve counts whole gaps. */
function rowsOf(compute: number): Row[] {
  const draw = randomFrom(1).stream("outcome-margins-test", compute);
  const rows: Row[] = [];
  for (let at = 0; at < DAYS * DAY; at += Math.round(-Math.log(1 - uniform(draw)) * 400 * SECOND))
    if (at % DAY > 300 * SECOND && at % DAY < DAY - 300 * SECOND) rows.push([at, 90 * SECOND]);
  return rows;
}

const replayed = (policy: string, latencyMs: number, trace = TRACE): ReplayOutcome =>
  replayTrace(trace, parsePolicy(policy), {
    latency: { kind: "fixed", ms: latencyMs },
    coldStartS: 300,
    random: randomFrom(1),
  });

const daysOf = ({ days }: ReplayOutcome) => days as OutcomeDays;

test.each(["fixed:60", "never", "hazard", "predictive"])(
  "the days of a replay add up to its totals: %s",
  (policy) => {
    const outcome = replayed(policy, 3 * SECOND);
    const totals = totalsOfDays(daysOf(outcome), [...Array(DAYS).keys()]);
    const added = Object.fromEntries(
      Object.keys(totals).map((name) => [name, outcome[name as keyof typeof outcome]]),
    );
    expect(totals).toEqual({ ...added, waitMs: outcome.waits.sumMs });
    expect(totals.startWorthMs).toBe(outcome.coldStarts * 300 * SECOND);
    expect(daysOf(outcome).arrivals.every((count) => count > 0)).toBe(true);
  },
);

test("between two replays, only the days of the difference have totals", () => {
  const until = 5 * DAY;
  const cut = { ...TRACE, period: { startAt: BEGIN, endAt: BEGIN + until } };
  const shorter = replayed("fixed:60", 0, {
    ...cut,
    computes: TRACE.computes.map(({ id, arrivals: { at, durationMs } }) => {
      const count = at.filter((instant) => instant < BEGIN + until).length;
      return { id, arrivals: { at: at.subarray(0, count), durationMs: durationMs.subarray(0, count) } };
    }),
  });
  const between = daysOf(outcomeBetween(shorter, replayed("fixed:60", 0)));
  expect([...between.arrivals].map((count) => count > 0)).toEqual(
    Array.from({ length: DAYS }, (_, day) => day >= 5),
  );
});

test("if starts take no time, a replay has the margins of the curve", () => {
  const store = new LongGapStore(PERIOD, { from: 0, groups: Uint8Array.of(0, 1, 2) });
  const reader = new GapReader(PERIOD, emptyGaps(PERIOD), { startMs: 0, store });
  for (const { arrivals } of TRACE.computes) {
    reader.add(arrivals);
    reader.end();
  }
  const curve = new DayMargins(store.result() as LongGaps, PERIOD, COSTS, (delay) => delay as number);
  const margins = OutcomeMargins.of(PERIOD) as OutcomeMargins;
  const [short, long] = (["fixed:60", "fixed:300"] as const).map((policy) =>
    margins.drawn([daysOf(replayed(policy, 0))], COSTS),
  ) as [ReturnType<OutcomeMargins["drawn"]>, ReturnType<OutcomeMargins["drawn"]>];
  const [at60, change] = [curve.figures(60).days, curve.change(60, 300).days];
  expect(at60.cost_dollars_per_month).toBeGreaterThan(0);
  expect(margins.margin(short.cost) * (730 / (DAYS * 24))).toBeCloseTo(at60.cost_dollars_per_month, 9);
  expect(margins.margin(short.cold_starts_per_day)).toBeCloseTo(at60.cold_starts_per_day, 9);
  expect(margins.percent(short.cost, long.cost)).toBeCloseTo(change.cost_percent as number, 9);
  expect(margins.percent(short.burden_s, long.burden_s)).toBeCloseTo(
    change.weighted_cost_percent as number,
    9,
  );
});

test("a difference is paired: its margin is far below that of two separate margins", () => {
  const leftOut = new LeftOutDays(PERIOD);
  // Busy and quiet days; the second figure is always 1 more.
  const own = leftOut.samples((days) => days.reduce((sum, day) => sum + (day % 3) * 10, 0));
  const base = own.map((value) => value + 1);
  expect(leftOut.margin(own)).toBeGreaterThan(5);
  expect(leftOut.margin(own.map((value, index) => value - (base[index] as number)))).toBe(0);
});

test("replications of the same days are averaged before days are left out", () => {
  const margins = OutcomeMargins.of(PERIOD) as OutcomeMargins;
  const [short, long] = [daysOf(replayed("fixed:60", 0)), daysOf(replayed("fixed:300", 0))];
  const [mean, a, b] = [[short, long], [short], [long]].map((of) => margins.drawn(of, COSTS).cost) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  expect(mean[0]).toBeCloseTo(((a[0] as number) + (b[0] as number)) / 2, 9);
});

test("too few days have no margins, with the reason", () => {
  expect(OutcomeMargins.of(periodOf(5 * DAY))).toEqual({
    missing: "5 whole days (UTC) of traffic, and 7 are needed",
  });
});
