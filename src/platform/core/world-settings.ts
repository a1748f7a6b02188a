import type { LimitSettings, PlanName } from "../catalog/plan.ts";
import type { ProfileName } from "../catalog/profile.ts";
import type { EventBase } from "../event-base.ts";
import type { DurationDistribution } from "./distribution.ts";
import type { SimTime } from "./time.ts";

/** What shapes a world. Profile, plan and start stay as they were made; the rest may change, by an event. */
export type WorldSettings = {
  readonly seed: number;
  readonly profile: ProfileName;
  /** The plan of an account that is created without one. */
  readonly plan: PlanName;
  /** `immediate`: operations take no time and are finished before the next command. */
  readonly operations: "timed" | "immediate";
  /** In the place of the profile's start delay. */
  readonly startDelay?: DurationDistribution;
  /** The name that the hosts of its computes end in, in the place of ours. */
  readonly hostDomain?: string;
  /** In the place of the plan's limits. */
  readonly limits?: LimitSettings;
  /** Use is also kept by the hour. Absent in histories of releases that did not, until they are told to. */
  readonly hourlyUsage?: true;
  /** Where its clock began. */
  readonly startAt: SimTime;
};

/** What becomes of them; `null`: it is the profile's or the plan's again. */
export type SettingsChanges = Partial<Pick<WorldSettings, "operations" | "seed" | "hourlyUsage">> & {
  readonly startDelay?: DurationDistribution | null;
  readonly limits?: LimitSettings | null;
};

export function applySettingsChanges(settings: WorldSettings, changes: SettingsChanges): WorldSettings {
  return Object.fromEntries(
    Object.entries({ ...settings, ...changes }).filter(([, value]) => value !== null),
  ) as WorldSettings;
}

export type WorldCommand =
  | { readonly type: "CreateWorld"; readonly settings: WorldSettings }
  | { readonly type: "ConfigureWorld"; readonly settings: SettingsChanges }
  | { readonly type: "ResetWorld" };

export type WorldEvent =
  | (EventBase & { readonly type: "WorldCreated"; readonly world: WorldSettings })
  | (EventBase & { readonly type: "WorldConfigured"; readonly changes: SettingsChanges })
  | (EventBase & { readonly type: "WorldReset" });
