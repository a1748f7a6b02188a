import { SECOND } from "../../../kernel/time.ts";
import { PRICED_PLANS, type PricedPlan } from "../../../platform/catalog/price-lists.ts";
import { pointAt } from "../../gap-curve/curve.ts";
import type { SuspendDelay } from "../../gap-curve/delay.ts";
import { isSettableDelay, isWithin, settableDelays } from "../../gap-curve/settable-delays.ts";
import { LONGEST_DELAY_S } from "../../trace/gap-histogram.ts";
import type { MonthlyBill } from "../../units/bill.ts";
import { delayText } from "../../units/number-format.ts";
import {
  bestSettable,
  delayChange,
  marginsOf,
  type Proposal,
  type ProposalInput,
  proposal,
} from "./proposal.ts";

/**
 * Proposals for other plans with a price per CU-hour: with the best delay that each plan allows, and with the usual
 * one.
 */
export function planProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
  const { plan, priceList, question } = input;
  if (question.price_list === null) return [];
  return PRICED_PLANS.filter((other) => other !== plan).flatMap((other) => {
    const priceRatio = priceList.perCuHour[other] / priceList.perCuHour[plan];
    const best = bestSettable(input, other, priceRatio);
    if (best === undefined) return [];
    const usual = usualDelayOn(input, other);
    const delays = usual === undefined || usual === best ? [best] : [best, usual];
    return delays.map((delay) =>
      proposal(input, bill, {
        kind: "plan",
        change: `Move to the plan ${other} with ${delay === "never" ? "autosuspend disabled" : `a delay of ${delayText(delay)}`}`,
        plan: other,
        delay_s: delay,
        delay_is_clear:
          usual === undefined || usual === delay || isClearlyBetter(input, delay, usual, priceRatio),
        saves_with_twice_the_requests: savesWithMoreRequests(input, delay, priceRatio),
        ...delayChange(input, delay, priceRatio),
      }),
    );
  });
}

/** The current delay, or the default where a plan does not allow it; undefined if it exceeds the limit on the wait. */
function usualDelayOn(input: ProposalInput, plan: PricedPlan): SuspendDelay | undefined {
  const { currentDelay, defaultDelayS, shortestWithinWait } = input;
  const settable = settableDelays(plan, defaultDelayS);
  const isAllowed = currentDelay !== "own" && isSettableDelay(settable, currentDelay);
  const usual = isAllowed ? currentDelay : defaultDelayS;
  return isWithin({ shortest: shortestWithinWait ?? "never", longest: "never" }, usual) ? usual : undefined;
}

/**
 * Whether the delay alone is a clear improvement, not only together with the price. The price of a plan is lower on all
 * days, but a delay that was better on the recorded days may cost more on other days than the price saves.
 */
function isClearlyBetter(
  input: ProposalInput,
  delay: SuspendDelay,
  usual: SuspendDelay,
  priceRatio: number,
): boolean {
  const gain = marginsOf(input, { delays: delay, priceRatio }, { delays: usual, priceRatio });
  return gain !== undefined && gain.worth.value > gain.worth.margin95;
}

/** A plan with a higher price saves only with few requests. It must still save with this many times as many. */
const MORE_REQUESTS = 2;

/**
 * Whether the plan saves with `MORE_REQUESTS` times the requests. Undefined at a lower price, which saves with any
 * number of requests, and if each compute has a delay of its own now.
 */
function savesWithMoreRequests(
  { robust: { curve, worthS }, currentDelay }: ProposalInput,
  delay: SuspendDelay,
  priceRatio: number,
): boolean | undefined {
  if (priceRatio <= 1 || currentDelay === "own") return undefined;
  // If gaps are shorter by a factor, a delay has as many cold starts as a delay longer by the factor has now, in a
  // shorter time.
  const weightedMs = (of: SuspendDelay, ratio: number) => {
    const longer = of === "never" ? of : Math.min(LONGEST_DELAY_S, MORE_REQUESTS * of);
    const { activeMs, coldStarts } = pointAt(curve, longer);
    return ratio * activeMs + MORE_REQUESTS * coldStarts * worthS * SECOND;
  };
  return weightedMs(delay, priceRatio) < weightedMs(currentDelay, 1);
}
