import { DAY } from "../../../kernel/time.ts";
import { PLANS } from "../../../platform/catalog/plan.ts";
import { FREE_PLAN_INCLUDES } from "../../../platform/catalog/price-lists.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import { isWithin } from "../../gap-curve/settable-delays.ts";
import { extraBranchesOn, type MonthlyBill } from "../../units/bill.ts";
import { amount, delayText, plural } from "../../units/number-format.ts";
import { computeDollars, delayChange, type Proposal, type ProposalInput, proposal } from "./proposal.ts";

/** A proposal to use the free plan, or the reason why there is none. */
export type FreePlan = { readonly proposal: Proposal } | { readonly why_not: string };

/**
 * The proposal, or why there is none. Undefined if the price was given instead of taken from a list: it belongs to a
 * contract, which has no free plan.
 */
export function freePlan(input: ProposalInput, bill: MonthlyBill): FreePlan | undefined {
  const { question, defaultDelayS } = input;
  if (question.price_list === null) return undefined;
  const why = limitExceeded(input) ?? unknownUse(input);
  if (why !== undefined) return { why_not: why };
  return {
    proposal: proposal(input, bill, {
      kind: "plan",
      change: `Move to the plan free, which has a delay of ${delayText(defaultDelayS)}`,
      plan: "free",
      delay_s: defaultDelayS,
      ...delayChange(input, defaultDelayS, 0),
      billDollars: 0,
    }),
  };
}

function limitExceeded(input: ProposalInput): string | undefined {
  const { question, usage, defaultDelayS, shortestWithinWait, traffic, priceList } = input;
  const { onlySizeCu = Number.POSITIVE_INFINITY } = PLANS.free;
  const { storageGb, transferGb } = FREE_PLAN_INCLUDES;
  if (question.cu === "own" || question.cu > onlySizeCu)
    return `its computes have ${onlySizeCu} CU, which do not scale`;
  if (!isWithin({ shortest: shortestWithinWait ?? "never", longest: "never" }, defaultDelayS))
    return `its delay of ${delayText(defaultDelayS)} does not meet the limit on the wait`;
  if ((usage.storageGb ?? 0) > storageGb) return `a project has at most ${storageGb} GB of storage`;
  if ((usage.transferGb ?? 0) > transferGb)
    return `a project has at most ${transferGb} GB of transfer a month`;
  if ((extraBranchesOn("free", usage) ?? 0) > 0) return "it has no extra branches";
  const { cuHours, margin } = cuHoursOfMonth(input);
  const included = priceList.freeCuHours;
  if (cuHours + margin <= included) return undefined;
  const needs = `${amount(cuHours)} CU-hours a month with ${delayText(defaultDelayS)}${margin > 0 ? ` (± ${amount(margin)})` : ""}`;
  const computes = traffic.computes_used;
  return computes > 1 && cuHours <= included * computes
    ? `${plural(computes, "compute")} need ${needs}, and a project has ${included}; in how many projects they are is not known`
    : `${needs} are needed, and a project has ${included}`;
}

function unknownUse({ usage }: ProposalInput): string | undefined {
  const { storageGb, transferGb } = FREE_PLAN_INCLUDES;
  const missing = [
    ...(usage.storageGb === undefined ? [`${storageGb} GB of storage (--storage)`] : []),
    ...(usage.transferGb === undefined ? [`${transferGb} GB of transfer a month (--transfer)`] : []),
  ];
  return missing.length === 0 ? undefined : `unless ${missing.join(" and ")} are enough; its CU-hours are`;
}

/** CU-hours of a month of all computes, as if they were in one project. */
function cuHoursOfMonth(input: ProposalInput): { readonly cuHours: number; readonly margin: number } {
  const { figuresAt, traffic, defaultDelayS, margins, costs } = input;
  const cuHours = perMonth(figuresAt(defaultDelayS).cu_hours, traffic.month_base_days * DAY);
  if ("missing" in margins || costs.pricePerCuHour === 0) return { cuHours, margin: 0 };
  const { cost_dollars_per_month: dollars } = margins.figures(defaultDelayS).days;
  return { cuHours, margin: (dollars / computeDollars(input, defaultDelayS) || 0) * cuHours };
}
