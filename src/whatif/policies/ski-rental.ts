import { uniform } from "../../kernel/random-port.ts";
import type { DurationMs } from "../../kernel/time.ts";
import { type Policy, sleepOnly } from "./policy.ts";
import { WorthSeen } from "./worth-seen.ts";

/**
 * Stays active for as long as a cold start is worth: the mean worth of the starts so far. If all starts are worth the
 * same, it costs at most twice as much as perfect foresight, for any trace.
 */
export const skiRental: Policy = {
  name: "ski-rental",
  knows: "past",
  isRandom: false,
  resumes: false,
  createState(context) {
    const worth = new WorthSeen(context);
    return {
      schedule: (idleSince, schedule) => sleepOnly(schedule, idleSince + Math.round(worth.meanMs)),
      learnStart: (worthMs) => worth.add(worthMs),
    };
  },
};

/**
 * Stays active for a random share of the delay of `skiRental`. Its expected cost is e / (e − 1) = 1.5820 times that of
 * perfect foresight, for any gap.
 */
export const skiRentalRandomised: Policy = {
  name: "ski-rental:randomised",
  knows: "past",
  isRandom: true,
  resumes: false,
  createState(context) {
    const draw = context.random.stream("whatif-ski-rental", context.number);
    const worth = new WorthSeen(context);
    return {
      schedule: (idleSince, schedule) =>
        sleepOnly(schedule, idleSince + Math.round(randomisedDelay(worth.meanMs, uniform(draw)))),
      learnStart: (worthMs) => worth.add(worthMs),
    };
  },
};

/** `T = B·ln(1 + U(e − 1))` for a uniform `u` (Karlin et al. 1994), in the unit of `breakEven`. */
export function randomisedDelay(breakEven: DurationMs, u: number): DurationMs {
  return breakEven * Math.log(1 + u * (Math.E - 1));
}
