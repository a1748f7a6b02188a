import { PROFILES } from "../../platform/catalog/profile.ts";
import { DEFAULT_DELAY, delaySeconds } from "../../platform/compute/autosuspend.ts";
import type { WorldSettings } from "../../platform/core/world.ts";
import { NO_LATENCY } from "../replay/start-latency.ts";
import type { KnownCompute } from "../trace/world-traffic.ts";
import { plural } from "./number-format.ts";
import { DEFAULTS, type WorldSetting } from "./question.ts";

/** Of a world whose journal does not begin with its first event. */
export const FORGOTTEN = "the beginning of this world's history is forgotten: traffic before that is not seen";

/**
 * What a question about a world's computes need not be told: its profile, how long its starts take, and each compute's delay and size.
 * A replay holds the size still: of a compute that scales it is the smallest one. `names`: the computes of the traffic, in their order.
 */
export function worldSetting(
  { profile: name, startDelay, operations }: Pick<WorldSettings, "profile" | "startDelay" | "operations">,
  computes: readonly Omit<KnownCompute, "projectId" | "branchId">[],
  names: readonly string[],
): { readonly setting: WorldSetting; readonly notes: readonly string[] } {
  const profile = PROFILES[name];
  const byId = new Map(computes.map((compute) => [compute.id, compute]));
  const known = names.map((id) => byId.get(id));
  const gone = known.filter((compute) => compute === undefined).length;
  const scaling = known.filter((compute) => compute !== undefined && compute.range.minCu < compute.range.maxCu).length;
  return {
    setting: {
      profile: name,
      latency: operations === "immediate" ? NO_LATENCY : (startDelay ?? profile.durations.start_compute),
      delays: known.map((compute) =>
        compute === undefined || compute.suspendTimeoutSeconds === DEFAULT_DELAY
          ? "preset"
          : (delaySeconds(profile, compute.suspendTimeoutSeconds) ?? "never"),
      ),
      cu: known.map((compute) => compute?.range.minCu ?? DEFAULTS.cu),
      goneAt: known.map((compute) => compute?.goneAt),
    },
    notes: [
      ...(scaling === 0 ? [] : [`${plural(scaling, "compute")} of this world can scale: each counts with its smallest size`]),
      ...(gone === 0
        ? []
        : [
            `${plural(gone, "compute")} of the traffic ${gone === 1 ? "is" : "are"} not in this world any more, nor in what is left of its history: taken for ${DEFAULTS.cu} CU with a delay of ${profile.suspendTimeout.defaultS} s`,
          ]),
    ],
  };
}
