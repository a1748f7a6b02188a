import type { DurationDistribution } from "../../kernel/distribution.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Calibration } from "../catalog/calibration.ts";
import type { ProfileName } from "../catalog/defaults-and-limits.ts";
import type { LimitSettings, PlanName } from "../catalog/plan.ts";
import type { EventBase } from "./event-base.ts";

/** The settings of a world. `SettingsChanges` lists the settings that may change after its creation. */
export type WorldSettings = {
  readonly seed: number;
  readonly profile: ProfileName;
  /** Overrides figures of the profile. It is stored, so that the world needs its file no more. */
  readonly calibration?: Calibration;
  /** The plan of accounts that are created without one. */
  readonly plan: PlanName;
  /** `immediate`: operations take no time and finish before the next command. */
  readonly operations: "timed" | "immediate";
  /** Scope of the locks of operations. Absent in worlds of early releases, which have the default, `narrow`. */
  readonly locks?: LockScope;
  /** How long operations take. Absent in worlds of releases up to 0.4: `DEFAULT_DURATIONS`. */
  readonly durations?: DurationKind;
  /** Which answers clients get where recordings contradict the reference. Absent: `reference`. */
  readonly answers?: AnswerKind;
  /** Overrides the profile's start delay. */
  readonly startDelay?: DurationDistribution;
  /** The domain of the hosts of computes, instead of `HOST_DOMAIN`. */
  readonly hostDomain?: string;
  /** Override the plan's limits. */
  readonly limits?: LimitSettings;
  /** Usage is also recorded by the hour. Absent in worlds of early releases until an event enables it. */
  readonly hourlyUsage?: true;
  /**
   * Computes that start follow their load average. Absent in worlds of releases up to 0.4 until an event
   * enables it; see `load-readings.ts` for their rule.
   */
  readonly loadAverage?: true;
  /**
   * Whether the storage of branches is recorded over time. Absent in worlds of releases up to 0.4 until an event
   * enables it.
   */
  readonly storageUse?: true;
  /**
   * Whether the child branches of projects are recorded over time. Absent in worlds of releases up to 0.4 until an
   * event enables it.
   */
  readonly childBranchUse?: true;
  /**
   * Ids of branches and computes end in characters that begin with those of their region. Absent in worlds of
   * releases up to 0.4, whose ids end in digits for as long as they exist.
   */
  readonly regionalIds?: true;
  /** The initial time of its clock. */
  readonly startAt: SimTime;
};

/**
 * `narrow`: an operation locks what it works on. `parallel-branches`: as `narrow`, and the branches of one
 * parent can be created at the same time. `project`: every operation locks its whole project.
 */
export type LockScope = "narrow" | "parallel-branches" | "project";

/** `constant`: each operation takes the same time. `varied`: its duration is drawn from a distribution. */
export type DurationKind = "constant" | "varied";

/** `reference`: as the reference says. `recorded`: as public clients recorded them in 2024. */
type AnswerKind = "reference" | "recorded";

/** The kind of a world that does not state it: early releases had only this kind. */
export const DEFAULT_DURATIONS: DurationKind = "constant";

/** `null` removes an override: the value of the profile or the plan applies again. */
export type SettingsChanges = Partial<
  Pick<
    WorldSettings,
    | "operations"
    | "locks"
    | "durations"
    | "answers"
    | "seed"
    | "hourlyUsage"
    | "loadAverage"
    | "storageUse"
    | "childBranchUse"
  >
> & {
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
