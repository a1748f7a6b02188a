import type { SuspendDelay } from "../../gap-curve/delay.ts";
import type { HeldOutSummary } from "../../held-out/held-out-summary.ts";
import type { ComputeSummary } from "../curve/compute-summary.ts";

/** A delay that `whatif apply` would set for one compute. */
export type OwnDelay = {
  readonly compute: string;
  readonly present_delay_s: SuspendDelay;
  readonly delay_s: SuspendDelay;
  /** Saving in the cost of the compute; negative if it costs more. */
  readonly saves_dollars_per_month: number;
  /** Weighted cost saved in the period, in seconds of active time, and half the width of its 95 % interval. */
  readonly gain_s: number;
  readonly margin_95: number;
};

/** Delays of computes whose gain exceeds its interval, the largest gain first. The other computes keep their delay. */
export function ownDelaysOf(computes: readonly ComputeSummary[]): readonly OwnDelay[] {
  return computes
    .flatMap(({ compute, present, gain_of_shrunk: gain }): OwnDelay[] => {
      const from = present.delay_s;
      if (gain === null || gain.margin_95 === null || from === "own" || gain.delay_s === from) return [];
      if (gain.gain_s <= gain.margin_95) return [];
      return [
        {
          compute,
          present_delay_s: from,
          delay_s: gain.delay_s,
          // Avoids −0.
          saves_dollars_per_month: 0 - gain.cost_dollars_per_month,
          gain_s: gain.gain_s,
          margin_95: gain.margin_95,
        },
      ];
    })
    .sort((a, b) => b.gain_s - a.gain_s || (a.compute < b.compute ? -1 : 1));
}

/**
 * Percentage points of the weighted cost by which the advantage of delays per compute over one delay was larger on the
 * training days than on the test days: the part that is due to chance. At least 0.
 */
export function promisedTooMuch(heldOut: HeldOutSummary): number {
  if ("missing" in heldOut) return 0;
  const [own, fleet] = (["per_compute_shrunk", "fleet"] as const).map((name) =>
    heldOut.choices.find(({ choice }) => choice === name),
  );
  if (own === undefined || fleet === undefined) return 0;
  const more = (figures: "promised" | "held_out") =>
    (own[figures].gain_percent ?? 0) - (fleet[figures].gain_percent ?? 0);
  return Math.max(0, more("promised") - more("held_out"));
}
