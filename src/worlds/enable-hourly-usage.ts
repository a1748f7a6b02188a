import type { SimTime } from "../platform/core/time.ts";
import type { RecordedEvent } from "../platform/events.ts";
import { NO_ARRIVALS } from "../simulation/arrival-source.ts";
import type { Simulation } from "../simulation/simulation.ts";

/**
 * A world of a release that did not keep use by the hour begins to with the first thing that happens in it: whoever only looks at it
 * finds the history that it came with. What its computes were running up then is kept by the hour from its beginning on.
 */
export function enableHourlyUsage(simulation: Simulation, at: SimTime): readonly RecordedEvent[] {
  const { seq, settings } = simulation.world;
  if (settings.hourlyUsage === true || seq === 0) return [];
  const decided = simulation.execute({ type: "ConfigureWorld", settings: { hourlyUsage: true } }, at);
  return decided.ok ? decided.value : [];
}

/** The same, where what happens first is due by itself until `until`, or arrives. */
export function enableHourlyUsageBeforeDue(
  simulation: Simulation,
  until: SimTime,
  arrivals = NO_ARRIVALS,
): readonly RecordedEvent[] {
  if (simulation.world.settings.hourlyUsage === true) return [];
  const at = Math.min(simulation.nextDue() ?? Number.POSITIVE_INFINITY, arrivals.at);
  return at <= until ? enableHourlyUsage(simulation, Math.max(simulation.world.at, at - 1)) : [];
}
