import { hourStart, utcDateOf, utcInstant } from "../../kernel/calendar.ts";
import { HOUR, type SimTime } from "../../kernel/time.ts";

/** S: when scheduled snapshots are taken. Fields that do not apply to the frequency are ignored. */
export type BackupScheduleItem = {
  readonly frequency: "hourly" | "daily" | "weekly" | "monthly" | "yearly";
  readonly hour?: number | undefined;
  /** Day of the week (A: Monday is 1) or of the month (A: the last day if the month is shorter). */
  readonly day?: number | undefined;
  readonly month?: number | undefined;
  readonly retention_seconds?: number | undefined;
};

/**
 * The next snapshot is the first one due after `after`: when the schedule was set or the last snapshot taken.
 */
export type BackupSchedule = { readonly items: readonly BackupScheduleItem[]; readonly after: SimTime };

/** The items that are due at `at`, inclusive. */
export function itemsDue({ items, after }: BackupSchedule, at: SimTime): readonly BackupScheduleItem[] {
  return items.filter((item) => nextDueAfter(item, after) <= at);
}

/**
 * The first instant after `after` (exclusive) that an item names, in UTC; by default midnight and day 1 (A).
 */
export function nextDueAfter(item: BackupScheduleItem, after: SimTime): SimTime {
  const { year, month, day, weekday } = utcDateOf(after);
  const { hour = 0 } = item;
  switch (item.frequency) {
    case "hourly":
      return hourStart(after) + HOUR;
    case "daily":
      return firstInstantAfter(after, (offset) => utcInstant(year, month, day + offset, hour));
    case "weekly":
      return firstInstantAfter(after, (offset) =>
        utcInstant(year, month, day + ((item.day ?? 1) - weekday) + 7 * offset, hour),
      );
    case "monthly":
      return firstInstantAfter(after, (offset) => instantInMonth(year, month + offset, item.day ?? 1, hour));
    case "yearly":
      return firstInstantAfter(after, (offset) =>
        instantInMonth(year + offset, item.month ?? 1, item.day ?? 1, hour),
      );
    default:
      return item.frequency satisfies never;
  }
}

function firstInstantAfter(after: SimTime, instantAt: (offset: number) => SimTime): SimTime {
  return [0, 1].map(instantAt).find((instant) => instant > after) ?? instantAt(2);
}

function instantInMonth(year: number, month: number, day: number, hour: number): SimTime {
  const last = utcDateOf(utcInstant(year, month + 1, 1) - HOUR).day;
  return utcInstant(year, month, Math.min(day, last), hour);
}
