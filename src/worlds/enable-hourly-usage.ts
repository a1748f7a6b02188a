import type { SimTime } from "../platform/core/time.ts";
import type { RecordedEvent } from "../platform/events.ts";
import { NO_ARRIVALS } from "../simulation/arrival-source.ts";
import type { Simulation } from "../simulation/simulation.ts";

/**
 * A world of a release without hourly usage starts to record it with the first event that this release adds.
 * Only reading such a world does not change its history. Computes that are active then are recorded by the
 * hour from that instant on.
 */
export function enableHourlyUsage(simulation: Simulation, at: SimTime): readonly RecordedEvent[] {
  const { seq, settings } = simulation.world;
  if (settings.hourlyUsage === true || seq === 0) return [];
  const decided = simulation.execute({ type: "ConfigureWorld", settings: { hourlyUsage: true } }, at);
  return decided.ok ? decided.value : [];
}

/** The same, when the first event is due work up to `until` (inclusive), or an arrival. */
export function enableHourlyUsageBeforeDue(
  simulation: Simulation,
  until: SimTime,
  arrivals = NO_ARRIVALS,
): readonly RecordedEvent[] {
  if (simulation.world.settings.hourlyUsage === true) return [];
  const at = Math.min(simulation.nextDue() ?? Number.POSITIVE_INFINITY, arrivals.at);
  return at <= until ? enableHourlyUsage(simulation, Math.max(simulation.world.at, at - 1)) : [];
}
