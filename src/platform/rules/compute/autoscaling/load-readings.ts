import type { SimTime } from "../../../../kernel/time.ts";
import type { Profile } from "../../../catalog/defaults-and-limits.ts";
import { type SizeRange, sizeForLoad } from "../../../catalog/sizes.ts";
import type { ActivePhase, LoadReading } from "../../../model/compute.ts";

// The rule of releases up to 0.4: a load counts at once, and until one minute after it ended. It remains for
// computes that were started under it, so that their journals replay unchanged.

/** Adds a reading, earliest end first. Drops readings that another covers in both load and time. */
export function addReading(
  readings: readonly LoadReading[],
  reading: LoadReading,
  now: SimTime,
): readonly LoadReading[] {
  const remaining = readings.filter(
    (other) => other.until > now && (other.until > reading.until || other.load > reading.load),
  );
  const isCovered = remaining.some((other) => other.until >= reading.until && other.load >= reading.load);
  return isCovered ? remaining : [...remaining, reading].sort((a, b) => a.until - b.until);
}

/** The size required by the readings that are valid at `now`, within the limits of the last start. */
export function sizeForReadings(
  profile: Profile,
  range: SizeRange,
  readings: readonly LoadReading[],
  now: SimTime,
): number {
  let load = 0;
  for (const reading of readings) if (reading.until > now) load = Math.max(load, reading.load);
  return sizeForLoad(profile, range, load);
}

/** The end of the first reading whose end changes the size. */
export function readingsRescaleAt(phase: ActivePhase, profile: Profile): SimTime | undefined {
  for (const { until } of phase.readings) {
    if (sizeForReadings(profile, phase.range, phase.readings, until) !== phase.sizeCu) return until;
  }
  return undefined;
}
