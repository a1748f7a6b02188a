import type { Random } from "../../kernel/random-port.ts";
import type { ComputeArrivals, Period } from "../../traffic/recorded/trace/trace.ts";
import { sizeOf } from "../gap-curve/costs.ts";
import type { DelayChoice } from "../gap-curve/delay.ts";
import { FixedReplay } from "../replay/fixed-replay.ts";
import { emptyOutcome, meteredMs } from "../replay/replay-outcome.ts";
import { loadSizesOf } from "../sizes/scaling-computes.ts";
import { StartLatencies } from "../units/start-latency.ts";
import { effectiveDelay, type Question } from "./question.ts";

/**
 * The size of each compute for a simulation of several computes on one clock, which keeps sizes fixed. For a compute
 * that scales, it is the mean size in a replay of this compute alone under this delay. `arrivals`: requests of each
 * compute.
 */
export function meanSizes(
  question: Question,
  delay: DelayChoice,
  computes: readonly number[],
  arrivals: readonly ComputeArrivals[],
  period: Period,
  random: Random,
): Float64Array {
  return Float64Array.from(computes, (compute, index) => {
    const cu = sizeOf(question.costs, compute);
    const sizes = loadSizesOf(question.scaling, compute, random);
    if (sizes === undefined) return cu;
    const outcome = emptyOutcome(period);
    const replay = new FixedReplay(period, effectiveDelay(question, delay, compute), outcome);
    const deletedAt = question.deletedAt?.[compute];
    replay.begin(new StartLatencies(question.latency, random, compute), { cu, deletedAt, sizes });
    replay.add(arrivals[index] as ComputeArrivals);
    replay.end();
    const activeMs = meteredMs(outcome);
    return activeMs === 0 ? cu : outcome.cuMs / activeMs;
  });
}
