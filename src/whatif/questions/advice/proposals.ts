import { ALLOWED_DELAYS } from "../../../platform/catalog/price-lists.ts";
import type { MonthlyBill } from "../../units/bill.ts";
import { delayText, plural } from "../../units/number-format.ts";
import type { FreePlan } from "./free-plan.ts";
import { promisedTooMuch } from "./own-delays.ts";
import { planProposals } from "./plan-proposals.ts";
import {
  bestSettable,
  computeDollars,
  delayChange,
  marginsOf,
  type Proposal,
  type ProposalInput,
  proposal,
  startDollars,
} from "./proposal.ts";
import { sizeProposal } from "./size-proposal.ts";
import { sourceProposals } from "./source-proposals.ts";

/** The proposals with a worth above 0, the highest worth first. */
export function proposalsFor(
  input: ProposalInput,
  bill: MonthlyBill,
  free: FreePlan | undefined,
): readonly Proposal[] {
  const size = sizeProposal(input, bill);
  return [
    ...delayProposals(input, bill),
    ...computeProposals(input, bill),
    ...sourceProposals(input, bill),
    ...planProposals(input, bill),
    ...(size === undefined ? [] : [size]),
    ...(free !== undefined && "proposal" in free ? [free.proposal] : []),
  ]
    .filter(({ worth_dollars_per_month }) => worth_dollars_per_month > 0)
    .sort((a, b) => b.worth_dollars_per_month - a.worth_dollars_per_month);
}

function delayProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
  const delay = bestSettable(input, input.plan);
  if (delay === undefined || delay === input.currentDelay) return [];
  const change =
    delay === "never" ? "Disable autosuspend" : `Set the autosuspend delay to ${delayText(delay)}`;
  return [proposal(input, bill, { kind: "delay", change, delay_s: delay, ...delayChange(input, delay) })];
}

/**
 * Proposes a delay for each compute if that saves more than one delay for all: on days that the delays were not chosen
 * on, and on all days by more than the noise. The delays to set are chosen on all days, so their saving on these days
 * is overestimated.
 */
function computeProposals(input: ProposalInput, bill: MonthlyBill): Proposal[] {
  const { heldOut, plan, maxWaitMs, ownDelays, currentDelay } = input;
  if ("missing" in heldOut || heldOut.recommended === "fleet" || ALLOWED_DELAYS[plan] !== "all") return [];
  // The wait under these delays is unknown.
  if (maxWaitMs !== undefined || ownDelays.length === 0) return [];
  const saving = marginsOf(input, { delays: input.ownDelayOf });
  const thanForAll = marginsOf(
    input,
    { delays: input.ownDelayOf },
    { delays: bestSettable(input, plan) ?? currentDelay },
  );
  if (saving === undefined || thanForAll === undefined) return [];
  const { saves, worth, coldStartsPerDay } = saving;
  const [now, startsNow] = [computeDollars(input, currentDelay), startDollars(input, currentDelay)];
  const tooMuch = (promisedTooMuch(heldOut) / 100) * (now + startsNow);
  if (thanForAll.worth.value - tooMuch <= thanForAll.worth.margin95) return [];
  return [
    proposal(input, bill, {
      kind: "delays_by_compute",
      change: `Set a delay of its own for ${plural(ownDelays.length, "compute")} (standin whatif apply)`,
      computeDollars: now - saves.value,
      coldStartsPerDay: input.figuresAt(currentDelay).cold_starts_per_day + coldStartsPerDay,
      startDollars: startsNow + saves.value - worth.value + tooMuch,
      marginDollars: saves.margin95,
      worthMarginDollars: worth.margin95,
    }),
  ];
}
