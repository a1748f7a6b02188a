import { utcDateOf } from "../../kernel/calendar.ts";
import { type DurationMs, HOUR, type SimTime } from "../../kernel/time.ts";
import type { AccountFleet } from "./account-fleet.ts";
import { computeNames } from "./compute-names.ts";

export const HOURS_OF_WEEK = 168;

const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

export type ComputeWeek = {
  readonly name: string;
  readonly activeMs: DurationMs;
  /** By hour of the week from Monday 00:00 UTC: share of these hours in which the compute was active, from 0 to 1. */
  readonly shares: readonly number[];
};

/** When each compute was active, by the hour of the week. Computes without a start are omitted. */
export function awakeHours(fleet: AccountFleet): readonly ComputeWeek[] {
  const whole = hoursBetween([[fleet.startAt, fleet.endAt]]);
  const nameOf = computeNames(fleet);
  return fleet.computes.flatMap((compute) => {
    const { periods, endAt, omitted } = compute;
    if (periods.length === 0) return [];
    const omittedMs = hoursBetween(omitted.map(({ startAt, endAt: to }) => [startAt, to]));
    const lengths = whole.map((ms, hour) => ms - (omittedMs[hour] ?? 0));
    const active = hoursBetween(
      Array.from(
        periods.requestedAt.subarray(0, periods.length),
        (_, index) => [periods.activeAt(index), periods.lastActiveAt(index, endAt)] as const,
      ),
    );
    return [
      {
        name: nameOf(compute),
        activeMs: active.reduce((sum, ms) => sum + ms, 0),
        shares: active.map((ms, hour) => Math.min(1, ms / Math.max(1, lengths[hour] ?? 0))),
      },
    ];
  });
}

/** Time of these intervals in each hour of the week. */
function hoursBetween(intervals: readonly (readonly [from: SimTime, to: SimTime])[]): number[] {
  const sums = new Array<number>(HOURS_OF_WEEK).fill(0);
  for (const [from, to] of intervals)
    for (let at = from; at < to; ) {
      const next = Math.min(to, (Math.floor(at / HOUR) + 1) * HOUR);
      const hour = hourOfWeek(at);
      sums[hour] = (sums[hour] ?? 0) + next - at;
      at = next;
    }
  return sums;
}

function hourOfWeek(at: SimTime): number {
  const date = utcDateOf(at);
  return (date.weekday - 1) * 24 + date.hour;
}

/** Formats an hour of the week, such as `Tuesday 09:00`. */
export function hoursText(hour: number): string {
  return `${DAYS[Math.floor(hour / 24)]} ${String(hour % 24).padStart(2, "0")}:00`;
}
