import { DAY, HOUR } from "../../../kernel/time.ts";
import type { SizeRange } from "../../../platform/catalog/sizes.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import { percentileText } from "../../input/slo.ts";
import type { MonthlyBill } from "../../units/bill.ts";
import {
  computeDollars,
  dollarsPerStart,
  type Proposal,
  type ProposalInput,
  proposal,
  startDollars,
} from "./proposal.ts";

/** Sizes in the JSON of an advice. */
export type SizesSummary =
  | {
      /** Whether the waits under the current sizes meet the limit. */
      readonly are_sufficient: boolean;
      /** Percentile that the limit applies to, such as `p99`. */
      readonly percentile: string;
      readonly limit_ms: number;
      readonly wait_ms: number;
      /** The cheapest sufficient size where the current ones are not; null if they are, or if no size is. */
      readonly needed: Proposal | null;
    }
  | { readonly not_compared: string };

export function sizesSummary(input: ProposalInput, bill: MonthlyBill): SizesSummary {
  const { sizes } = input;
  if ("missing" in sizes) return { not_compared: sizes.missing };
  const { current, slo } = sizes;
  return {
    are_sufficient: current.isSufficient,
    percentile: percentileText(slo.share),
    limit_ms: slo.waitMs,
    wait_ms: current.waitMs,
    needed: current.isSufficient ? null : (sizeProposal(input, bill) ?? null),
  };
}

/**
 * A proposal for the best size of all computes with the current delay; undefined if there is none, or if sizes are not
 * compared.
 */
export function sizeProposal(input: ProposalInput, bill: MonthlyBill): Proposal | undefined {
  const { sizes, costs, currentDelay, traffic, margins } = input;
  if ("missing" in sizes || sizes.best === undefined) return undefined;
  const { current, best } = sizes;
  const dollarsOf = (cuMs: number, baseMs: number) => perMonth((cuMs / HOUR) * costs.pricePerCuHour, baseMs);
  const baseMs = traffic.month_base_days * DAY;
  const savedByDay = current.cuMsByDay.map((used, day) => used - (best.cuMsByDay[day] as number));
  const margin =
    "missing" in margins || savedByDay.length === 0 ? null : dollarsOf(margins.ofMeanDay(savedByDay), DAY);
  const moreStarts = best.starts - current.starts;
  return proposal(input, bill, {
    kind: "size",
    change: `Set ${traffic.computes_used === 1 ? "the size" : "all sizes"} to ${rangeText(best.range)}${best.hasReserve ? ", enough for twice the load" : ", just enough for the recorded load"}`,
    size: { min_cu: best.range.minCu, max_cu: best.range.maxCu },
    computeDollars: Math.max(
      0,
      computeDollars(input, currentDelay) - dollarsOf(current.cuMs - best.cuMs, baseMs),
    ),
    coldStartsPerDay: input.figuresAt(currentDelay).cold_starts_per_day + moreStarts / traffic.days,
    // A cold start is worth the same dollars with every size.
    startDollars: startDollars(input, currentDelay) + perMonth(moreStarts, baseMs) * dollarsPerStart(input),
    marginDollars: margin,
    worthMarginDollars: margin,
  });
}

export function rangeText({ minCu, maxCu }: SizeRange): string {
  return minCu === maxCu ? `${minCu} CU` : `${minCu}–${maxCu} CU`;
}
