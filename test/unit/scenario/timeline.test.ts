import fc from "fast-check";
import { expect, test } from "vitest";
import { OccupancyTimeline } from "../../../src/scenario/measure/timeline.ts";
import { expectHolds } from "../../support/properties/properties.ts";

const START = 1_000_000;
const SLOTS = 512;
/** Rounded up to thousandths. */
const ROUNDING = 0.001;

type Span = readonly [from: number, to: number];

/** Consecutive spans, from milliseconds to months long. */
const spans: fc.Arbitrary<readonly Span[]> = fc
  .array(
    fc.tuple(fc.oneof(fc.nat(5_000), fc.nat(100_000_000)), fc.oneof(fc.nat(5_000), fc.nat(100_000_000))),
    {
      minLength: 1,
      maxLength: 30,
    },
  )
  .map((gaps) => {
    let at = START;
    return gaps.map(([gap, length]): Span => {
      const from = at + gap;
      at = from + length;
      return [from, at];
    });
  });

function timelineOf(all: readonly Span[]): OccupancyTimeline {
  const timeline = new OccupancyTimeline(START);
  for (const [from, to] of all) timeline.add(from, to);
  return timeline;
}

const within = (all: readonly Span[], from: number, to: number) =>
  all.reduce((sum, [begin, end]) => sum + Math.max(0, Math.min(end, to) - Math.max(begin, from)), 0);

test("each slot has the share of its time that the spans cover", async () => {
  await expectHolds(
    fc.asyncProperty(spans, async (all) => {
      const timeline = timelineOf(all);
      const { slotMs } = timeline;
      const shares = timeline.shares(START + slotMs * SLOTS, SLOTS);
      for (const [slot, share] of shares.entries()) {
        const covered = within(all, START + slot * slotMs, START + (slot + 1) * slotMs) / slotMs;
        expect(share).toBeGreaterThanOrEqual(covered - 1e-6);
        expect(share).toBeLessThan(covered + ROUNDING);
      }
    }),
    200,
  );
});

test("the total active time does not depend on the number of columns", async () => {
  await expectHolds(
    fc.asyncProperty(spans, fc.integer({ min: 1, max: 300 }), async (all, columns) => {
      const end = all.at(-1)?.[1] ?? START;
      if (end === START) return;
      const width = (end - START) / columns;
      const total = timelineOf(all)
        .shares(end, columns)
        .reduce((sum, share) => sum + share * width, 0);
      const active = within(all, START, end);
      // The last slot may extend beyond the end.
      const slack = columns * width * ROUNDING + timelineOf(all).slotMs;
      expect(Math.abs(total - active)).toBeLessThanOrEqual(slack);
    }),
    200,
  );
});

test("slots are merged in pairs only when they no longer suffice", () => {
  const timeline = new OccupancyTimeline(START);
  timeline.add(START, START + SLOTS * 1_000);
  expect(timeline.slotMs).toBe(1_000);
  timeline.add(START + SLOTS * 1_000, START + SLOTS * 1_000 + 1);
  expect(timeline.slotMs).toBe(2_000);
  expect(timeline.shares(START + SLOTS * 1_000, 4)).toEqual([1, 1, 1, 1]);
});

test("any activity is visible, and none is 0", () => {
  const timeline = new OccupancyTimeline(START);
  timeline.add(START, START + 1);
  expect(timeline.shares(START + 100_000, 2)).toEqual([0.001, 0]);
});

test("a timeline of no time has no shares", () => {
  expect(new OccupancyTimeline(START).shares(START, 3)).toEqual([0, 0, 0]);
});
