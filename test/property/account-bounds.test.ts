import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/kernel/time.ts";
import { activePeriods } from "../../src/whatif/periods/active-periods.ts";
import { BoundsOfPeriod } from "../../src/whatif/periods/bounds-of-period.ts";
import { ObservedPeriod } from "../../src/whatif/periods/observed-period.ts";
import { withoutHours } from "../../src/whatif/periods/omitted-hours.ts";
import { type Bounds, type DelayBounds, PeriodBounds } from "../../src/whatif/periods/period-bounds.ts";
import type { PeriodColumns } from "../../src/whatif/periods/period-columns.ts";
import { operationColumns } from "../support/account/operation-columns.ts";
import { syntheticCompute, underDelay } from "../support/account/synthetic-account.ts";
import { expectHolds } from "../support/properties/properties.ts";

const START = 1_767_225_600_000;
const END = START + 3 * DAY;
const DELAYS = [60, 61, 90, 120, 299, 300, 301, 420, 600, 3_600, 86_400, "never"] as const;
const WORTH_S = 300;

const request = fc.record({
  gapMs: fc.oneof(
    fc.integer({ min: 0, max: 2 * MINUTE }),
    fc.integer({ min: 4 * MINUTE, max: 6 * MINUTE }),
    // Multiples of the delay, and one millisecond more or less.
    fc
      .tuple(fc.constantFrom(60, 120, 300, 600), fc.integer({ min: -1, max: 1 }))
      .map(([seconds, ms]) => seconds * SECOND + ms),
    fc.integer({ min: 0, max: 9 * HOUR }),
  ),
  durationMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 20 * MINUTE })),
});
const compute = fc.record({
  requests: fc.array(request, { minLength: 1, maxLength: 120, size: "max" }),
  delayS: fc.constantFrom(60, 120, 300, 600),
  startMs: fc.constantFrom(0, 1, 350, 4_000),
  creation: fc.constantFrom("starts it", "starts it not", "unknown"),
});

test("what the traffic would have cost is never outside the bounds that its operations give", async () => {
  await expectHolds(
    fc.property(compute, ({ requests, delayS, startMs, creation }) => {
      const startsAtCreation = creation !== "starts it not";
      const synthetic = syntheticCompute(requests, START, END, delayS, startMs, startsAtCreation);
      const { busy, operations, ...recorded } = synthetic;
      const createdAt = { "starts it": START, "starts it not": START - DAY, unknown: undefined }[creation];
      const { periods } = activePeriods(
        operationColumns(operations),
        [{ at: END, delay: delayS }],
        createdAt,
      );
      const bounds = new PeriodBounds(DELAYS, WORTH_S * SECOND);
      bounds.addCompute(periods, END, 1);
      for (const { delay, coldStarts, activeMs, netSavingCuMs } of bounds.results()) {
        const limitMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
        const truth = underDelay(busy, END, limitMs);
        const net =
          recorded.activeMs - truth.activeMs - WORTH_S * SECOND * (truth.coldStarts - recorded.coldStarts);
        const outside = [
          ...(isWithin(truth.coldStarts, coldStarts) ? [] : ["cold starts"]),
          ...(isWithin(truth.activeMs, activeMs) ? [] : ["active time"]),
          ...(isWithin(net, netSavingCuMs) ? [] : ["net saving"]),
        ];
        expect({ delay, outside }).toEqual({ delay, outside: [] });
      }
    }),
    2_000,
  );
});

test("what the remaining traffic would have cost is never outside its bounds if hours are omitted", async () => {
  const omittedHours = fc.uniqueArray(fc.integer({ min: 0, max: (END - START) / HOUR - 1 }), {
    maxLength: 12,
  });
  await expectHolds(
    fc.property(compute, omittedHours, ({ requests, delayS, startMs, creation }, hours) => {
      const { busy, operations } = syntheticCompute(
        ...([requests, START, END, delayS, startMs, creation === "starts it"] as const),
      );
      const createdAt = { "starts it": START, "starts it not": START - DAY, unknown: undefined }[creation];
      const all = activePeriods(operationColumns(operations), [{ at: END, delay: delayS }], createdAt);
      const spans = hours
        .toSorted((a, b) => a - b)
        .map((hour) => ({ startAt: START + hour * HOUR, endAt: START + (hour + 1) * HOUR }));
      const { periods } = withoutHours(all.periods, spans, END);
      const records = recordsOf(periods).map(([from, to]) => ({
        to,
        busy: busy.filter(([arrival]) => arrival >= from && arrival < to),
      }));
      const bounds = new PeriodBounds(DELAYS, WORTH_S * SECOND);
      bounds.addCompute(periods, END, 1);
      for (const { delay, coldStarts, activeMs } of bounds.results()) {
        const limitMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
        const truth = records.map((record) => underDelay(record.busy, record.to, limitMs));
        const sum = (key: "coldStarts" | "activeMs") => truth.reduce((total, own) => total + own[key], 0);
        const outside = [
          ...(isWithin(sum("coldStarts"), coldStarts) ? [] : ["cold starts"]),
          ...(isWithin(sum("activeMs"), activeMs) ? [] : ["active time"]),
        ];
        expect({ delay, outside }).toEqual({ delay, outside: [] });
      }
    }),
    2_000,
  );
});

/** From the first start of each record to its end. */
function recordsOf(periods: PeriodColumns): readonly (readonly [from: number, to: number])[] {
  const records: [number, number][] = [];
  let from: number | undefined;
  for (let index = 0; index < periods.length; index += 1) {
    from ??= periods.requestedAt[index] as number;
    if (!periods.isLastOfRecord(index)) continue;
    records.push([from, periods.recordEnd(index, END)]);
    from = undefined;
  }
  return records;
}

/** Each period under each delay by itself, without what periods have in common. */
function boundsOneByOne(periods: PeriodColumns): DelayBounds[] {
  const [period, own] = [new ObservedPeriod(), new BoundsOfPeriod()];
  return DELAYS.map((delay) => {
    const limitMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
    const sums: Record<"coldStarts" | "activeMs" | "net", [number, number]> = {
      coldStarts: [0, 0],
      activeMs: [0, 0],
      net: [0, 0],
    };
    const add = (sum: [number, number], least: number, most: number) => {
      sum[0] += least;
      sum[1] += most;
    };
    for (let index = 0; index < periods.length; index += 1) {
      period.read(periods, index, END);
      own.set(period, limitMs, WORTH_S * SECOND);
      add(sums.coldStarts, own.leastCold, own.mostCold);
      add(sums.activeMs, own.leastActiveMs, own.mostActiveMs);
      add(sums.net, own.leastNetMs, own.mostNetMs);
    }
    const boundsOf = ([least, most]: readonly [number, number]) => ({ least, most });
    const activeMs = boundsOf(sums.activeMs);
    const coldStarts = boundsOf(sums.coldStarts);
    return { delay, coldStarts, activeMs, cuMs: activeMs, netSavingCuMs: boundsOf(sums.net) };
  });
}

test("the bounds of a compute are the sums of those of its periods, each under each delay by itself", async () => {
  await expectHolds(
    fc.property(compute, fc.constantFrom("known", "unknown", "changes"), (own, delay) => {
      const { operations } = syntheticCompute(own.requests, START, END, own.delayS, own.startMs, true);
      const readings = { known: [own.delayS], unknown: [], changes: [own.delayS, 90] }[delay];
      const seen = readings.map((delayS, index) => ({ at: START + (index + 1) * DAY, delay: delayS }));
      const { periods } = activePeriods(operationColumns(operations), seen, START);
      const bounds = new PeriodBounds(DELAYS, WORTH_S * SECOND);
      bounds.addCompute(periods, END, 1);
      expect(bounds.results()).toEqual(boundsOneByOne(periods));
    }),
    1_000,
  );
});

function isWithin(value: number, { least, most }: Bounds): boolean {
  return value >= least && value <= most;
}

/** Requests that take no time, so many milliseconds apart, and a pause in which the compute suspends. */
const run = (gapMs: number, gaps: number) => [
  { gapMs: HOUR, durationMs: 0 },
  ...Array.from({ length: gaps }, () => ({ gapMs, durationMs: 0 })),
];

test.each([
  { what: "the most cold starts", gapMs: 60 * SECOND + 1 },
  { what: "the least active time", gapMs: 300 * SECOND },
])("$what of a shorter delay are those of a traffic", ({ what, gapMs }) => {
  const requests = [...run(gapMs, 40), ...run(gapMs, 40), ...run(gapMs, 40)];
  const { busy, operations } = syntheticCompute(requests, START, END, 300, 0);
  const { periods } = activePeriods(operationColumns(operations), [{ at: END, delay: 300 }], START - DAY);
  const bounds = new PeriodBounds([60], WORTH_S * SECOND);
  bounds.addCompute(periods, END, 1);
  const [{ coldStarts, activeMs }] = bounds.results() as [DelayBounds];
  const truth = underDelay(busy, END, 60 * SECOND);
  // One cold start per period, and the resolution of its three instants.
  if (what === "the most cold starts") expect(coldStarts.most - truth.coldStarts).toBeLessThanOrEqual(3);
  else expect(truth.activeMs - activeMs.least).toBeLessThanOrEqual(3 * 4 * SECOND);
});
