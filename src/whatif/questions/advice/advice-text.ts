import {
  delayPhrase,
  millisText,
  money,
  moneyWithMargin,
  signed,
  spanText,
  startsWithMargin,
} from "../../units/number-format.ts";
import { changeText as trafficText } from "../../units/traffic-change.ts";
import type { Advice } from "./advice.ts";
import type { Proposal } from "./proposal.ts";
import { rangeText } from "./size-proposal.ts";

/** An advice in sentences; each part is one line at most. */
export type AdviceText = {
  readonly decision: string;
  readonly warning: string | null;
  /** The proposals after the decision. */
  readonly next: readonly string[];
  /** States whether the current settings meet the requirements. */
  readonly requirements: readonly string[];
  /** Reason why the free plan is not proposed; null if it is. */
  readonly free_plan: string | null;
  readonly would_change: readonly string[];
  readonly not_known: readonly string[];
  readonly now: string;
};

/** Maximum number of proposals after the decision. */
export const OTHERS = 2;

export function adviceText(advice: Advice): AdviceText {
  const { decision, proposals, would_change, not_known, too_little, traffic_change, bill, current } = advice;
  // The longer interval of a source is named with its removal.
  const named = new Set(proposals.map(({ less_often }) => less_often));
  const others = proposals.filter((one) => one !== decision && !named.has(one)).slice(0, OTHERS);
  const p99 = current.wait_p99_ms === null ? "" : `, p99 wait ${millisText(current.wait_p99_ms)}`;
  return {
    decision: decisionLine(advice),
    warning:
      traffic_change === null
        ? null
        : `Warning: ${trafficText("traffic", traffic_change)}; figures for a month assume it stays as it was on average, and no delay is recommended.`,
    next: others.map((one) => `${proposalText(one)}${clearText(one, advice)}.`),
    requirements: [...sizeLines(advice), ...requirementLines(advice)],
    free_plan: freePlanText(advice),
    would_change,
    not_known,
    now: `${money(bill.dollars_per_month)} a month, ${startsWithMargin(current.cold_starts_per_day, null, current.cold_starts_per_day_at_most_95)} cold starts a day${p99}.${too_little.length > 0 ? "" : " ± is half a 95 % interval for other days."}`,
  };
}

/** Reason why the free plan is not proposed, for the limits; null if it is. */
export function freePlanText({ no_free_plan }: Pick<Advice, "no_free_plan">): string | null {
  return no_free_plan === null ? null : `Plan free: no, ${no_free_plan}.`;
}

function decisionLine({ decision, too_little, traffic_change, current, proposals }: Advice): string {
  if (too_little.length > 0) return `No recommendation: ${too_little.join("; ")}.`;
  const keep = `Keep ${delayPhrase(current.delay_s).replace(/^a /, "the ")}`;
  if (decision === null && traffic_change !== null) return `${keep} for now.`;
  if (decision === null && proposals.some(({ margin_95 }) => margin_95 === null))
    return `${keep} for now: whether a change saves more than the noise is not known.`;
  if (decision === null && proposals.length === 0) return `${keep}: no other setting is better.`;
  if (decision === null)
    return proposals.some(
      ({ worth_dollars_per_month: dollars, worth_margin_95: margin }) => dollars > (margin ?? 0),
    )
      ? `${keep}: no change is sure to save.`
      : `${keep}: no change saves more than the noise.`;
  const isDelayUnchanged =
    traffic_change === null &&
    decision.kind === "source" &&
    !proposals.some(({ kind, is_clear }) => kind === "delay" && is_clear);
  return `${proposalText(decision)}.${isDelayUnchanged ? ` ${keep}: no other delay saves more than the noise.` : ""}`;
}

function proposalText(one: Proposal): string {
  const { change, less_often: slower } = one;
  const instead =
    slower?.every_s === undefined
      ? ""
      : `; or send it every ${spanText(slower.every_s)}: ${savingText(slower)}`;
  return `${change}: ${savingText(one)}${instead}`;
}

function savingText({ saves_dollars_per_month, margin_95, cold_starts_per_day }: Proposal): string {
  return `${changeText(saves_dollars_per_month, margin_95)} a month, ${signed(cold_starts_per_day)} cold starts a day`;
}

/** Formats a saving as a change of the bill: a saving is negative, an additional cost positive. */
export function changeText(saves: number, margin: number | null): string {
  return `${saves < 0 ? "+" : ""}${moneyWithMargin(-saves, margin)}`;
}

/** Short name of a proposal, for a key figure and a bar. */
export function shortText({ kind, source, every_s, plan, size, delay_s }: Proposal): string {
  switch (kind) {
    case "source":
      return every_s === undefined ? `without ${source}` : `${source} every ${spanText(every_s)}`;
    case "plan":
      return `plan ${plan}`;
    case "delays_by_compute":
      return "own delays";
    case "size":
      return size === undefined ? "size" : rangeText({ minCu: size.min_cu, maxCu: size.max_cu });
    case "delay":
      return delayPhrase(delay_s ?? "own");
  }
}

function clearText(
  { is_clear, delay_is_clear, saves_with_twice_the_requests, ...worth }: Proposal,
  { too_little }: Advice,
): string {
  if (is_clear || too_little.length > 0) return "";
  const { worth_dollars_per_month: dollars, worth_margin_95: margin } = worth;
  if (margin === null || dollars <= margin) return " (within the noise)";
  if (saves_with_twice_the_requests === false) return " (with twice the requests it costs more)";
  return delay_is_clear === false ? " (what the delay adds is within the noise)" : " (within the noise)";
}

/** A line about sizes; empty unless they are known to be too small. */
function sizeLines({ sizes }: Advice): string[] {
  if ("not_compared" in sizes || sizes.are_sufficient) return [];
  const { percentile, limit_ms, wait_ms, needed } = sizes;
  const enough = needed === null ? "No size is enough" : proposalText(needed);
  return [
    `The current sizes are too small: the ${percentile} wait is ${millisText(wait_ms)}, and at most ${millisText(limit_ms)} is the limit. ${enough}.`,
  ];
}

function requirementLines({ current: { meets }, bill, sizes }: Advice): string[] {
  const { budget, slo, wait_ms, budget_dollars_per_month, max_wait } = meets;
  // If sizes are too small, starts are not the only wait, and another line says so.
  const isSizeTooSmall = "are_sufficient" in sizes && !sizes.are_sufficient;
  const ofSource = typeof max_wait?.source === "string" ? ` for ${max_wait.source}` : "";
  return [
    ...(budget === null || budget_dollars_per_month === null
      ? []
      : [
          `The current settings ${budget ? "meet" : "exceed"} the budget: ${money(bill.dollars_per_month)} of ${money(budget_dollars_per_month)} a month.`,
        ]),
    ...(slo === null || max_wait === null || wait_ms === null || isSizeTooSmall
      ? []
      : [
          `The current settings ${slo ? "meet" : "do not meet"} a ${max_wait.percentile} wait of at most ${millisText(max_wait.ms)}${ofSource}: it is ${millisText(wait_ms)}.`,
        ]),
  ];
}
