import { type DurationDistribution, quantileMs } from "../../../kernel/distribution.ts";
import type { Profile } from "../../catalog/defaults-and-limits.ts";
import type { OperationAction } from "../../catalog/operation-actions.ts";
import { DEFAULT_DURATIONS, type WorldSettings } from "../../model/world-settings.ts";

/** How long an operation runs in a world with these settings. */
export function durationOfOperation(
  action: OperationAction,
  { operations, durations = DEFAULT_DURATIONS, startDelay, calibration }: DurationSettings,
  profile: Profile,
): DurationDistribution {
  if (operations === "immediate") return { kind: "fixed", ms: 0 };
  if (action === "start_compute" && startDelay !== undefined) return startDelay;
  const observed = calibration?.durations.find((one) => one.action === action)?.takes;
  if (observed !== undefined) return durations === "varied" ? observed : medianOf(observed);
  return (durations === "varied" ? profile.variedDurations : profile.durations)[action];
}

/** The share of operations that fail. Worlds whose operations always take the same time draw nothing, so none fails. */
export function failedShareOfOperation(
  action: OperationAction,
  { operations, durations = DEFAULT_DURATIONS, calibration }: DurationSettings,
): number {
  if (operations === "immediate" || durations === "constant") return 0;
  return calibration?.failures.find((one) => one.action === action)?.share ?? 0;
}

export type DurationSettings = Pick<WorldSettings, "operations" | "durations" | "startDelay" | "calibration">;

function medianOf(distribution: DurationDistribution): DurationDistribution {
  switch (distribution.kind) {
    case "fixed":
      return distribution;
    case "uniform":
      return { kind: "fixed", ms: Math.round((distribution.minMs + distribution.maxMs) / 2) };
    case "lognormal":
      return { kind: "fixed", ms: distribution.medianMs };
    case "empirical":
      return { kind: "fixed", ms: Math.round(quantileMs(distribution.quantilesMs, 0.5)) };
    default:
      return distribution satisfies never;
  }
}
