import type { Profile } from "../catalog/profile-defaults-and-limits.ts";
import { type SizeRange, sizeForLoad } from "../catalog/sizes.ts";
import type { Context } from "../core/context.ts";
import type { SimTime } from "../core/time.ts";
import type { Event } from "../events.ts";
import { accept, type Result, refuse } from "../refusal-codes.ts";
import type { ActivePhase, Compute, LoadReading } from "./compute.ts";

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
export function targetSizeCu(
  profile: Profile,
  range: SizeRange,
  readings: readonly LoadReading[],
  now: SimTime,
): number {
  const load = readings.reduce(
    (highest, reading) => (reading.until > now ? Math.max(highest, reading.load) : highest),
    0,
  );
  return sizeForLoad(profile, range, load);
}

/** The end of the first reading whose end changes the size. */
export function rescaleDueAt(compute: Compute, profile: Profile): SimTime | undefined {
  const { phase } = compute;
  if (phase.state !== "active" || phase.suspending) return undefined;
  for (const { until } of phase.readings) {
    if (targetSizeCu(profile, phase.range, phase.readings, until) !== phase.sizeCu) return until;
  }
  return undefined;
}

/** R: automatic scaling causes no restart and no disconnect. */
export function decideRescale(compute: Compute, { now, profile }: Context): Result<Event[]> {
  const dueAt = rescaleDueAt(compute, profile);
  if (compute.phase.state !== "active" || dueAt === undefined || now < dueAt) {
    return refuse("NOT_DUE", `a resize of ${compute.id} is not due`);
  }
  return accept(resizeEvents(compute, compute.phase, compute.phase.readings, { now, profile }));
}

/** The event that resizes the compute as its readings require; none if it has that size. */
export function resizeEvents(
  compute: Compute,
  phase: ActivePhase,
  readings: readonly LoadReading[],
  { now, profile }: Pick<Context, "now" | "profile">,
): Event[] {
  const sizeCu = targetSizeCu(profile, phase.range, readings, now);
  return sizeCu === phase.sizeCu ? [] : [{ type: "ComputeResized", at: now, endpointId: compute.id, sizeCu }];
}
