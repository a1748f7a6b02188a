import type { SimTime } from "../kernel/time.ts";
import type { RecordedEvent } from "../platform/model/events.ts";
import type { SettingsChanges } from "../platform/model/world-settings.ts";
import { NO_ARRIVALS } from "../simulation/arrival-source.ts";
import type { Simulation } from "../simulation/simulation.ts";

/** Settings that every world of this release has, and that worlds of earlier releases lack. */
const NEW_RULES = ["hourlyUsage", "loadAverage", "storageUse", "childBranchUse"] as const;

/**
 * The rules of this release apply to a world of an earlier one from the first event on that this release
 * adds. Only reading such a world does not change its history. Computes that are active then are recorded by
 * the hour from that instant on, and follow their load average from their next start on. What branches store is
 * recorded from that instant on.
 */
export function enableNewRules(
  simulation: Simulation,
  at: SimTime,
  beforeChange?: () => void,
): readonly RecordedEvent[] {
  const { seq, settings: current } = simulation.world;
  const missing = NEW_RULES.filter((rule) => current[rule] !== true);
  if (missing.length === 0 || seq === 0) return [];
  const settings: SettingsChanges = Object.fromEntries(missing.map((rule) => [rule, true]));
  const decided = simulation.execute({ type: "ConfigureWorld", settings }, at, beforeChange);
  return decided.ok ? decided.value : [];
}

/** The same, when the first event is due work up to `until` (inclusive), or an arrival. */
export function enableNewRulesBeforeDue(
  simulation: Simulation,
  until: SimTime,
  arrivals = NO_ARRIVALS,
): readonly RecordedEvent[] {
  const { settings } = simulation.world;
  if (NEW_RULES.every((rule) => settings[rule] === true)) return [];
  const at = Math.min(simulation.nextDue() ?? Number.POSITIVE_INFINITY, arrivals.at);
  return at <= until ? enableNewRules(simulation, Math.max(simulation.world.at, at - 1)) : [];
}
