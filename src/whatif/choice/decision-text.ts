import type { QuestionSummary } from "../input/question-summary.ts";
import { capitalized, coldStartWorthText, worthText } from "../page/page-text.ts";
import {
  amountMargin,
  delayText,
  gainText,
  millisText,
  moneyMargin,
  moneyWithMargin,
  percentWithMargin,
  signedWithMargin,
  startsWithMargin,
  waitWithMargin,
} from "../units/number-format.ts";
import type {
  BreakEvenSummary,
  CliffSummary,
  DecisionSummary,
  DelayOption,
  OptionFigures,
  OptionName,
} from "./decision-summary.ts";

const OPTION_TITLES: Readonly<Record<OptionName, string>> = {
  balanced: "Balanced",
  cheapest: "Cheapest",
  fewest_cold_starts: "Fewest cold starts",
};

/** The first lines of the answer: the options, the current setting, and what would change the choice. */
export function decisionLines(decision: DecisionSummary, question: QuestionSummary): string[] {
  const { options, current, too_little } = decision;
  return [
    ...(too_little.length === 0 ? [] : [`No recommendation: ${too_little.join("; ")}.`]),
    ...noiseLines(decision),
    ...options.map((option, index) => {
      const same = options.slice(0, index).find(({ delay_s }) => delay_s === option.delay_s);
      return same === undefined
        ? optionText(option, current)
        : `${OPTION_TITLES[option.name]}: ${delayText(option.delay_s)}, the same as ${OPTION_TITLES[same.name].toLowerCase()}.`;
    }),
    `Current: ${figuresText(current)}.`,
    ...planLines(decision, question),
    ...(options.length === 0
      ? []
      : [assumptionText(decision, question), ...plateauLines(decision), ...cliffLines(decision)]),
    ...marginLines(decision),
  ];
}

/** Explains which delays the plan allows. */
function planLines(
  { options, settable_delays_s: settable, within_limits }: DecisionSummary,
  { plan }: QuestionSummary,
) {
  if (settable === "all") return [];
  const allowed = settable.map(delayText).join(" or ");
  if (options.length > 0) return [`Plan ${plan} allows only ${allowed} (--plan).`];
  return within_limits === null
    ? []
    : [`Plan ${plan} allows only ${allowed} (--plan), and neither is within the limits.`];
}

function cliffLines({ cliff }: DecisionSummary): string[] {
  return cliff === null ? [] : [`Nearest cliff: ${cliffText(cliff)}.`];
}

/** Describes a cliff, without a full stop. */
export function cliffText({
  delay_s,
  distance_percent,
  cold_starts_per_day_below: below,
  cold_starts_per_day_from: from,
  cause,
}: CliffSummary): string {
  const starts = (count: number) => Math.round(count).toLocaleString("en");
  const distance = `${Math.abs(distance_percent).toFixed(0)} % ${distance_percent >= 0 ? "shorter" : "longer"}`;
  return `${distance}, below ${delayText(delay_s)}: ${starts(below)} cold starts a day instead of ${starts(from)}, because ${cause === null ? "many gaps are just as long" : `of ${cause}`}`;
}

function noiseLines({ within_noise, too_little, current }: DecisionSummary): string[] {
  if (within_noise === null || too_little.length > 0) return [];
  const gain = gainText(within_noise.gain_percent, within_noise.margin_95);
  if (within_noise.gain_percent <= 0)
    return [
      `Keep ${delayText(current.delay_s)}: the balanced delay is no better, except if gaps get longer.`,
    ];
  return [
    `Keep ${delayText(current.delay_s)}: the balanced delay changes the weighted cost by ${gain}, which may be chance.`,
  ];
}

function marginLines({
  no_margins,
  margins_assume,
  no_compute_margins,
  options,
  current,
}: DecisionSummary): string[] {
  if (no_margins !== null) return [`No intervals: ${no_margins}.`];
  const assumed = margins_assume === null ? "" : ` ${margins_assume}.`;
  const text = `± is half the width of a 95 % interval, for these computes on other days.${assumed}`;
  if (no_compute_margins !== null)
    return [`${text} Nothing is said about other computes: ${no_compute_margins}.`];
  const { margin_95_other_computes: others, delay_s } = options[0] ?? current;
  if (others === null) return [text];
  const cost = moneyMargin(others.cost_dollars_per_month);
  const starts = amountMargin(others.cold_starts_per_day);
  return [
    `${text} For other computes like these, it would be ± ${cost} a month and ± ${starts} cold starts a day with ${delayText(delay_s)}.`,
  ];
}

function optionText(option: DelayOption, current: OptionFigures): string {
  const title = OPTION_TITLES[option.name];
  if (option.delay_s === current.delay_s) return `${title}: ${delayText(option.delay_s)}, the current delay.`;
  const { cost_percent, cold_starts_per_day, margin_95 } = option.change;
  const cost = cost_percent === null ? "new" : percentWithMargin(cost_percent, margin_95?.cost_percent);
  const starts = signedWithMargin(cold_starts_per_day, margin_95?.cold_starts_per_day);
  return `${title}: ${figuresText(option)} (${cost}, ${starts} cold starts a day).`;
}

function figuresText({
  delay_s,
  cost_dollars_per_month,
  cold_starts_per_day,
  cold_starts_per_day_at_most_95: atMost,
  wait_mean_ms,
  wait_p99_ms,
  margin_95: margins,
}: OptionFigures): string {
  const cost = moneyWithMargin(cost_dollars_per_month, margins?.cost_dollars_per_month);
  const starts = startsWithMargin(cold_starts_per_day, margins?.cold_starts_per_day, atMost);
  const wait = waitWithMargin(wait_mean_ms, margins?.wait_mean_ms);
  const p99 = wait_p99_ms === null ? "" : ` and ${millisText(wait_p99_ms)} at p99`;
  return `${delayText(delay_s)}. ${cost} a month, ${starts} cold starts a day, requests wait ${wait} on average${p99}`;
}

function assumptionText(
  { break_even: { below, above } }: DecisionSummary,
  question: QuestionSummary,
): string {
  const change = (word: string, breakEven: BreakEvenSummary) => {
    const { cost_percent, cost_percent_margin_95: margin } = breakEven;
    const cost = cost_percent === null ? "" : ` (${percentWithMargin(cost_percent, margin)})`;
    return `${word} ${worthText(breakEven)} the best is ${delayText(breakEven.delay_s)}${cost}`;
  };
  const changes = [
    ...(below === null ? [] : [change("below", below)]),
    ...(above === null ? [] : [change("above", above)]),
  ];
  const rest = changes.length === 0 ? "No other worth changes the choice" : capitalized(changes.join("; "));
  return `Balanced ${coldStartWorthText(question)}. ${rest}.`;
}

function plateauLines({ plateau }: DecisionSummary): string[] {
  if (plateau === null) return [];
  const { from_delay_s: from, to_delay_s: to } = plateau;
  return from === to
    ? ["No other delay is within 1 % of its weighted cost."]
    : [`Delays from ${delayText(from)} to ${delayText(to)} are within 1 % of its weighted cost.`];
}
