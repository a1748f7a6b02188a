import { expect, test } from "vitest";
import {
  type BackupScheduleItem,
  itemsDue,
  nextDueAfter,
} from "../../../../../src/platform/model/backup-schedule.ts";

const instant = (text: string) => Date.parse(`${text}:00.000Z`);
const next = (item: BackupScheduleItem, after: string) =>
  new Date(nextDueAfter(item, instant(after))).toISOString().slice(0, 16);

// 2026-01-14 is a Wednesday, and 2028 is a leap year.
test.each<[string, BackupScheduleItem, string, string]>([
  ["hourly: the next full hour", { frequency: "hourly" }, "2026-01-14T10:20", "2026-01-14T11:00"],
  ["hourly: at a full hour, the next one", { frequency: "hourly" }, "2026-01-14T10:00", "2026-01-14T11:00"],
  ["daily: midnight", { frequency: "daily" }, "2026-01-14T10:20", "2026-01-15T00:00"],
  [
    "daily: today, if it is to come",
    { frequency: "daily", hour: 11 },
    "2026-01-14T10:20",
    "2026-01-14T11:00",
  ],
  ["daily: not now", { frequency: "daily", hour: 10 }, "2026-01-14T10:00", "2026-01-15T10:00"],
  ["daily: over the end of a month", { frequency: "daily" }, "2026-01-31T10:00", "2026-02-01T00:00"],
  ["weekly: Monday", { frequency: "weekly" }, "2026-01-14T10:20", "2026-01-19T00:00"],
  ["weekly: later this week", { frequency: "weekly", day: 5 }, "2026-01-14T10:20", "2026-01-16T00:00"],
  ["weekly: later today", { frequency: "weekly", day: 3, hour: 12 }, "2026-01-14T10:20", "2026-01-14T12:00"],
  ["weekly: not now", { frequency: "weekly", day: 3, hour: 12 }, "2026-01-14T12:00", "2026-01-21T12:00"],
  ["monthly: the first day", { frequency: "monthly" }, "2026-01-14T10:20", "2026-02-01T00:00"],
  ["monthly: later this month", { frequency: "monthly", day: 20 }, "2026-01-14T10:20", "2026-01-20T00:00"],
  ["monthly: the next year", { frequency: "monthly", day: 5 }, "2026-12-14T10:20", "2027-01-05T00:00"],
  [
    "monthly: the last day of February",
    { frequency: "monthly", day: 31 },
    "2026-02-01T00:00",
    "2026-02-28T00:00",
  ],
  [
    "monthly: the last day of April",
    { frequency: "monthly", day: 31 },
    "2026-04-30T00:00",
    "2026-05-31T00:00",
  ],
  ["yearly: the first of January", { frequency: "yearly" }, "2026-01-14T10:20", "2027-01-01T00:00"],
  [
    "yearly: later this year",
    { frequency: "yearly", month: 6, day: 15, hour: 8 },
    "2026-01-14T10:20",
    "2026-06-15T08:00",
  ],
  ["yearly: 29 February", { frequency: "yearly", month: 2, day: 29 }, "2027-03-01T00:00", "2028-02-29T00:00"],
  ["yearly: 28 February", { frequency: "yearly", month: 2, day: 29 }, "2026-02-28T00:00", "2027-02-28T00:00"],
])("the next backup, %s", (_, item, after, expected) => {
  expect(next(item, after)).toBe(expected);
});

test("an item is due from its instant on", () => {
  const hourly: BackupScheduleItem = { frequency: "hourly" };
  const daily: BackupScheduleItem = { frequency: "daily" };
  const schedule = { items: [hourly, daily], after: instant("2026-01-14T22:20") };
  expect(itemsDue(schedule, instant("2026-01-14T23:00") - 1)).toEqual([]);
  expect(itemsDue(schedule, instant("2026-01-14T23:00"))).toEqual([hourly]);
  expect(itemsDue(schedule, instant("2026-01-15T00:00"))).toEqual([hourly, daily]);
});
