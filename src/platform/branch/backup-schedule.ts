import { civil, hourStart, instantOf } from "../core/calendar.ts";
import { HOUR, type SimTime } from "../core/time.ts";
import type { World } from "../core/world.ts";
import type { Branch } from "./branch.ts";

/** S: when snapshots are taken by themselves; fields that are not of its frequency say nothing. */
export type BackupScheduleItem = {
  readonly frequency: "hourly" | "daily" | "weekly" | "monthly" | "yearly";
  readonly hour?: number | undefined;
  /** Of the week, from Monday as 1 (A), or of the month; the last one of a month that is shorter (A). */
  readonly day?: number | undefined;
  readonly month?: number | undefined;
  readonly retention_seconds?: number | undefined;
};

/** `after`: when it was set, or when its last snapshot was taken. The next one is the first that is due after that. */
export type BackupSchedule = { readonly items: readonly BackupScheduleItem[]; readonly after: SimTime };

export function backupDueAt(world: World, branchId: string): SimTime | undefined {
  const branch = world.branches.get(branchId);
  const schedule = branch?.backupSchedule;
  if (branch === undefined || schedule === undefined || !isServed(world, branch)) return undefined;
  const due = schedule.items.map((item) => nextAfter(item, schedule.after));
  return due.length === 0 ? undefined : Math.min(...due);
}

/** The items whose time it is. */
export function itemsDue({ items, after }: BackupSchedule, at: SimTime): readonly BackupScheduleItem[] {
  return items.filter((item) => nextAfter(item, after) <= at);
}

function isServed(world: World, branch: Branch): boolean {
  return branch.deletedAt === undefined && world.projects.get(branch.projectId)?.deletedAt === undefined;
}

/** The first instant after `after` that an item names, in UTC; midnight and the first day where it names none (A). */
function nextAfter(item: BackupScheduleItem, after: SimTime): SimTime {
  const { year, month, day, weekday } = civil(after);
  const { hour = 0 } = item;
  switch (item.frequency) {
    case "hourly":
      return hourStart(after) + HOUR;
    case "daily":
      return firstAfter(after, (ahead) => instantOf(year, month, day + ahead, hour));
    case "weekly":
      return firstAfter(after, (ahead) => instantOf(year, month, day + ((item.day ?? 1) - weekday) + 7 * ahead, hour));
    case "monthly":
      return firstAfter(after, (ahead) => inMonth(year, month + ahead, item.day ?? 1, hour));
    case "yearly":
      return firstAfter(after, (ahead) => inMonth(year + ahead, item.month ?? 1, item.day ?? 1, hour));
    default:
      return item.frequency satisfies never;
  }
}

function firstAfter(after: SimTime, at: (ahead: number) => SimTime): SimTime {
  return [0, 1].map(at).find((instant) => instant > after) ?? at(2);
}

function inMonth(year: number, month: number, day: number, hour: number): SimTime {
  const last = civil(instantOf(year, month + 1, 1) - HOUR).day;
  return instantOf(year, month, Math.min(day, last), hour);
}
