import { HOUR, type SimTime } from "../../../kernel/time.ts";
import type { BootstrapBlock } from "../../units/bootstrap.ts";
import type { MonthPeriod, QuotaMonthOutcome } from "./quota-months.ts";
import type { UseProfile } from "./use-profile.ts";

/**
 * Months of a replication: the recorded time, followed by repeated parts of it. A part repeats the use of the computes
 * and the arrivals of its requests. It ends as recorded: a compute that was active after the part is not active then,
 * and one that was active before the part is.
 */
export function forecastMonths(
  months: readonly MonthPeriod[],
  recorded: readonly QuotaMonthOutcome[],
  repeats: readonly BootstrapBlock[],
  profile: UseProfile,
  quotaCuHours: number,
): QuotaMonthOutcome[] {
  return months.map((month, index) => {
    const known = recorded[index];
    let { reachedAt, usedCuHours, arrivals, refused } = known ?? NOTHING;
    for (const { from, to, offsetMs, growth = 1 } of repeats) {
      if (from + offsetMs < month.startAt || from + offsetMs >= month.endAt) continue;
      const requestsAfter = (at: SimTime) => Math.round(growth * profile.requestsBetween(at, to));
      arrivals += requestsAfter(from);
      if (Number.isFinite(reachedAt)) {
        refused += requestsAfter(from);
        continue;
      }
      const leftCuHours = quotaCuHours - usedCuHours;
      const cuHours = (growth * profile.cuMsBetween(from, to)) / HOUR;
      if (cuHours < leftCuHours) {
        usedCuHours += cuHours;
        continue;
      }
      const at = Math.min(to, profile.usedAt(from, (leftCuHours * HOUR) / growth));
      reachedAt = at + offsetMs;
      usedCuHours = quotaCuHours;
      refused += requestsAfter(at);
    }
    return { reachedAt, usedCuHours, arrivals, refused };
  });
}

const NOTHING: QuotaMonthOutcome = {
  reachedAt: Number.POSITIVE_INFINITY,
  usedCuHours: 0,
  arrivals: 0,
  refused: 0,
};
