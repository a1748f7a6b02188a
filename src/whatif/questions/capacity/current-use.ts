import { HOUR } from "../../../kernel/time.ts";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import type { ComputeArrivals } from "../../../traffic/recorded/trace/trace.ts";
import type { Question } from "../../input/question.ts";
import type { CapacityAssumptions } from "./capacity-totals.ts";
import { emptyScalingOutcome } from "./scaling-outcome.ts";
import { replayObserved } from "./scaling-replay.ts";
import type { ScalingSetting } from "./scaling-setting.ts";

export type CurrentUseSummary = {
  readonly cu_hours: number;
  readonly throttled_s: number;
  /** CU-hours metered by the world in the same period. */
  readonly metered_cu_hours: number;
  /** Metered CU-hours that no request caused: after creations and starts by the API, until the first request. */
  readonly metered_without_requests_cu_hours: number;
};

/**
 * Replays the computes of a world under their own sizes with the loads in the journal, as its meter does: a request
 * without a load has none.
 */
export class CurrentUse {
  readonly #question: Question;
  readonly #profile: Profile;
  readonly #cpuShare: number | undefined;
  readonly #outcome = emptyScalingOutcome();

  constructor(question: Question, profile: Profile, { cpuShare }: CapacityAssumptions) {
    this.#question = question;
    this.#profile = profile;
    this.#cpuShare = cpuShare;
  }

  /** Returns the requests without the throttling that their durations contain. */
  add(arrivals: ComputeArrivals, setting: ScalingSetting, compute: number): ComputeArrivals {
    const { scaling, ownSizes } = this.#question;
    const cu = ownSizes?.[compute] ?? this.#profile.sizes.autoscaled[0] ?? 0;
    const range = scaling?.ranges[compute] ?? { minCu: cu, maxCu: cu };
    const demand = { loadPerRequest: 0, loadFactor: this.#cpuShare };
    const { unthrottled } = replayObserved(arrivals, demand, setting, range, this.#profile, this.#outcome);
    return arrivals.load === undefined ? arrivals : unthrottled;
  }

  summary(): CurrentUseSummary {
    const { metered } = this.#question;
    return {
      cu_hours: this.#outcome.cuMs / HOUR,
      throttled_s: this.#outcome.throttledMs / 1_000,
      metered_cu_hours: (metered?.cuMs ?? 0) / HOUR,
      metered_without_requests_cu_hours: (metered?.cuMsWithoutRequests ?? 0) / HOUR,
    };
  }
}
