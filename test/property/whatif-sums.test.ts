import fc from "fast-check";
import { expect, test } from "vitest";
import { dayStart } from "../../src/kernel/calendar.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import { type ComputeTrace, partsOf, type Trace } from "../../src/traffic/recorded/trace/trace.ts";
import type { SuspendDelay } from "../../src/whatif/gap-curve/delay.ts";
import type { SettableDelays } from "../../src/whatif/gap-curve/settable-delays.ts";
import type { DayTotals } from "../../src/whatif/held-out/day-totals.ts";
import { FixedDelayTotals } from "../../src/whatif/held-out/fixed-delay-totals.ts";
import { FleetGapMemory, fleetGapsOfDays } from "../../src/whatif/held-out/fleet-gaps.ts";
import { dayMask, delaysByPseudoGaps, foldOfDay } from "../../src/whatif/held-out/shrinkage.ts";
import { SortedGaps } from "../../src/whatif/held-out/sorted-gaps.ts";
import { FixedReplay } from "../../src/whatif/replay/fixed-replay.ts";
import { PolicyReplay } from "../../src/whatif/replay/policy-replay.ts";
import { emptyOutcomeByDay, type ReplayOutcome } from "../../src/whatif/replay/replay-outcome.ts";
import { loadReadingsOf } from "../../src/whatif/sizes/load-readings-source.ts";
import { LoadSizes } from "../../src/whatif/sizes/load-sizes.ts";
import type { LongGaps } from "../../src/whatif/trace/long-gaps.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { BEGIN, DAY, HOUR, longGapsOf, periodOf, type Row, requestsOf } from "../support/traffic/traces.ts";

const DAYS = 8;
const DELAYS: readonly SuspendDelay[] = [60, 75, 300, 3_600, 86_400, 604_800, "never"];
const SIZES = [0.25, 0.5, 1, 8];

const fleet = fc.record({
  seed: fc.nat(1_000_000),
  count: fc.integer({ min: 1, max: 6 }),
  /** A period that does not begin at midnight. */
  offsetMs: fc.constantFrom(0, 5 * HOUR + 1),
  startMs: fc.constantFrom(0, 500, 90_000),
});
type Fleet = typeof fleet extends fc.Arbitrary<infer Value> ? Value : never;

/** From bursts within a second to silence over several midnights. */
function traceOf({ seed, count, offsetMs }: Fleet): Trace {
  const random = randomFrom(seed);
  const computes = Array.from({ length: count }, (_, number): ComputeTrace => {
    const draw = random.stream("test-sums", number);
    const rows: Row[] = [];
    for (let at = offsetMs; ; ) {
      const longest = [100, 70_000, 400_000, 2 * HOUR, 3 * DAY][draw() % 5] as number;
      at += draw() % longest;
      if (at >= DAYS * DAY || rows.length >= 2_000) break;
      rows.push([at, draw() % (draw() % 50 === 0 ? DAY : 2_000)]);
    }
    const arrivals = requestsOf(rows);
    const load = arrivals.at.map(() => draw() % 12);
    return { id: `ep-${number}`, arrivals: { ...arrivals, load } };
  });
  const { endAt } = periodOf(DAYS * DAY);
  return { period: { startAt: BEGIN + offsetMs, endAt }, computes };
}

test("the totals of many delays from one pass are those of the plain formula, to the last digit", async () => {
  await expectHolds(
    fc.property(fleet, (drawn) => {
      const trace = traceOf(drawn);
      const gaps = longGapsOf(trace, drawn.startMs);
      const cu = trace.computes.map((_, number) => SIZES[number % SIZES.length] as number);
      const totals = new FixedDelayTotals(gaps, DELAYS, { cu, pricePerCuHour: 0.2, coldStartS: 300 });
      for (const delay of DELAYS) expect(totals.of(delay)).toEqual(plainTotals(gaps, delay, cu));
      expect(totals.of(61)).toBeUndefined();
    }),
    60,
  );
});

/** Each gap is active until the delay, and each millisecond of that counts on its day. */
function plainTotals(gaps: LongGaps, delay: SuspendDelay, cu: readonly number[]): DayTotals {
  const cells = gaps.activeMs.length;
  const totals = {
    coldStarts: new Float64Array(cells),
    cuColdStarts: new Float64Array(cells),
    waitMs: new Float64Array(cells),
    activeMs: gaps.activeMs.slice(),
    cuMs: gaps.cuMs.slice(),
  };
  const add = (column: Float64Array, cell: number, value: number) => {
    column[cell] = (column[cell] as number) + value;
  };
  const limitMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * 1_000;
  for (const [compute, size] of cu.entries()) {
    const group = (gaps.groupOf[compute] as number) * gaps.days;
    const addIdle = (from: number, idleMs: number) => {
      for (let day = 0; day < gaps.days; day += 1) {
        const [dayFrom, dayTo] = [gaps.firstDay + day * DAY, gaps.firstDay + (day + 1) * DAY];
        const within = Math.max(0, Math.min(from + idleMs, dayTo) - Math.max(from, dayFrom));
        add(totals.activeMs, group + day, within);
        add(totals.cuMs, group + day, within * size);
      }
    };
    for (let i = gaps.firstOf[compute] as number; i < (gaps.firstOf[compute + 1] as number); i += 1) {
      const [gapMs, endAt] = [gaps.gapMs[i] as number, gaps.endAt[i] as number];
      addIdle(endAt - gapMs, Math.min(gapMs, limitMs));
      if (gapMs <= limitMs) continue;
      add(totals.coldStarts, group + (gaps.day[i] as number), 1);
      add(totals.cuColdStarts, group + (gaps.day[i] as number), size);
      add(totals.waitMs, group + (gaps.day[i] as number), gaps.waitMs[i] as number);
    }
    addIdle(gaps.tailFrom[compute] as number, Math.min(gaps.tailMs[compute] as number, limitMs));
  }
  return totals;
}

test("the delay of each compute is the cheapest of all candidates, for each number of pseudo-gaps", async () => {
  const pseudoGaps = [0, 1, 20, 2_000, Number.POSITIVE_INFINITY];
  await expectHolds(
    fc.property(fleet, fc.integer({ min: 1, max: 3_600 }), settableDelays, (drawn, worthS, settable) => {
      const gaps = longGapsOf(traceOf(drawn), drawn.startMs);
      const costs = { active: () => 1, coldStart: () => worthS * 1_000, settable };
      const days = [...Array(gaps.days).keys()];
      const used = days.filter((_, index) => index % 5 !== 1);
      const fleetGaps = fleetGapsOfDays(gaps, dayMask(gaps, used), costs, new FleetGapMemory());
      const chosen = delaysByPseudoGaps(new SortedGaps(gaps, foldOfDay(days)), fleetGaps, costs, {
        pseudoGaps,
        groups: { without: 1 },
      });
      for (let compute = 0; compute < gaps.tailMs.length; compute += 1) {
        const own = [...gaps.gapMs.keys()]
          .filter((i) => i >= (gaps.firstOf[compute] as number) && i < (gaps.firstOf[compute + 1] as number))
          .filter((i) => (gaps.day[i] as number) % 5 !== 1)
          .map((i) => gaps.gapMs[i] as number);
        const costOf = (delay: SuspendDelay, pseudo: number) => {
          const limitMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * 1_000;
          const cold = own.filter((gapMs) => gapMs > limitMs).length;
          const idleMs = own.reduce((sum, gapMs) => sum + Math.min(gapMs, limitMs), 0);
          const index = delay === "never" ? 604_801 : delay;
          const ofFleet =
            (fleetGaps.idleMs[index] as number) + worthS * 1_000 * (fleetGaps.coldShare[index] as number);
          return idleMs + cold * worthS * 1_000 + pseudo * ofFleet;
        };
        const candidates = settable === "all" ? candidateDelays(own, fleetGaps.chosen) : settable;
        for (const [index, pseudo] of pseudoGaps.entries()) {
          const cheapest =
            pseudo === Number.POSITIVE_INFINITY
              ? fleetGaps.chosen
              : candidates.reduce((best, delay) =>
                  costOf(delay, pseudo) < costOf(best, pseudo) ? delay : best,
                );
          expect([compute, pseudo, chosen[index]?.[compute]]).toEqual([compute, pseudo, cheapest]);
        }
      }
    }),
    30,
  );
});

const settableDelays = fc.constantFrom<SettableDelays>("all", [300, "never"], [60, 120, 3_600, "never"]);

/** Ascending: the lengths of its gaps, delays 5 % apart, and the delay of the fleet. */
function candidateDelays(own: readonly number[], best: SuspendDelay): readonly SuspendDelay[] {
  const spread: number[] = [];
  for (let step = 0; spread.at(-1) !== 604_800; step += 1)
    spread.push(Math.min(604_800, Math.round(60 * 1.05 ** step)));
  const lengths = own.map((gapMs) => Math.ceil(gapMs / 1_000)).filter((length) => length <= 604_800);
  const finite = new Set([...lengths, ...spread, ...(best === "never" ? [] : [best])]);
  return [...[...finite].sort((a, b) => a - b), "never"];
}

test("the totals of a replay by day are those of the plain rules, by either replay, with sizes that follow loads", async () => {
  await expectHolds(
    fc.property(fleet, fc.constantFrom(...DELAYS), (drawn, delay) => {
      const { period, computes } = traceOf(drawn);
      const latencies = { at: (at: number) => drawn.startMs + (at % 7) };
      const startWorth = (waitMs: number) => 1_000 + waitMs;
      const [fixed, any] = [
        new FixedReplay(period, delay, emptyOutcomeByDay(period)),
        new PolicyReplay(period, emptyOutcomeByDay(period)),
      ];
      const policy = {
        schedule(idleSince: number, schedule: { sleepAt: number; resumeAt: number; holdMs: number }) {
          const delayMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * 1_000;
          Object.assign(schedule, {
            sleepAt: idleSince + delayMs,
            resumeAt: Number.POSITIVE_INFINITY,
            holdMs: 0,
          });
        },
      };
      for (const [number, { arrivals }] of computes.entries()) {
        const setting = { cu: SIZES[number % SIZES.length] as number, startWorth };
        fixed.begin(latencies, { ...setting, sizes: sizesOf(number) });
        any.begin(policy, latencies, { ...setting, sizes: sizesOf(number) });
        for (const replay of [fixed, any]) {
          const parts = partsOf(arrivals, 333);
          for (let part = parts.next(); part !== undefined; part = parts.next()) replay.add(part);
          replay.end();
        }
      }
      const expected = plainDays(computes, period.startAt, delay, latencies.at, startWorth);
      for (const { outcome } of [fixed, any]) {
        expect(daysOf(outcome)).toEqual(expected);
        expect(outcome.cuMs).toBe(expected.cuMs.reduce((sum, own) => sum + own, 0));
      }
    }),
    60,
  );
});

/** Every second compute scales. */
function sizesOf(number: number): LoadSizes | undefined {
  if (number % 2 === 0) return undefined;
  const minCu = SIZES[number % SIZES.length] as number;
  return new LoadSizes({
    range: { minCu, maxCu: minCu + 2 },
    ramGbPerCu: 4,
    readings: loadReadingsOf(randomFrom(1), number),
    cpuShare: 1,
  });
}

const COLUMNS = [
  "arrivals",
  "firstStarts",
  "coldStarts",
  "cuColdStarts",
  "activeMs",
  "startingMs",
  "cuMs",
  "startWorthMs",
  "cuStartWorthMs",
  "waitMs",
] as const;
type Columns = Record<(typeof COLUMNS)[number], number[]>;

function daysOf({ days }: ReplayOutcome): Columns {
  return Object.fromEntries(COLUMNS.map((name) => [name, [...(days?.[name] ?? [])]])) as Columns;
}

function plainDays(
  computes: readonly ComputeTrace[],
  startAt: number,
  delay: SuspendDelay,
  latencyAt: (at: number) => number,
  startWorth: (waitMs: number) => number,
): Columns {
  const delayMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * 1_000;
  const { endAt } = periodOf(DAYS * DAY);
  const firstDay = dayStart(startAt);
  const count = Math.ceil((endAt - firstDay) / DAY);
  const columns = Object.fromEntries(COLUMNS.map((name) => [name, Array(count).fill(0)])) as Columns;
  const add = (name: keyof Columns, at: number, value: number) => {
    const day = Math.min(count - 1, Math.floor((at - firstDay) / DAY));
    columns[name][day] = (columns[name][day] as number) + value;
  };
  /** Time after the last day counts on it. */
  const spread = (name: keyof Columns, from: number, to: number, factor: number) => {
    for (let day = 0; day < count; day += 1) {
      const dayTo = day === count - 1 ? Number.POSITIVE_INFINITY : firstDay + (day + 1) * DAY;
      const within = Math.min(to, dayTo) - Math.max(from, firstDay + day * DAY);
      if (within > 0) columns[name][day] = (columns[name][day] as number) + within * factor;
    }
  };
  for (const [number, { arrivals }] of computes.entries()) {
    const cu = SIZES[number % SIZES.length] as number;
    const sizes = sizesOf(number);
    let open:
      | { from: number; readyAt: number; busyEnd: number; waitMs: number; isFirst: boolean }
      | undefined;
    const suspend = () => {
      if (open === undefined) return;
      const { from, readyAt, busyEnd, waitMs, isFirst } = open;
      const to = Math.min(busyEnd + delayMs, Math.max(endAt, busyEnd));
      spread("activeMs", from, to, 1);
      spread("startingMs", from, readyAt, 1);
      if (sizes === undefined) spread("cuMs", readyAt, to, cu);
      else sizes.visitUntil(to, (since, until, sizeCu) => spread("cuMs", since, until, sizeCu));
      add(isFirst ? "firstStarts" : "coldStarts", from, 1);
      add("waitMs", from, waitMs);
      if (isFirst) return;
      add("cuColdStarts", from, cu);
      add("startWorthMs", from, startWorth(waitMs));
      add("cuStartWorthMs", from, startWorth(waitMs) * cu);
    };
    for (const [index, at] of arrivals.at.entries()) {
      add("arrivals", at, 1);
      if (open === undefined || at > open.busyEnd + delayMs) {
        const isFirst: boolean = open === undefined;
        suspend();
        const readyAt = at + latencyAt(at);
        sizes?.start(readyAt);
        open = { from: at, readyAt, busyEnd: readyAt, waitMs: 0, isFirst };
      }
      const begin = Math.max(at, open.readyAt);
      open.waitMs += begin - at;
      sizes?.addRequests(arrivals, index, index + 1, open.readyAt);
      open.busyEnd = Math.max(open.busyEnd, begin + (arrivals.durationMs[index] as number));
    }
    suspend();
  }
  return columns;
}
