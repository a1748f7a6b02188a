import { DAY } from "../../platform/core/time.ts";
import { perMonth } from "../curve/costs.ts";
import type { DelayChoice } from "../curve/curve.ts";
import type { OutcomeFigures } from "../report/figures.ts";
import { amount, currentDelayPhrase, millisText, money, percentOf } from "../report/number-format.ts";
import type { PageRow, PageTable, ReportPage } from "../report/page-layout.ts";
import { coldStartWorthText, periodText, requestsText } from "../report/page-text.ts";
import { sizeAndPriceText } from "../report/question.ts";
import type { ComparedFigure, ComparedPolicy, Comparison } from "./comparison.ts";

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
      `starts take ${question.start_latency}`,
      coldStartWorthText(question),
    ].join(" · "),
    answer: comparisonAnswerText(comparison, best),
    facts: policies.map((policy) => ({
      label: policy.policy,
      value: money(perMonth(figure(policy, "cost").value, traffic.days * DAY)),
      note: `a month, ${amount(figure(policy, "cold_starts_per_day").value)} cold starts a day`,
    })),
    tables: [policyTable(comparison, mark), waitTable(comparison, mark), ...resumesTable(comparison, mark)],
    limits: comparison.limits,
  };
}

/** The policy with the lowest weighted cost, of those that can be achieved. */
export function bestPolicy(policies: readonly ComparedPolicy[]): ComparedPolicy {
  const weightedCost = (policy: ComparedPolicy) => figure(policy, "burden_s").value;
  return policies
    .filter(({ knows }) => knows !== "future")
    .reduce((best, policy) => (weightedCost(policy) < weightedCost(best) ? policy : best));
}

function comparisonAnswerText(comparison: Comparison, best: ComparedPolicy): string[] {
  return [...bestPolicyText(comparison, best), ...unusedResumesText(comparison)];
}

/** Without a resume, a policy that resumes only shows its delays. */
function unusedResumesText({ policies }: Comparison): string[] {
  return policies
    .filter((policy) => policy.resumes && resumesOf(policy) === 0)
    .map(({ policy }) => `${policy} never resumed a compute ahead of a request in this traffic.`);
}

function resumesOf(policy: ComparedPolicy): number {
  return figure(policy, "resumes_used").value + figure(policy, "resumes_wasted").value;
}

function bestPolicyText({ policies, question }: Comparison, best: ComparedPolicy): string[] {
  const [current] = policies;
  if (current === undefined) return [];
  const starts = (policy: ComparedPolicy) => `${amount(figure(policy, "cold_starts").value)} cold starts`;
  if (best === current)
    return [
      `No achievable policy here beats ${currentDelayPhrase(question.present_delay_s)}: ${policyCostText(current)}, ${starts(current)}.`,
    ];
  const settable = bestPolicy(policies.filter((policy) => policy.settable));
  return [
    `Lowest weighted cost: ${best.policy}${best.knows === "hindsight" ? " (chosen in hindsight for this traffic)" : ""}. ${comparisonText(best, current, question.present_delay_s)}`,
    ...(settable === best
      ? []
      : settable === current
        ? ["Of the policies that the platform itself offers, the current one is the best."]
        : [
            `Best policy that the platform itself offers: ${settable.policy}. ${comparisonText(settable, current, question.present_delay_s)}`,
          ]),
  ];
}

function comparisonText(policy: ComparedPolicy, current: ComparedPolicy, delay: DelayChoice): string {
  const [, difference] = valueAndDifference(figure(policy, "cu_hours"), amount);
  const starts = (of: ComparedPolicy) => amount(figure(of, "cold_starts").value);
  return `${policyCostText(policy)} instead of ${policyCostText(current)} with ${currentDelayPhrase(delay)} (${difference}), and ${starts(policy)} cold starts instead of ${starts(current)}.`;
}

const TO_CURRENT = "vs. current";

type MarkOf = (policy: ComparedPolicy) => PageRow["mark"];
const NO_FIGURE: ComparedFigure = { value: 0, difference: 0 };

function figure({ figures }: ComparedPolicy, name: keyof OutcomeFigures): ComparedFigure {
  return figures[name] ?? NO_FIGURE;
}

function policyCostText(policy: ComparedPolicy): string {
  const hours = `${amount(figure(policy, "cu_hours").value)} CU-hours`;
  return `${money(figure(policy, "cost").value)} (${hours})`;
}

function policyTable({ policies }: Comparison, mark: MarkOf): PageTable {
  return {
    name: "policies",
    title: "Policies, compared with the current setting",
    headings: [
      "policy",
      "cold starts",
      TO_CURRENT,
      "active h",
      TO_CURRENT,
      "cost",
      TO_CURRENT,
      "weighted cost",
    ],
    records: policies.map(policyRecord),
    rows: policies.map((policy) => ({
      cells: [
        policy.policy,
        ...valueAndDifference(figure(policy, "cold_starts"), amount),
        ...valueAndDifference(figure(policy, "active_s"), (seconds) => amount(seconds / 3_600)),
        ...valueAndDifference(figure(policy, "cost"), money),
        valueAndDifference(figure(policy, "burden_s"), amount)[1],
      ],
      mark: mark(policy),
    })),
  };
}

function waitTable({ policies }: Comparison, mark: MarkOf): PageTable {
  return {
    name: "waits",
    title: "How long requests wait for starts",
    headings: ["policy", "waiting requests", "mean", "p99", "p50 of waiting", "p99 of waiting"],
    records: policies.map(policyRecord),
    rows: policies.map((policy) => ({
      cells: [
        policy.policy,
        valueAndDifference(figure(policy, "waited"), amount)[0],
        ...(["wait_mean_ms", "wait_p99_ms", "wait_p50_of_waiting_ms", "wait_p99_of_waiting_ms"] as const).map(
          (name) => valueAndDifference(figure(policy, name), millisText)[0],
        ),
      ],
      mark: mark(policy),
    })),
  };
}

function resumesTable({ policies }: Comparison, mark: MarkOf): PageTable[] {
  const resuming = policies.filter((policy) => policy.resumes);
  if (resuming.length === 0) return [];
  return [
    {
      name: "resumes",
      title: "Starts ahead of a predicted arrival",
      headings: ["policy", "used", "wasted", "remaining cold starts"],
      records: resuming.map(policyRecord),
      rows: resuming.map((policy) => ({
        cells: [
          policy.policy,
          ...(["resumes_used", "resumes_wasted", "cold_starts"] as const).map((name) =>
            amount(figure(policy, name).value),
          ),
        ],
        mark: mark(policy),
      })),
    },
  ];
}

/** Each with half the width of its interval, if there is one. */
function valueAndDifference(
  figure: ComparedFigure,
  show: (value: number) => string,
): readonly [string, string] {
  const { value, difference, plus_minus, difference_plus_minus } = figure;
  const base = value - difference;
  const percent = percentOf(difference_plus_minus ?? 0, base).replace(/^\+/, "");
  return [
    `${show(value)}${isZero(plus_minus) ? "" : ` ± ${show(plus_minus ?? 0)}`}`,
    `${percentOf(difference, base)}${isZero(difference_plus_minus) || base === 0 ? "" : ` ± ${percent}`}`,
  ];
}

function isZero(width: number | undefined): boolean {
  return width === undefined || width === 0;
}

/** Without `active_s_by_day`, which only the JSON contains. */
function policyRecord({ policy, knows, settable, replications, figures }: ComparedPolicy): object {
  return { policy, knows, settable, replications, ...figures };
}
