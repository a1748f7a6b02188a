import { isoInstant } from "../../kernel/calendar.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { AccountFleet } from "./account-fleet.ts";

/** A compute that had a shorter delay than it has now, as seen by pulls before, during and after that time. */
export type DelayExperiment = {
  readonly compute: string;
  readonly delay_s: number;
  /** The first start and the last suspend with that delay. */
  readonly from: string;
  readonly to: string;
  /** Periods with that delay. Each shows one gap. */
  readonly periods: number;
};

/** The experiments in the order of the computes, and of delays within a compute. */
export function delayExperiments({ computes }: AccountFleet): readonly DelayExperiment[] {
  return computes.flatMap(({ id, periods, delay: current }) => {
    const byDelay = new Map<number, { periods: number; readonly from: SimTime; to: SimTime }>();
    for (let index = 0; index < periods.length; index += 1) {
      if (!periods.isLastRequestKnown(index)) continue;
      const delayS = periods.delayS[index] as number;
      if (current !== "never" && delayS >= (current ?? 0)) continue;
      let own = byDelay.get(delayS);
      if (own === undefined) {
        const from = periods.requestedAt[index] as number;
        own = { periods: 0, from, to: from };
        byDelay.set(delayS, own);
      }
      own.periods += 1;
      own.to = periods.suspendedAt[index] as number;
    }
    return [...byDelay]
      .sort(([a], [b]) => a - b)
      .map(([delay_s, own]) => ({
        ...{ compute: id, delay_s, periods: own.periods },
        ...{ from: isoInstant(own.from), to: isoInstant(own.to) },
      }));
  });
}
