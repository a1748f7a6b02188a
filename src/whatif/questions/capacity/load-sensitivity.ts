import { HOUR } from "../../../kernel/time.ts";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../../platform/catalog/sizes.ts";
import type { ComputeArrivals } from "../../../traffic/recorded/trace/trace.ts";
import {
  type Demand,
  emptyScalingOutcome,
  replayScaling,
  type ScalingOutcome,
  type ScalingSetting,
} from "./scaling-replay.ts";

/** Factors by which the assumed load is varied. */
const FACTORS = [0.25, 0.5, 2, 4] as const;

/** The sizes under another load than the assumed one. */
export type SensitivityRow = {
  /** Times the assumed load. */
  readonly factor: number;
  readonly sizes: readonly SizeUnderLoad[];
};

/** In the order of the report's sizes. */
type SizeUnderLoad = {
  readonly min_cu: number;
  readonly max_cu: number;
  readonly cu_hours: number;
  readonly throttled_share: number;
};

/** Replays all sizes under other loads, because the assumed load decides the answer. */
export class LoadSensitivity {
  readonly #profile: Profile;
  readonly #ranges: readonly SizeRange[];
  readonly #variants: readonly {
    readonly factor: number;
    readonly demand: Demand;
    readonly outcomes: readonly ScalingOutcome[];
  }[];

  constructor(ranges: readonly SizeRange[], profile: Profile, demand: Demand) {
    this.#ranges = ranges;
    this.#profile = profile;
    this.#variants = FACTORS.map((factor) => ({
      factor,
      demand: { ...demand, loadFactor: factor },
      outcomes: ranges.map(() => emptyScalingOutcome()),
    }));
  }

  add(arrivals: ComputeArrivals, setting: ScalingSetting): void {
    for (const { demand, outcomes } of this.#variants)
      for (const [index, range] of this.#ranges.entries())
        replayScaling(arrivals, demand, setting, range, this.#profile, outcomes[index]);
  }

  rows(): SensitivityRow[] {
    return this.#variants.map(({ factor, outcomes }) => ({
      factor,
      sizes: this.#ranges.map(({ minCu, maxCu }, index) => {
        const { cuMs, activeMs, throttledMs } = outcomes[index] ?? emptyScalingOutcome();
        return {
          min_cu: minCu,
          max_cu: maxCu,
          cu_hours: cuMs / HOUR,
          throttled_share: activeMs === 0 ? 0 : throttledMs / activeMs,
        };
      }),
    }));
  }
}
