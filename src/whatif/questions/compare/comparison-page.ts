import { DAY } from "../../../kernel/time.ts";
import { tooLittleReasons } from "../../choice/decision.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import { ignoredWaitsText, meteredText, sizeAndPriceText } from "../../input/question-summary.ts";
import type { ReportPage } from "../../page/page-layout.ts";
import { type PageTable, pageTable, type RowMark } from "../../page/page-table.ts";
import {
  capitalized,
  coldStartWorthText,
  periodText,
  requestsText,
  startsTakeText,
} from "../../page/page-text.ts";
import type { OutcomeFigures } from "../../replay/figures.ts";
import {
  amount,
  amountWithMargin,
  currentDelayPhrase,
  delayPhrase,
  delayText,
  money,
  moneyWithMargin,
  monthNote,
  percentOf,
  percentWithMargin,
  signedWithMargin,
  startsWithMargin,
  waitWithMargin,
} from "../../units/number-format.ts";
import type { ComparedFigure } from "./compared-figures.ts";
import type { ComparedPolicy, Comparison } from "./comparison.ts";
import { distributionTables } from "./distribution-tables.ts";

export function comparisonPage(comparison: Comparison): ReportPage {
  const { traffic, question, policies } = comparison;
  const best = bestPolicy(policies);
  const mark = (policy: ComparedPolicy) => {
    if (policy === best) return "best";
    if (policy === policies[0]) return "current";
    return policy.knows === "future" ? "bound" : undefined;
  };
  return {
    title: "Suspend policies compared",
    subject: [
      requestsText(traffic),
      periodText(traffic),
      sizeAndPriceText(question),
      startsTakeText(question.start_latency),
      coldStartWorthText(question),
      ignoredWaitsText(question),
    ]
      .filter((text) => text !== undefined)
      .join(" · "),
    answer: comparisonAnswerText(comparison, best),
    facts: policies.map((policy) => ({
      label: policy.policy,
      value: money(monthly(comparison, policy).value),
      note: `${monthNote(monthly(comparison, policy).margin_95)}, ${amount(figure(policy, "cold_starts_per_day").value)} cold starts a day`,
    })),
    tables: [
      policyTable(comparison, mark),
      waitTable(comparison, mark),
      ...resumesTable(comparison, mark),
      ...distributionTables(
        comparison.policies.map((policy) => ({
          name: policy.policy,
          mark: mark(policy),
          over_computes: policy.over_computes,
        })),
        comparison.traffic.computes_used,
        { heading: "policy", quartiles: "computes" },
      ),
    ],
    limits: comparison.limits,
  };
}

/** The achievable policy with the lowest weighted cost. */
export function bestPolicy(policies: readonly ComparedPolicy[]): ComparedPolicy {
  const weightedCost = (policy: ComparedPolicy) => figure(policy, "burden_s").value;
  return policies
    .filter(({ knows, not_on_plan }) => knows !== "future" && not_on_plan === undefined)
    .reduce((best, policy) => (weightedCost(policy) < weightedCost(best) ? policy : best));
}

function comparisonAnswerText(comparison: Comparison, best: ComparedPolicy): string[] {
  return [
    ...decisionLines(comparison, best),
    ...otherPlanLines(comparison),
    comparison.no_margins === null
      ? "± is half the width of a 95 % interval, for these computes on other days."
      : `No intervals over days: ${comparison.no_margins}.`,
    ...unusedResumesText(comparison),
    ...meteredLines(comparison),
  ];
}

function otherPlanLines({ policies, question }: Comparison): string[] {
  const names = policies.filter(({ not_on_plan }) => not_on_plan).map(({ policy }) => policy);
  return names.length === 0
    ? []
    : [`Not on plan ${question.plan} (--plan), and not recommended: ${names.join(", ")}.`];
}

function meteredLines({ policies: [current], question }: Comparison): string[] {
  const text = current && meteredText(figure(current, "cu_hours").value, question);
  return text === undefined ? [] : [text];
}

/** Notes policies that never resumed, so that only their delays had an effect. */
function unusedResumesText({ policies }: Comparison): string[] {
  return policies
    .filter((policy) => policy.resumes && resumesOf(policy) === 0)
    .map(({ policy }) => `${policy} never resumed a compute ahead of a request in this traffic.`);
}

function resumesOf(policy: ComparedPolicy): number {
  return figure(policy, "resumes_used").value + figure(policy, "resumes_wasted").value;
}

/** The decision, its saving, and what only a program of your own could save. */
function decisionLines(comparison: Comparison, best: ComparedPolicy): string[] {
  const { policies, question } = comparison;
  const [current] = policies;
  if (current === undefined) return [];
  const reasons = tooLittle(comparison);
  const settable = bestPolicy(policies.filter((policy) => policy.settable));
  const isBest = "Its weighted cost is the lowest of";
  const program =
    best === settable
      ? []
      : [`With a program of your own: ${policyPhrase(best)}. ${changeText(comparison, best)}`];
  const currentText = `${policyPhrase(current)}. ${capitalized(figuresText(comparison, current))}.`;
  const named = reasons.length === 0 ? ["Keep", "Set"] : ["Lowest weighted cost:", "Lowest weighted cost:"];
  return [
    ...(reasons.length === 0 ? [] : [`No recommendation, the traffic is too little: ${reasons.join("; ")}.`]),
    ...(settable === current
      ? [
          `${named[0]} ${currentDelayPhrase(question.present_delay_s)}. ${capitalized(figuresText(comparison, current))}. ${isBest} ${best === current ? "all achievable policies here" : "the policies that the platform itself offers"}.`,
        ]
      : [
          `${named[1]} ${policyPhrase(settable)}. ${changeText(comparison, settable)}`,
          `Current: ${currentText}`,
        ]),
    ...program,
  ];
}

function tooLittle({ policies, traffic }: Comparison): string[] {
  const most = Math.max(...policies.map((policy) => figure(policy, "cold_starts").value));
  return tooLittleReasons(traffic.days * DAY, Math.round(most), "at most");
}

/** A delay in words, other policies by name. */
function policyPhrase({ policy, chosen_delays_s: chosen }: ComparedPolicy): string {
  const [, seconds] = /^fixed:(\d+)$/.exec(policy) ?? [];
  if (seconds !== undefined) return delayPhrase(Number(seconds));
  if (chosen === undefined) return policy;
  const [shortest, longest] = chosen;
  const choice = `${policy}, chosen in hindsight for this traffic`;
  return shortest === longest
    ? `${delayPhrase(shortest)} for all computes (${choice})`
    : `a delay for each compute, from ${delayText(shortest)} to ${delayText(longest)} (${choice}; \`whatif curve --by-compute\` names them)`;
}

function figuresText(comparison: Comparison, policy: ComparedPolicy): string {
  const cost = valueText(monthly(comparison, policy), moneyWithMargin);
  const starts = startsText(policy);
  const wait = valueText(figure(policy, "wait_mean_ms"), waitWithMargin);
  return `${cost} a month, ${starts} cold starts a day, requests wait ${wait} on average`;
}

function changeText(comparison: Comparison, policy: ComparedPolicy): string {
  const cost = differenceText(monthly(comparison, policy));
  const { difference, difference_margin_95: margin } = figure(policy, "cold_starts_per_day");
  const weighted = differenceText(figure(policy, "burden_s"));
  return `${capitalized(figuresText(comparison, policy))} (cost ${cost}, ${signedWithMargin(difference, margin)} cold starts a day, weighted cost ${weighted} vs. the current setting).`;
}

type MarkOf = (policy: ComparedPolicy) => RowMark | undefined;

function startsText(policy: ComparedPolicy): string {
  const starts = figure(policy, "cold_starts_per_day");
  return valueText(starts, (value, margin) => startsWithMargin(value, margin, starts.at_most_95));
}

const NO_FIGURE: ComparedFigure = { value: 0, difference: 0 };

function figure({ figures }: ComparedPolicy, name: keyof OutcomeFigures): ComparedFigure {
  return figures[name] ?? NO_FIGURE;
}

/** The cost for a month of 730 hours. */
function monthly({ traffic }: Comparison, policy: ComparedPolicy): ComparedFigure {
  return scaled(figure(policy, "cost"), perMonth(1, traffic.month_base_days * DAY));
}

/** Scales a figure. Percentages do not change. */
function scaled(figure: ComparedFigure, factor: number): ComparedFigure {
  const { difference_percent_margin_95: percent, ...sums } = figure;
  const entries = Object.entries(sums).map(([name, value]) => [name, value * factor] as const);
  const fields = Object.fromEntries(entries) as ComparedFigure;
  return percent === undefined ? fields : { ...fields, difference_percent_margin_95: percent };
}

function policyTable(comparison: Comparison, mark: MarkOf): PageTable {
  const { policies, traffic } = comparison;
  const withDifference = (
    heading: string,
    figureOf: (policy: ComparedPolicy) => ComparedFigure,
    show: Show,
  ) => [
    { heading, cell: (policy: ComparedPolicy) => valueText(figureOf(policy), show) },
    { heading: "vs. current", cell: (policy: ComparedPolicy) => differenceText(figureOf(policy)) },
  ];
  const hoursADay = (policy: ComparedPolicy) => scaled(figure(policy, "active_s"), 1 / 3_600 / traffic.days);
  return pageTable({
    name: "policies",
    title: "Policies, compared with the current setting",
    columns: [
      {
        heading: "policy",
        cell: ({ policy, not_on_plan }) =>
          not_on_plan === undefined ? policy : `${policy} (not on plan ${comparison.question.plan})`,
      },
      { heading: "cold starts a day", cell: startsText },
      { heading: "vs. current", cell: (one) => differenceText(figure(one, "cold_starts_per_day")) },
      ...withDifference("active h a day", hoursADay, amountWithMargin),
      ...withDifference("$ a month", (one) => monthly(comparison, one), moneyWithMargin),
      { heading: "weighted cost", cell: (one) => differenceText(figure(one, "burden_s")) },
    ],
    rows: policies,
    mark,
    records: policies.map(policyRecord),
  });
}

function waitTable({ policies, traffic }: Comparison, mark: MarkOf): PageTable {
  const wait = (name: keyof OutcomeFigures) => (policy: ComparedPolicy) =>
    valueText(figure(policy, name), waitWithMargin);
  return pageTable({
    name: "waits",
    title: "How long requests wait for starts",
    columns: [
      { heading: "policy", cell: ({ policy }) => policy },
      {
        heading: "waiting requests a day",
        cell: (policy) => valueText(scaled(figure(policy, "waited"), 1 / traffic.days), amountWithMargin),
      },
      { heading: "mean", cell: wait("wait_mean_ms") },
      { heading: "p99", cell: wait("wait_p99_ms") },
      { heading: "p50 of waiting", cell: wait("wait_p50_of_waiting_ms") },
      { heading: "p99 of waiting", cell: wait("wait_p99_of_waiting_ms") },
    ],
    rows: policies,
    mark,
    records: policies.map(policyRecord),
  });
}

function resumesTable({ policies, traffic }: Comparison, mark: MarkOf): PageTable[] {
  const resuming = policies.filter((policy) => policy.resumes);
  if (resuming.length === 0) return [];
  const aDay = (name: keyof OutcomeFigures) => (policy: ComparedPolicy) =>
    amount(figure(policy, name).value / traffic.days);
  return [
    pageTable({
      name: "resumes",
      title: "Starts ahead of a predicted arrival",
      columns: [
        { heading: "policy", cell: ({ policy }) => policy },
        { heading: "used a day", cell: aDay("resumes_used") },
        { heading: "wasted a day", cell: aDay("resumes_wasted") },
        { heading: "remaining cold starts a day", cell: aDay("cold_starts") },
      ],
      rows: resuming,
      mark,
      records: resuming.map(policyRecord),
    }),
  ];
}

type Show = (value: number, margin: number | undefined) => string;

/** A value with its margin: over days if known, otherwise over replications. */
function valueText({ value, margin_95, plus_minus }: ComparedFigure, show: Show): string {
  return show(value, margin_95 ?? plus_minus);
}

/** A difference in percent with its margin: over days if known, otherwise over replications. */
function differenceText(figure: ComparedFigure): string {
  const { value, difference, difference_plus_minus = 0 } = figure;
  const base = value - difference;
  const percentMargin = figure.difference_percent_margin_95 ?? (100 * difference_plus_minus) / base;
  return base === 0
    ? percentOf(difference, base)
    : percentWithMargin((difference / base) * 100, percentMargin);
}

/** The CSV record of a policy, without `active_s_by_day`, which only the JSON contains. */
function policyRecord({ policy, knows, settable, replications, figures }: ComparedPolicy): object {
  return { policy, knows, settable, replications, ...figures };
}
