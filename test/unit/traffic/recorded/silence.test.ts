import { expect, test } from "vitest";
import { DAY, HOUR } from "../../../../src/kernel/time.ts";
import {
  DayCounter,
  daysText,
  type RequestsByDay,
  suspectedSilences,
} from "../../../../src/traffic/recorded/trace/silence.ts";
import { collectParts, partsOf } from "../../../../src/traffic/recorded/trace/trace.ts";
import { omitDays, weeksAround } from "../../../../src/whatif/trace/omit-days.ts";
import { trafficOf } from "../../../../src/whatif/trace/traffic.ts";

/** A Monday. */
const MONDAY = Date.UTC(2026, 0, 5);
const FIRST_DAY = MONDAY / DAY;
const days = (counts: readonly number[]): RequestsByDay =>
  counts.flatMap((count, index) => (count === 0 ? [] : [[FIRST_DAY + index, count]]));
const found = (counts: readonly number[]) => suspectedSilences(days(counts)).map(daysText);

const BUSY_WEEK = [90, 110, 100, 95, 105, 40, 50];
const OFFICE_WEEK = [90, 110, 100, 95, 105, 0, 0];
const SILENT_WEEK = [0, 0, 0, 0, 0, 0, 0];

test("a missing week is found in a fleet that is busy every day, and in one of offices", () => {
  expect(found([...BUSY_WEEK, ...SILENT_WEEK, ...BUSY_WEEK])).toEqual(["2026-01-12 to 2026-01-18 (7 days)"]);
  // With the weekend before it.
  expect(found([...OFFICE_WEEK, ...SILENT_WEEK, ...OFFICE_WEEK])).toEqual([
    "2026-01-10 to 2026-01-18 (9 days)",
  ]);
});

test("a missing day is found on a workday, and not on weekends that are always idle", () => {
  expect(found([...OFFICE_WEEK, 90, 0, 100, 95, 105, 0, 0, 80])).toEqual(["2026-01-13 (1 day)"]);
  expect(found([...OFFICE_WEEK, ...OFFICE_WEEK, ...OFFICE_WEEK])).toEqual([]);
});

test("a fleet with few requests is not suspected: 9 a day are too few, 10 are not", () => {
  for (const [requests, count] of [
    [9, 0],
    [10, 1],
  ] as const)
    expect(found([requests, requests, 0, requests, requests])).toHaveLength(count);
});

test("most days must be busy: half of them are enough", () => {
  expect(found([90, 90, 0, 0, 90])).toHaveLength(1);
  expect(found([90, 0, 0, 0, 90])).toHaveLength(0);
});

test("requests are counted by day over all computes and parts", () => {
  const counter = new DayCounter();
  counter.add({ at: Float64Array.of(MONDAY, MONDAY + HOUR, MONDAY + DAY) });
  counter.add({ at: Float64Array.of(MONDAY + DAY - 1, MONDAY + 5 * DAY) });
  counter.add({ at: new Float64Array(0) });
  expect(counter.counts).toEqual([
    [FIRST_DAY, 3],
    [FIRST_DAY + 1, 1],
    [FIRST_DAY + 5, 1],
  ]);
});

test("whole weeks are left out, and what follows moves by their length onto the same weekday", () => {
  const period = { startAt: MONDAY, endAt: MONDAY + 21 * DAY };
  const silence = { startAt: MONDAY + 8 * DAY, endAt: MONDAY + 11 * DAY };
  const weeks = weeksAround(silence, period);
  expect(weeks).toEqual({ startAt: MONDAY + 8 * DAY, endAt: MONDAY + 15 * DAY });
  const at = Float64Array.of(
    MONDAY,
    MONDAY + 8 * DAY,
    MONDAY + 15 * DAY - 1,
    MONDAY + 15 * DAY,
    MONDAY + 20 * DAY,
  );
  const traffic = trafficOf({
    period,
    computes: [{ id: "ep-a", arrivals: { at, durationMs: Float64Array.of(1, 2, 3, 4, 5) } }],
  });
  const rest = omitDays(traffic, weeks === undefined ? [] : [weeks]);
  const { at: restAt, durationMs } = collectParts(rest.arrivals(0));
  expect([...restAt]).toEqual([MONDAY, MONDAY + 8 * DAY, MONDAY + 13 * DAY]);
  expect([...durationMs]).toEqual([1, 4, 5]);
  expect(rest.period).toEqual({ startAt: MONDAY, endAt: MONDAY + 14 * DAY });
  // Reading in parts changes nothing.
  const inParts = omitDays(
    { ...traffic, arrivals: () => partsOf({ at, durationMs: Float64Array.of(1, 2, 3, 4, 5) }, 2) },
    weeks === undefined ? [] : [weeks],
  );
  expect([...collectParts(inParts.arrivals(0)).at]).toEqual([...restAt]);
});

test("near the end of the period the weeks begin earlier; a period that is too short has none", () => {
  const silence = { startAt: MONDAY + 10 * DAY, endAt: MONDAY + 12 * DAY };
  expect(weeksAround(silence, { startAt: MONDAY, endAt: MONDAY + 14 * DAY })).toEqual({
    startAt: MONDAY + 7 * DAY,
    endAt: MONDAY + 14 * DAY,
  });
  expect(weeksAround(silence, { startAt: MONDAY + 9 * DAY, endAt: MONDAY + 13 * DAY })).toBeUndefined();
});
