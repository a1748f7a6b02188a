import { PROFILES } from "../../platform/catalog/defaults-and-limits.ts";
import { DEFAULT_SUSPEND_TIMEOUT, delayOfSuspendTimeout } from "../../platform/catalog/suspend-timeout.ts";
import { RECORDED_USE } from "../../platform/model/activity.ts";
import type { WorldSettings } from "../../platform/model/world-settings.ts";
import {
  type DurationSettings,
  durationOfOperation,
} from "../../platform/rules/operation/operation-duration.ts";
import type { MeteredUsage } from "../trace/metered-sizes.ts";
import type { Traffic } from "../trace/traffic.ts";
import type { KnownCompute } from "../trace/world-traffic.ts";
import { plural } from "../units/number-format.ts";
import { DEFAULTS, type WorldDefaults } from "./question.ts";

/** The note for a world whose journal no longer begins with its first event. */
const HISTORY_TRUNCATED =
  "the beginning of this world's history has been removed: earlier traffic is not included";

/** The note for a world of `standin mirror --history`. */
const PAST_RECORDED =
  "requests within the periods of the recorded past are not known: below the delay in force, active time is an upper bound and the number of cold starts a lower one; standin whatif curve on the file of the account gives both bounds";

/** Notes about the traffic of a world that limit the answers. */
export function notesOnTraffic({ sources }: Pick<Traffic, "sources">, isTruncated: boolean): string[] {
  return [
    ...(isTruncated ? [HISTORY_TRUNCATED] : []),
    ...(sources.includes(RECORDED_USE) ? [PAST_RECORDED] : []),
  ];
}

/**
 * The settings of a world that apply unless the question overrides them. The size of an autoscaling compute follows the
 * loads of the journal. `names`: computes of the traffic, in order. `metered`: their usage.
 */
export function worldDefaults(
  settings: Pick<WorldSettings, "profile"> & DurationSettings,
  computes: readonly Omit<KnownCompute, "projectId" | "branchId">[],
  names: readonly string[],
  metered?: MeteredUsage,
): { readonly setting: WorldDefaults; readonly notes: readonly string[] } {
  const { profile: name } = settings;
  const profile = PROFILES[name];
  const byId = new Map(computes.map((compute) => [compute.id, compute]));
  const known = names.map((id) => byId.get(id));
  const missing = known.filter((compute) => compute === undefined).length;
  const scaling = known.filter(
    (compute) => compute !== undefined && compute.range.minCu < compute.range.maxCu,
  ).length;
  return {
    setting: {
      profile: name,
      latency: durationOfOperation("start_compute", settings, profile),
      delays: known.map((compute) =>
        compute === undefined || compute.suspendTimeoutSeconds === DEFAULT_SUSPEND_TIMEOUT
          ? "preset"
          : delayOfSuspendTimeout(compute.suspendTimeoutSeconds, profile.suspendTimeout.defaultS),
      ),
      cu: known.map((compute) => compute?.range.minCu ?? DEFAULTS.cu),
      ...(scaling === 0
        ? {}
        : {
            scaling: {
              ranges: known.map((compute) =>
                compute !== undefined && compute.range.minCu < compute.range.maxCu
                  ? compute.range
                  : undefined,
              ),
              starts: known.map((compute) => compute?.starts),
              ramGbPerCu: profile.ramGbPerCu,
            },
          }),
      metered,
      deletedAt: known.map((compute) => compute?.deletedAt),
    },
    notes: [
      ...(scaling === 0
        ? []
        : [
            `${plural(scaling, "compute")} of this world ${scaling === 1 ? "autoscales" : "autoscale"}: sizes follow the loads of the journal`,
          ]),
      ...(missing === 0
        ? []
        : [
            `${plural(missing, "compute")} of the traffic ${missing === 1 ? "is" : "are"} in neither this world nor its remaining history: counted as ${DEFAULTS.cu} CU with a delay of ${profile.suspendTimeout.defaultS} s`,
          ]),
    ],
  };
}
