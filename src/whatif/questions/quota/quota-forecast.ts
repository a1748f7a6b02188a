import { HOUR, type SimTime } from "../../../kernel/time.ts";
import type { BootstrapBlock } from "../../units/bootstrap.ts";
import type { MonthPeriod, QuotaMonthOutcome } from "./quota-months.ts";
import type { UseProfile } from "./use-profile.ts";

/**
 * The months of a replication: what was recorded, followed by repeated parts of the recorded time. A part repeats
 * what the computes used and which requests arrived in it, so it also ends as it did: a compute that was active
 * after the part is not, and one that was active before it is.
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
