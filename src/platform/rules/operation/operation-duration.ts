import type { DurationDistribution } from "../../../kernel/distribution.ts";
import type { Profile } from "../../catalog/defaults-and-limits.ts";
import type { OperationAction } from "../../catalog/operation-actions.ts";
import { DEFAULT_DURATIONS, type WorldSettings } from "../../model/world-settings.ts";

/** How long an operation runs in a world with these settings. */
export function durationOfOperation(
  action: OperationAction,
  { operations, durations = DEFAULT_DURATIONS, startDelay }: DurationSettings,
  profile: Profile,
): DurationDistribution {
  if (operations === "immediate") return { kind: "fixed", ms: 0 };
  if (action === "start_compute" && startDelay !== undefined) return startDelay;
  return (durations === "varied" ? profile.variedDurations : profile.durations)[action];
}

export type DurationSettings = Pick<WorldSettings, "operations" | "durations" | "startDelay">;
