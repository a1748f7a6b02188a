import fc from "fast-check";
import { expect, test } from "vitest";
import { DelayLookup, type SeenDelay } from "../../src/whatif/periods/delay-lookup.ts";
import { expectHolds } from "../support/properties/properties.ts";

const instant = fc.integer({ min: 0, max: 30 });
const readings = fc
  .array(fc.record({ at: instant, delay: fc.constantFrom(60, 300, "never" as const) }), { maxLength: 6 })
  .map((seen) => seen.toSorted((a, b) => a.at - b.at));
const changes = fc.array(instant, { maxLength: 3 }).map((all) => all.toSorted((a, b) => a - b));

/** On which side of the change in whose second it was read: not on that with a reading of another delay next to it. */
function sideOf(one: SeenDelay, seen: readonly SeenDelay[], changedAt: readonly number[]) {
  if (changedAt.filter((at) => at === one.at).length > 1) return undefined;
  const from = Math.max(-1, ...changedAt.filter((at) => at < one.at));
  const to = Math.min(Number.POSITIVE_INFINITY, ...changedAt.filter((at) => at > one.at));
  const clear = seen.filter(({ at }) => at > from && at < to && at !== one.at);
  const earlier = clear.findLast(({ at }) => at < one.at)?.delay ?? one.delay;
  const later = clear.find(({ at }) => at > one.at)?.delay ?? one.delay;
  if (earlier === one.delay) return later === one.delay ? undefined : "before";
  return later === one.delay ? "after" : undefined;
}

/** The delay of all readings that may hold for some part of this time, if they agree. */
function byComparison(seen: readonly SeenDelay[], changedAt: readonly number[], from: number, to: number) {
  if (changedAt.some((at) => at >= from && at <= to)) return undefined;
  const after = Math.max(-1, ...changedAt.filter((at) => at < from));
  const before = Math.min(Number.POSITIVE_INFINITY, ...changedAt.filter((at) => at > to));
  const own = seen.filter((one) => {
    if (!changedAt.includes(one.at)) return one.at > after && one.at < before;
    return sideOf(one, seen, changedAt) === (one.at === before ? "before" : one.at === after ? "after" : "");
  });
  const nearest = [own.findLast(({ at }) => at <= from), own.find(({ at }) => at >= to)];
  const holding = [...nearest, ...own.filter(({ at }) => at > from && at < to)].filter(
    (one) => one !== undefined,
  );
  const delays = new Set(holding.map(({ delay }) => delay));
  return delays.size === 1 ? holding[0]?.delay : undefined;
}

test("a delay is known where the readings around and within a time agree, and no change lies between them", async () => {
  await expectHolds(
    fc.property(
      readings,
      changes,
      instant,
      fc.integer({ min: 0, max: 10 }),
      (seen, changedAt, from, lengthMs) => {
        const to = from + lengthMs;
        const found = new DelayLookup(seen, changedAt).between(from, to);
        expect(found).toBe(byComparison(seen, changedAt, from, to));
      },
    ),
    3_000,
  );
});
