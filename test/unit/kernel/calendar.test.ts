import { expect, test } from "vitest";
import {
  dayStart,
  hourStart,
  monthStart,
  nextMonthStart,
  utcDateOf,
  utcInstant,
} from "../../../src/kernel/calendar.ts";
import { DAY, HOUR } from "../../../src/kernel/time.ts";

test("every day of 600 years has the same date as in the runtime's calendar", () => {
  for (let at = Date.UTC(1800, 0, 1); at < Date.UTC(2400, 0, 1); at += DAY) {
    const date = new Date(at);
    const named = utcDateOf(at + 5 * HOUR);
    const expected = {
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
      hour: 5,
      weekday: date.getUTCDay() === 0 ? 7 : date.getUTCDay(),
    };
    if (JSON.stringify(named) !== JSON.stringify(expected))
      expect(named, date.toISOString()).toEqual(expected);
    if (utcInstant(named.year, named.month, named.day, 5) !== at + 5 * HOUR) expect.fail(date.toISOString());
  }
});

test("an hour, a day and a month start at their first millisecond, not one earlier", () => {
  const march = Date.UTC(2024, 2, 1);
  expect([hourStart(march), dayStart(march), monthStart(march)]).toEqual([march, march, march]);
  expect(hourStart(march - 1)).toBe(march - HOUR);
  expect(dayStart(march - 1)).toBe(march - DAY);
  expect(monthStart(march - 1)).toBe(Date.UTC(2024, 1, 1));
  expect(nextMonthStart(march - 1)).toBe(march);
  expect(nextMonthStart(march)).toBe(Date.UTC(2024, 3, 1));
});

test("a month above 12 is a month of the next year", () => {
  expect(utcInstant(2024, 13)).toBe(Date.UTC(2025, 0, 1));
  expect(utcInstant(2024, 0)).toBe(Date.UTC(2023, 11, 1));
  expect(utcInstant(2024, 2, 30)).toBe(Date.UTC(2024, 2, 1));
});
