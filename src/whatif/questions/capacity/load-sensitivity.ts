import { HOUR } from "../../../kernel/time.ts";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../../platform/catalog/sizes.ts";
import type { ComputeArrivals } from "../../../traffic/recorded/trace/trace.ts";
import type { Slo } from "../../input/slo.ts";
import { missedShare } from "./missed-share.ts";
import { emptyScalingOutcome, type ScalingOutcome } from "./scaling-outcome.ts";
import { replayScaling } from "./scaling-replay.ts";
import type { Demand, ScalingSetting } from "./scaling-setting.ts";

/** Factors by which the assumed load is varied. */
const FACTORS = [0.25, 0.5, 2, 4] as const;

/** The sizes under another load than the assumed one. */
export type SensitivityRow = {
  /** Factor of the assumed load. */
  readonly factor: number;
  readonly sizes: readonly SizeUnderLoad[];
};

/** Figures of a size, in the order of the report's sizes. */
type SizeUnderLoad = {
  readonly min_cu: number;
  readonly max_cu: number;
  readonly cu_hours: number;
  readonly throttled_share: number;
  /** See `slo_missed_share` in `CapacityRow`. */
  readonly slo_missed_share: number | null;
};

/** Replays all sizes under other loads, because the assumed load decides the answer. */
export class LoadSensitivity {
  readonly #profile: Profile;
  readonly #ranges: readonly SizeRange[];
  readonly #slo: Slo | undefined;
  readonly #variants: readonly {
    readonly factor: number;
    readonly demand: Demand;
    readonly outcomes: readonly ScalingOutcome[];
  }[];

  constructor(
    ranges: readonly SizeRange[],
    profile: Profile,
    demand: Demand,
    slo: Slo | undefined,
    judgedSource?: number,
  ) {
    this.#slo = slo;
    this.#ranges = ranges;
    this.#profile = profile;
    this.#variants = FACTORS.map((factor) => ({
      factor,
      demand: { ...demand, loadFactor: factor * (demand.loadFactor ?? 1) },
      outcomes: ranges.map(() => emptyScalingOutcome(undefined, judgedSource)),
    }));
  }

  add(arrivals: ComputeArrivals, setting: ScalingSetting): void {
    for (const { demand, outcomes } of this.#variants)
      for (const [index, range] of this.#ranges.entries())
        replayScaling(arrivals, demand, setting, range, this.#profile, outcomes[index]);
  }

  /** `rejected`: by size, number of requests without a connection that the SLO applies to. */
  rows(rejected: readonly number[]): SensitivityRow[] {
    const slo = this.#slo;
    return this.#variants.map(({ factor, outcomes }) => ({
      factor,
      sizes: this.#ranges.map(({ minCu, maxCu }, index) => {
        const outcome = outcomes[index] ?? emptyScalingOutcome();
        const { cuMs, activeMs, throttledMs } = outcome;
        return {
          min_cu: minCu,
          max_cu: maxCu,
          cu_hours: cuMs / HOUR,
          throttled_share: activeMs === 0 ? 0 : throttledMs / activeMs,
          slo_missed_share: slo === undefined ? null : missedShare(slo, outcome, rejected[index] ?? 0),
        };
      }),
    }));
  }
}
