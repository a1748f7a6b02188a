import { uniform } from "../../platform/core/random-port.ts";
import { SECOND } from "../../platform/core/time.ts";
import { type Policy, sleepOnly } from "./policy.ts";

/** Awake for as long as a cold start is worth: never more than twice as dear as who knows the future, whatever comes. */
export const skiRental: Policy = {
  name: "ski-rental",
  knows: "past",
  isRandom: false,
  resumes: false,
  createState: ({ coldStartS }) => ({
    schedule: (idleSince, schedule) => sleepOnly(schedule, idleSince + coldStartS * SECOND),
  }),
};

/** Awake for a share of that which chance decides, anew each time: on average e / (e − 1) = 1.5820 times as dear for every gap. */
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
