import type { FigureMargins } from "../held-out/margins.ts";
import { amount, delayText, millisText, money, percentOf, signed } from "../report/number-format.ts";
import { capitalized, coldStartWorthText, worthText } from "../report/page-text.ts";
import type { QuestionSummary } from "../report/question.ts";
import type {
  BreakEvenSummary,
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
    ...(too_little.length === 0
      ? []
      : [`No recommendation, the traffic is too little: ${too_little.join("; ")}.`]),
    ...options.map((option, index) => {
      const same = options.slice(0, index).find(({ delay_s }) => delay_s === option.delay_s);
      return same === undefined
        ? optionText(option, current)
        : `${OPTION_TITLES[option.name]}: ${delayText(option.delay_s)}, the same as ${OPTION_TITLES[same.name].toLowerCase()}.`;
    }),
    `Current: ${figuresText(current)}.`,
    ...(options.length === 0 ? [] : [assumptionText(decision, question), ...plateauLines(decision)]),
    ...marginLines(decision),
  ];
}

function marginLines({ no_margins, no_compute_margins, options, current }: DecisionSummary): string[] {
  if (no_margins !== null) return [`No intervals: ${no_margins}.`];
  const text = "± is half the width of a 95 % interval, from how the recorded days";
  if (no_compute_margins !== null) return [`${text} differ. These computes only: ${no_compute_margins}.`];
  const [named] = options;
  const { margin_95_days: days, delay_s } = named ?? current;
  const ofDays =
    days === null
      ? ""
      : ` These computes alone, on other days: ${delayText(delay_s)} costs ± ${money(days.cost_dollars_per_month)} a month, with ± ${amount(days.cold_starts_per_day)} cold starts a day.`;
  return [`${text} and computes differ.${ofDays}`];
}

function optionText(option: DelayOption, current: OptionFigures): string {
  const title = OPTION_TITLES[option.name];
  if (option.delay_s === current.delay_s) return `${title}: ${delayText(option.delay_s)}, the current delay.`;
  const { cost_dollars_per_month: saved, cold_starts_per_day: starts, margin_95 } = option.change;
  const percentMargin =
    margin_95 === null || margin_95.cost_percent === null ? "" : `${amount(margin_95.cost_percent)} % points`;
  const cost = `${percentOf(saved, current.cost_dollars_per_month)}${marginText(percentMargin)}`;
  const startsMargin = margin_95 === null ? "" : amount(margin_95.cold_starts_per_day);
  const change = `${cost}, ${signed(starts)}${marginText(startsMargin)} cold starts a day`;
  return `${title}: ${figuresText(option)} (${change}).`;
}

function figuresText({
  delay_s,
  cost_dollars_per_month,
  cold_starts_per_day,
  wait_mean_ms,
  wait_p99_ms,
  margin_95,
}: OptionFigures): string {
  const margin = (of: (margins: FigureMargins) => string) =>
    margin_95 === null ? "" : marginText(of(margin_95));
  const cost = margin((margins) => money(margins.cost_dollars_per_month));
  const starts = margin((margins) => amount(margins.cold_starts_per_day));
  const wait = margin((margins) => millisText(margins.wait_mean_ms));
  const p99 = wait_p99_ms === null ? "" : ` and ${millisText(wait_p99_ms)} at p99`;
  return `${delayText(delay_s)}. ${money(cost_dollars_per_month)}${cost} a month, ${amount(cold_starts_per_day)}${starts} cold starts a day, requests wait ${millisText(wait_mean_ms)}${wait} on average${p99}`;
}

function marginText(margin: string): string {
  return margin === "" ? "" : ` ± ${margin}`;
}

function assumptionText(
  { break_even: { below, above } }: DecisionSummary,
  question: QuestionSummary,
): string {
  const change = (word: string, breakEven: BreakEvenSummary) => {
    const { cost_percent } = breakEven;
    const cost = cost_percent === null ? "" : ` (${percentOf(cost_percent, 100)})`;
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
