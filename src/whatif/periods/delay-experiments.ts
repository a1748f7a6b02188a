import { isoInstant } from "../../kernel/calendar.ts";
import type { AccountFleet } from "./account-fleet.ts";
import type { ActivePeriod } from "./active-periods.ts";

/** A compute that had a shorter delay than it has now, as pulls before, during and after that have seen. */
export type DelayExperiment = {
  readonly compute: string;
  readonly delay_s: number;
  /** The first start and the last suspend with that delay. */
  readonly from: string;
  readonly to: string;
  /** Periods with that delay. Each shows one gap. */
  readonly periods: number;
};

/** In the order of the computes, and of delays within one. */
export function delayExperiments({ computes }: AccountFleet): readonly DelayExperiment[] {
  return computes.flatMap(({ id, periods, delay: current }) => {
    const byDelay = new Map<number, ActivePeriod[]>();
    for (const period of periods) {
      const { delay, end } = period;
      if (end !== "autosuspend" || typeof delay !== "number") continue;
      if (current !== "never" && delay >= (current ?? 0)) continue;
      const own = byDelay.get(delay);
      if (own === undefined) byDelay.set(delay, [period]);
      else own.push(period);
    }
    return [...byDelay]
      .sort(([a], [b]) => a - b)
      .map(([delay_s, own]) => ({
        ...{ compute: id, delay_s, periods: own.length },
        from: isoInstant(own[0]?.requestedAt ?? 0),
        to: isoInstant(own.at(-1)?.suspendedAt ?? 0),
      }));
  });
}
