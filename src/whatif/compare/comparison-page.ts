import type { DelayChoice } from "../curve/curve.ts";
import type { OutcomeFigures } from "../report/figures.ts";
import { amount, delayText, millisText, money, percentOf, plural, presentText } from "../report/number-format.ts";
import type { Page, PageRow, PageTable } from "../report/page-layout.ts";
import { priceText, sizeText } from "../report/question.ts";
import type { ComparedFigure, ComparedPolicy, Comparison } from "./comparison.ts";

const SHORTEST_DELAY_S = 60;

/** Policies beside the present setting, as they are read. */
export function comparisonPage(comparison: Comparison): Page {
  const { traffic, question, policies } = comparison;
  const best = bestOf(policies);
  const mark = (policy: ComparedPolicy) =>
    policy === best ? "best" : policy === policies[0] ? "present" : policy.knows === "past" ? undefined : "bound";
  return {
    title: "What another policy would have done",
    subject: [
      `${plural(traffic.requests, "request")} to ${plural(traffic.computes_used, "compute")}`,
      `${traffic.from} to ${traffic.to}`,
      `${sizeText(question.cu)} at ${priceText(question)}`,
      `starts take ${question.start_latency}`,
      `a cold start is held to be worth ${delayText(question.cold_start_worth_s)} of active time`,
    ].join(" · "),
    answer: answerOf(comparison, best),
    facts: policies.map((policy) => ({
      label: policy.policy,
      value: question.price_per_cu_hour === null ? `${amount(figure(policy, "cu_hours").value)} CU-h` : money(figure(policy, "cost").value),
      note: `${amount(figure(policy, "cold_starts_per_day").value)} cold starts a day`,
    })),
    tables: [mainTable(comparison, mark), waitTable(comparison, mark), ...resumeTable(comparison, mark)],
    limits: comparison.limits,
  };
}

/** Of those that need not know the future, the one of least burden. */
export function bestOf(policies: readonly ComparedPolicy[]): ComparedPolicy {
  const burden = (policy: ComparedPolicy) => figure(policy, "burden_s").value;
  return policies.filter(({ knows }) => knows === "past").reduce((best, policy) => (burden(policy) < burden(best) ? policy : best));
}

function answerOf({ policies, question }: Comparison, best: ComparedPolicy): string[] {
  const [present] = policies;
  if (present === undefined) return [];
  const starts = (policy: ComparedPolicy) => `${amount(figure(policy, "cold_starts").value)} cold starts`;
  if (best === present)
    return [`Nothing here does better than the ${presentText(question.present_delay_s)}: ${costOf(present)}, ${starts(present)}.`];
  const settable = bestOf(policies.filter(isSettable));
  return [
    `Least burden: ${best.policy}. ${besides(best, present, question.present_delay_s)}`,
    ...(settable === best
      ? []
      : settable === present
        ? ["Of what can be set on the platform, the present delay is the best of these."]
        : [`Of what can be set on the platform: ${settable.policy}. ${besides(settable, present, question.present_delay_s)}`]),
  ];
}

/** A fixed delay of at least a minute (S), or never: all that the platform itself has. */
function isSettable({ policy }: ComparedPolicy): boolean {
  const seconds = /^fixed:(\d+)$/.exec(policy)?.[1];
  return policy === "never" || policy === "present" || Number(seconds) >= SHORTEST_DELAY_S;
}

function besides(policy: ComparedPolicy, present: ComparedPolicy, delay: DelayChoice): string {
  const [, difference] = pair(figure(policy, "cu_hours"), amount);
  const starts = (of: ComparedPolicy) => amount(figure(of, "cold_starts").value);
  return `${costOf(policy)} in place of ${costOf(present)} with the ${presentText(delay)} (${difference}), with ${starts(policy)} cold starts in place of ${starts(present)}.`;
}

const TO_PRESENT = "to present";

type Marked = (policy: ComparedPolicy) => PageRow["mark"];
const NONE: ComparedFigure = { value: 0, difference: 0 };

function figure({ figures }: ComparedPolicy, name: keyof OutcomeFigures): ComparedFigure {
  return figures[name] ?? NONE;
}

function costOf(policy: ComparedPolicy): string {
  const hours = `${amount(figure(policy, "cu_hours").value)} CU-hours`;
  return policy.figures.cost === null ? hours : `${money(figure(policy, "cost").value)} (${hours})`;
}

function mainTable({ policies, question }: Comparison, mark: Marked): PageTable {
  const hasPrice = question.price_per_cu_hour !== null;
  return {
    name: "policies",
    title: "Policies, and their difference to the present setting",
    headings: ["policy", "cold starts", TO_PRESENT, "active h", TO_PRESENT, hasPrice ? "cost" : "CU-hours", TO_PRESENT, "burden"],
    records: policies.map(recordOf),
    rows: policies.map((policy) => ({
      cells: [
        policy.policy,
        ...pair(figure(policy, "cold_starts"), amount),
        ...pair(figure(policy, "active_s"), (seconds) => amount(seconds / 3_600)),
        ...(hasPrice ? pair(figure(policy, "cost"), money) : pair(figure(policy, "cu_hours"), amount)),
        pair(figure(policy, "burden_s"), amount)[1],
      ],
      mark: mark(policy),
    })),
  };
}

function waitTable({ policies }: Comparison, mark: Marked): PageTable {
  return {
    name: "waits",
    title: "What requests wait for starts",
    headings: ["policy", "requests that wait", "mean", "p99", "p50 of those", "p99 of those"],
    records: policies.map(recordOf),
    rows: policies.map((policy) => ({
      cells: [
        policy.policy,
        pair(figure(policy, "waited"), amount)[0],
        ...(["wait_mean_ms", "wait_p99_ms", "wait_p50_of_waiting_ms", "wait_p99_of_waiting_ms"] as const).map(
          (name) => pair(figure(policy, name), millisText)[0],
        ),
      ],
      mark: mark(policy),
    })),
  };
}

function resumeTable({ policies }: Comparison, mark: Marked): PageTable[] {
  const resuming = policies.filter((policy) => figure(policy, "resumes_used").value + figure(policy, "resumes_wasted").value > 0);
  if (resuming.length === 0) return [];
  return [
    {
      name: "resumes",
      title: "Starts ahead of an arrival",
      headings: ["policy", "somebody came", "in vain", "cold starts left"],
      records: resuming.map(recordOf),
      rows: resuming.map((policy) => ({
        cells: [
          policy.policy,
          ...(["resumes_used", "resumes_wasted", "cold_starts"] as const).map((name) => amount(figure(policy, name).value)),
        ],
        mark: mark(policy),
      })),
    },
  ];
}

/** A value and its difference, each with what it may be off by. */
function pair(figure: ComparedFigure, show: (value: number) => string): readonly [string, string] {
  const { value, difference, plus_minus, difference_plus_minus } = figure;
  const base = value - difference;
  const percent = percentOf(difference_plus_minus ?? 0, base).replace(/^\+/, "");
  return [
    `${show(value)}${isNothing(plus_minus) ? "" : ` ± ${show(plus_minus ?? 0)}`}`,
    `${percentOf(difference, base)}${isNothing(difference_plus_minus) || base === 0 ? "" : ` ± ${percent}`}`,
  ];
}

function isNothing(width: number | undefined): boolean {
  return width === undefined || width === 0;
}

/** Lists of days are in the JSON alone. */
function recordOf({ policy, knows, replications, figures }: ComparedPolicy): object {
  return { policy, knows, replications, ...figures };
}
