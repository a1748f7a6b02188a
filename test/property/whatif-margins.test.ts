import fc from "fast-check";
import { expect, test } from "vitest";
import { randomFrom } from "../../src/simulation/random.ts";
import type { ComputeTrace, Trace } from "../../src/traffic/recorded/trace/trace.ts";
import { DayMargins } from "../../src/whatif/held-out/margins.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { DAY, longGapsOf, MINUTES, periodOf, type Row, requestsOf } from "../support/traffic/traces.ts";

const PERIOD = periodOf(9 * DAY);

/** `many` computes are put into groups. */
const computeCount = fc.oneof(fc.integer({ min: 5, max: 12 }), fc.integer({ min: 257, max: 300 }));
const fleet = fc
  .record({ count: computeCount, seed: fc.nat(1_000_000) })
  .chain(({ count, seed }) =>
    fc
      .shuffledSubarray([...Array(count).keys()], { minLength: count })
      .map((order) => ({ computes: computesOf(count, seed), order })),
  );

function computesOf(count: number, seed: number): ComputeTrace[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, number) => {
    const draw = random.stream("test-fleet", number);
    const rows: Row[] = [];
    for (let at = 0; ; ) {
      at += draw() % ((1 + (number % 7)) * 90 * MINUTES);
      if (at >= 9 * DAY) break;
      rows.push([at, draw() % 1_000]);
    }
    return { id: `ep-${number}`, arrivals: requestsOf(rows) };
  });
}

test("margins do not depend on the order of the computes", async () => {
  await expectHolds(
    fc.property(fleet, ({ computes, order }) => {
      const marginsOf = (ordered: readonly ComputeTrace[]) => {
        const trace: Trace = { period: PERIOD, computes: ordered };
        const costs = { cu: 0.25, pricePerCuHour: 0.16, coldStartS: 300 };
        const margins = new DayMargins(longGapsOf(trace, 500), PERIOD, costs, () => 300);
        return [margins.figures(300), margins.change(60, 300), margins.figures("never")];
      };
      expect(marginsOf(order.map((number) => computes[number] as ComputeTrace))).toEqual(marginsOf(computes));
    }),
    20,
  );
});
