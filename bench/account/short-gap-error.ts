import { DAY, SECOND } from "../../src/kernel/time.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import type { ComputeArrivals } from "../../src/traffic/recorded/trace/trace.ts";
import { activePeriods } from "../../src/whatif/periods/active-periods.ts";
import { estimateCompute } from "../../src/whatif/periods/compute-estimate.ts";
import { PeriodBounds } from "../../src/whatif/periods/period-bounds.ts";
import { operationColumns } from "../../test/support/account/operation-columns.ts";
import { syntheticCompute, underDelay } from "../../test/support/account/synthetic-account.ts";
import { arrivalsOfKind, FIRST_DAY, type TrafficKind } from "../decisions/traffic-kinds.ts";

/** Error of the estimate of an account, over fleets of one kind of traffic. */
export type ShortGapError = {
  readonly kind: string;
  /** Mean over fleets of the difference from the truth, in percent of the truth. */
  readonly activePercent: number;
  readonly coldPercent: number;
};

const DAYS = 14;
const IN_FORCE_S = 300;
const START_MS = 500;

/** Estimates a shorter delay for fleets with a delay of 5 min, and compares it with the truth. */
export function shortGapError(kind: TrafficKind, fleets: number, shorterS: number): ShortGapError {
  let [active, cold] = [0, 0];
  for (let fleet = 0; fleet < fleets; fleet += 1) {
    const truth = { activeMs: 0, coldStarts: 0 };
    const estimate = { activeMs: 0, coldStarts: 0 };
    const bounds = new PeriodBounds([shorterS], 0);
    for (const arrivals of arrivalsOfKind(kind, DAYS, randomFrom(fleet))) {
      const endAt = FIRST_DAY + DAYS * DAY;
      const { busy, operations } = syntheticCompute(
        requestsOf(arrivals),
        FIRST_DAY,
        endAt,
        IN_FORCE_S,
        START_MS,
      );
      const { periods } = activePeriods(
        operationColumns(operations),
        [{ at: endAt, delay: IN_FORCE_S }],
        FIRST_DAY - DAY,
      );
      bounds.addCompute(periods, endAt, 1);
      add(truth, underDelay(busy, endAt, shorterS * SECOND));
      const [own] = estimateCompute(periods, endAt, [shorterS]).byDelay;
      if (own !== undefined) add(estimate, own);
    }
    const [limits] = bounds.results();
    if (limits === undefined) throw new Error("there are no bounds");
    for (const figure of ["activeMs", "coldStarts"] as const) {
      const { least, most } = limits[figure];
      estimate[figure] = Math.min(most, Math.max(least, estimate[figure]));
    }
    active += Math.abs(estimate.activeMs / truth.activeMs - 1);
    cold += Math.abs(estimate.coldStarts / truth.coldStarts - 1);
  }
  return {
    kind: kind.name,
    ...{ activePercent: (100 * active) / fleets, coldPercent: (100 * cold) / fleets },
  };
}

function add(sum: { activeMs: number; coldStarts: number }, one: typeof sum): void {
  sum.activeMs += one.activeMs;
  sum.coldStarts += one.coldStarts;
}

export function requestsOf({ at, durationMs }: ComputeArrivals) {
  let last = FIRST_DAY;
  return Array.from(at, (arrival, index) => {
    const request = { gapMs: arrival - last, durationMs: durationMs[index] as number };
    last = arrival + request.durationMs;
    return request;
  });
}
