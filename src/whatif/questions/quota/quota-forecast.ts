import { HOUR } from "../../../kernel/time.ts";
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
    for (const { from, to, offsetMs } of repeats) {
      if (from + offsetMs < month.startAt || from + offsetMs >= month.endAt) continue;
      arrivals += profile.requestsBetween(from, to);
      if (Number.isFinite(reachedAt)) {
        refused += profile.requestsBetween(from, to);
        continue;
      }
      const leftCuHours = quotaCuHours - usedCuHours;
      const cuHours = profile.cuMsBetween(from, to) / HOUR;
      if (cuHours < leftCuHours) {
        usedCuHours += cuHours;
        continue;
      }
      const at = Math.min(to, profile.usedAt(from, leftCuHours * HOUR));
      reachedAt = at + offsetMs;
      usedCuHours = quotaCuHours;
      refused += profile.requestsBetween(at, to);
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
