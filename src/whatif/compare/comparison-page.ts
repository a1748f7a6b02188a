import type { DelayChoice } from "../curve/curve.ts";
import type { OutcomeFigures } from "../report/figures.ts";
import {
  amount,
  currentDelayText,
  delayText,
  millisText,
  money,
  percentOf,
  plural,
} from "../report/number-format.ts";
import type { PageRow, PageTable, ReportPage } from "../report/page-layout.ts";
import { priceText, sizeText } from "../report/question.ts";
import type { ComparedFigure, ComparedPolicy, Comparison } from "./comparison.ts";

const SHORTEST_DELAY_S = 60;

/** Policies beside the present setting, as they are read. */
export function comparisonPage(comparison: Comparison): ReportPage {
  const { traffic, question, policies } = comparison;
  const best = bestPolicy(policies);
  const mark = (policy: ComparedPolicy) =>
    policy === best
      ? "best"
      : policy === policies[0]
        ? "present"
        : policy.knows === "past"
          ? undefined
          : "bound";
  return {
    title: "What another policy would have done",
    subject: [
      `${plural(traffic.requests, "request")} to ${plural(traffic.computes_used, "compute")}`,
      `${traffic.from} to ${traffic.to}`,
      `${sizeText(question.cu)} at ${priceText(question)}`,
      `starts take ${question.start_latency}`,
      `a cold start is held to be worth ${delayText(question.cold_start_worth_s)} of active time`,
    ].join(" · "),
    answer: comparisonAnswerText(comparison, best),
    facts: policies.map((policy) => ({
      label: policy.policy,
      value:
        question.price_per_cu_hour === null
          ? `${amount(figure(policy, "cu_hours").value)} CU-h`
          : money(figure(policy, "cost").value),
      note: `${amount(figure(policy, "cold_starts_per_day").value)} cold starts a day`,
    })),
    tables: [policyTable(comparison, mark), waitTable(comparison, mark), ...resumesTable(comparison, mark)],
    limits: comparison.limits,
  };
}

/** Of those that need not know the future, the one of least burden. */
export function bestPolicy(policies: readonly ComparedPolicy[]): ComparedPolicy {
  const weightedCost = (policy: ComparedPolicy) => figure(policy, "burden_s").value;
  return policies
    .filter(({ knows }) => knows === "past")
    .reduce((best, policy) => (weightedCost(policy) < weightedCost(best) ? policy : best));
}

function comparisonAnswerText({ policies, question }: Comparison, best: ComparedPolicy): string[] {
  const [current] = policies;
  if (current === undefined) return [];
  const starts = (policy: ComparedPolicy) => `${amount(figure(policy, "cold_starts").value)} cold starts`;
  if (best === current)
    return [
      `Nothing here does better than the ${currentDelayText(question.present_delay_s)}: ${policyCostText(current)}, ${starts(current)}.`,
    ];
  const settable = bestPolicy(policies.filter(isSettable));
  return [
    `Least burden: ${best.policy}. ${comparisonText(best, current, question.present_delay_s)}`,
    ...(settable === best
      ? []
      : settable === current
        ? ["Of what can be set on the platform, the present delay is the best of these."]
        : [
            `Of what can be set on the platform: ${settable.policy}. ${comparisonText(settable, current, question.present_delay_s)}`,
          ]),
  ];
}

/** A fixed delay of at least a minute (S), or never: all that the platform itself has. */
function isSettable({ policy }: ComparedPolicy): boolean {
  const seconds = /^fixed:(\d+)$/.exec(policy)?.[1];
  return policy === "never" || policy === "present" || Number(seconds) >= SHORTEST_DELAY_S;
}

function comparisonText(policy: ComparedPolicy, current: ComparedPolicy, delay: DelayChoice): string {
  const [, difference] = valueAndDifference(figure(policy, "cu_hours"), amount);
  const starts = (of: ComparedPolicy) => amount(figure(of, "cold_starts").value);
  return `${policyCostText(policy)} in place of ${policyCostText(current)} with the ${currentDelayText(delay)} (${difference}), with ${starts(policy)} cold starts in place of ${starts(current)}.`;
}

const TO_CURRENT = "to present";

type MarkOf = (policy: ComparedPolicy) => PageRow["mark"];
const NO_FIGURE: ComparedFigure = { value: 0, difference: 0 };

function figure({ figures }: ComparedPolicy, name: keyof OutcomeFigures): ComparedFigure {
  return figures[name] ?? NO_FIGURE;
}

function policyCostText(policy: ComparedPolicy): string {
  const hours = `${amount(figure(policy, "cu_hours").value)} CU-hours`;
  return policy.figures.cost === null ? hours : `${money(figure(policy, "cost").value)} (${hours})`;
}

function policyTable({ policies, question }: Comparison, mark: MarkOf): PageTable {
  const hasPrice = question.price_per_cu_hour !== null;
  return {
    name: "policies",
    title: "Policies, and their difference to the present setting",
    headings: [
      "policy",
      "cold starts",
      TO_CURRENT,
      "active h",
      TO_CURRENT,
      hasPrice ? "cost" : "CU-hours",
      TO_CURRENT,
      "burden",
    ],
    records: policies.map(policyRecord),
    rows: policies.map((policy) => ({
      cells: [
        policy.policy,
        ...valueAndDifference(figure(policy, "cold_starts"), amount),
        ...valueAndDifference(figure(policy, "active_s"), (seconds) => amount(seconds / 3_600)),
        ...(hasPrice
          ? valueAndDifference(figure(policy, "cost"), money)
          : valueAndDifference(figure(policy, "cu_hours"), amount)),
        valueAndDifference(figure(policy, "burden_s"), amount)[1],
      ],
      mark: mark(policy),
    })),
  };
}

function waitTable({ policies }: Comparison, mark: MarkOf): PageTable {
  return {
    name: "waits",
    title: "What requests wait for starts",
    headings: ["policy", "requests that wait", "mean", "p99", "p50 of those", "p99 of those"],
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
  const resuming = policies.filter(
    (policy) => figure(policy, "resumes_used").value + figure(policy, "resumes_wasted").value > 0,
  );
  if (resuming.length === 0) return [];
  return [
    {
      name: "resumes",
      title: "Starts ahead of an arrival",
      headings: ["policy", "somebody came", "in vain", "cold starts left"],
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

/** A value and its difference, each with what it may be off by. */
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

/** Lists of days are in the JSON alone. */
function policyRecord({ policy, knows, replications, figures }: ComparedPolicy): object {
  return { policy, knows, replications, ...figures };
}
