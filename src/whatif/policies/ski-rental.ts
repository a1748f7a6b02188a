import { uniform } from "../../kernel/random-port.ts";
import { SECOND } from "../../kernel/time.ts";
import { type Policy, sleepOnly } from "./policy.ts";

/**
 * Stays active for as long as a cold start is worth: at most twice the cost of perfect foresight, for any
 * trace.
 */
export const skiRental: Policy = {
  name: "ski-rental",
  knows: "past",
  isRandom: false,
  resumes: false,
  createState: ({ coldStartS }) => ({
    schedule: (idleSince, schedule) => sleepOnly(schedule, idleSince + coldStartS * SECOND),
  }),
};

/**
 * Stays active for a random share of that time: e / (e − 1) = 1.5820 times the cost of perfect foresight in
 * expectation, for any gap.
 */
export const skiRentalRandomised: Policy = {
  name: "ski-rental:randomised",
  knows: "past",
  isRandom: true,
  resumes: false,
  createState: ({ coldStartS, random, number }) => {
    const draw = random.stream("whatif-ski-rental", number);
    return {
      schedule: (idleSince, schedule) =>
        sleepOnly(schedule, idleSince + Math.round(randomisedDelay(coldStartS * SECOND, uniform(draw)))),
    };
  },
};

/** `T = B·ln(1 + U(e − 1))` for a uniform `u` (Karlin et al. 1994), in the unit of `breakEven`. */
export function randomisedDelay(breakEven: number, u: number): number {
  return breakEven * Math.log(1 + u * (Math.E - 1));
}
