import { sizeAndPriceText } from "../../input/question-summary.ts";
import type { ReportPage } from "../../page/page-layout.ts";
import { type PageTable, pageTable, type RowMark } from "../../page/page-table.ts";
import {
  coldStartWorthText,
  dateText,
  periodText,
  requestsText,
  startsTakeText,
} from "../../page/page-text.ts";
import {
  amount,
  amountWithMargin,
  delayText,
  gainText,
  millisText,
  moneyWithMargin,
  percentWithMargin,
  plural,
  waitWithMargin,
} from "../../units/number-format.ts";
import { changeText } from "../../units/traffic-change.ts";
import type { Backtest, BacktestedPolicy, FoldPolicy } from "./backtest.ts";

/** Maximum number of folds shown: the last ones. The CSV file has all. */
const MAX_FOLDS_SHOWN = 20;

export function backtestPage(backtest: Backtest): ReportPage {
  const { traffic, question, policies } = backtest;
  return {
    title: "What suspend policies promised, and what they gave",
    subject: [
      requestsText(traffic),
      periodText(traffic),
      sizeAndPriceText(question),
      startsTakeText(question.start_latency),
      coldStartWorthText(question),
    ].join(" · "),
    answer: [
      ...changeLines(backtest),
      ...bestLines(backtest),
      ...otherPlanLines(backtest),
      intervalLine(backtest),
      driftLine(backtest),
    ],
    facts: policies.map((policy) => ({
      label: policy.policy,
      value: gainText(policy.delivered.gain_percent, policy.margin_95?.gain_percent),
      note: `weighted cost · ${monthlyText(policy)} a month`,
    })),
    tables: [policyTable(backtest), foldTable(backtest), driftTable(backtest)],
    limits: backtest.limits,
  };
}

function changeLines({ traffic_change, fold }: Backtest): string[] {
  return traffic_change === null
    ? []
    : [
        `Warning: ${changeText("traffic", traffic_change)}; what was best in these ${fold}s may not be later.`,
      ];
}

function otherPlanLines({ policies, question }: Backtest): string[] {
  const names = policies.filter(({ not_on_plan }) => not_on_plan).map(({ policy }) => policy);
  return names.length === 0
    ? []
    : [`Not on plan ${question.plan} (--plan), and not recommended: ${names.join(", ")}.`];
}

function bestLines({ policies, folds, fold, best, best_settable }: Backtest): string[] {
  const judged = `${plural(folds.length, fold)} from ${dateText(folds[0]?.test.from ?? "")}`;
  const named = (name: string) => policies.find(({ policy }) => policy === name) as BacktestedPolicy;
  const current = policies[0] as BacktestedPolicy;
  if (best === current.policy)
    return [`No achievable policy beat the current setting (${current.policy}) on the ${judged}.`];
  const line = (backtested: BacktestedPolicy) => {
    const { policy, promised, delivered, folds_better, margin_95: margins } = backtested;
    const promise = promised === null ? "" : ` (promised: ${gainText(promised.gain_percent)})`;
    return `${policy}, ${gainText(delivered.gain_percent, margins?.gain_percent)} weighted cost${promise}, better than the current setting in ${folds_better} of ${plural(folds.length, fold)}. ${monthlyText(backtested)} a month (${percentWithMargin(delivered.cost_percent, margins?.cost_percent)}), ${startsText(backtested)} cold starts a day instead of ${startsText(current)}.`;
  };
  return [
    `Best policy on the ${judged}, trained on the days before: ${line(named(best))}`,
    ...(best_settable === best
      ? []
      : best_settable === current.policy
        ? ["Of the policies that the platform itself offers, the current one was the best."]
        : [`Best that the platform itself offers: ${line(named(best_settable))}`]),
  ];
}

function intervalLine({ no_margins }: Backtest): string {
  return no_margins === null
    ? "± is half the width of a 95 % interval, for these computes on other days."
    : `No intervals: ${no_margins}.`;
}

function monthlyText({ delivered, margin_95 }: BacktestedPolicy): string {
  return moneyWithMargin(delivered.cost_dollars_per_month, margin_95?.cost_dollars_per_month);
}

function startsText({ delivered, margin_95 }: BacktestedPolicy): string {
  return amountWithMargin(delivered.cold_starts_per_day, margin_95?.cold_starts_per_day);
}

function driftLine({ drift, fold, traffic_change }: Backtest): string {
  const { shortest_best_delay_s: shortest, longest_best_delay_s: longest, median_factor } = drift;
  const excess =
    drift.excess_percent === null
      ? ""
      : ` The delay trained on the days before cost ${amount(Math.max(0, drift.excess_percent))} % more weighted cost than the best one of each ${fold}.`;
  const range =
    shortest === longest
      ? `${traffic_change === null ? "No drift: " : "The traffic drifts, and so far "}${delayText(shortest)} is the best delay for the fleet in each ${fold}.`
      : `Drift: the best delay for the fleet is ${delayText(shortest)} to ${delayText(longest)}, depending on the ${fold}. From one ${fold} to the next it changes by a factor of ${amount(median_factor)} (median).`;
  return `${range}${excess}`;
}

function policyTable(backtest: Backtest): PageTable {
  const { policies, folds, fold } = backtest;
  return pageTable({
    name: "policies",
    title: `Policies over ${plural(folds.length, fold)}, compared with the current setting`,
    columns: [
      {
        heading: "policy",
        cell: ({ policy, not_on_plan }) =>
          not_on_plan === undefined ? policy : `${policy} (not on plan ${backtest.question.plan})`,
      },
      { heading: "weighted cost, promised", cell: promisedText },
      {
        heading: "delivered",
        cell: ({ delivered, margin_95 }) => gainText(delivered.gain_percent, margin_95?.gain_percent),
      },
      {
        heading: "cost, promised",
        cell: ({ promised }) => percentWithMargin(promised?.cost_percent ?? null, null),
      },
      {
        heading: "delivered",
        cell: ({ delivered, margin_95 }) =>
          percentWithMargin(delivered.cost_percent, margin_95?.cost_percent),
      },
      { heading: "$ a month", cell: monthlyText },
      { heading: "cold starts a day", cell: startsText },
      {
        heading: "mean wait",
        cell: ({ delivered, margin_95 }) => waitWithMargin(delivered.wait_mean_ms, margin_95?.wait_mean_ms),
      },
      { heading: "p99", cell: ({ delivered }) => millisText(delivered.wait_p99_ms) },
      { heading: `${fold}s better`, cell: ({ folds_better }) => `${folds_better} of ${folds.length}` },
    ],
    rows: policies,
    mark: (policy) => markOf(backtest, policy),
    records: policies.map(flatRecord),
  });
}

/** A row per fold. A cell shows the promised and the delivered gain of a policy. */
function foldTable({ policies, folds, fold }: Backtest): PageTable {
  const [, ...others] = policies.entries();
  return pageTable({
    name: "folds",
    ...lastFolds(folds, `Weighted cost by ${fold}: promised → delivered, compared with the current setting`),
    columns: [
      { heading: `${fold} from`, cell: ({ test }) => dateText(test.from) },
      ...others.map(([index, { policy }]) => ({
        heading: policy,
        cell: ({ policies: byPolicy }: FoldResult) => outcomeText(byPolicy[index] as FoldPolicy),
      })),
    ],
    records: folds.flatMap(({ train, test, policies: byPolicy }) =>
      byPolicy.map((policy) => ({
        train_from: train.from,
        train_to: train.to,
        test_from: test.from,
        test_to: test.to,
        ...flatRecord(policy),
      })),
    ),
  });
}

function driftTable({ folds, fold }: Backtest): PageTable {
  return pageTable({
    name: "drift",
    ...lastFolds(folds, `Drift: one delay for all, trained before each ${fold} and best in it`),
    columns: [
      { heading: `${fold} from`, cell: ({ test }) => dateText(test.from) },
      { heading: "training days", cell: ({ train }) => String(train.days) },
      { heading: "trained", cell: ({ trained_delay_s }) => delayText(trained_delay_s) },
      { heading: "best", cell: ({ best_delay_s }) => delayText(best_delay_s) },
      {
        heading: "excess weighted cost",
        cell: ({ excess_percent: excess }) => (excess === null ? "–" : `${amount(Math.max(0, excess))} %`),
      },
    ],
    records: folds.map(({ train, test, trained_delay_s, best_delay_s, excess_percent }) => ({
      test_from: test.from,
      test_to: test.to,
      train_days: train.days,
      trained_delay_s,
      best_delay_s,
      excess_percent,
    })),
  });
}

type FoldResult = Backtest["folds"][number];

/** The rows of a table of folds, and its title, which says if rows were omitted. */
function lastFolds(folds: readonly FoldResult[], title: string) {
  const rows = folds.slice(-MAX_FOLDS_SHOWN);
  return {
    title: folds.length > rows.length ? `${title} (last ${rows.length} of ${folds.length})` : title,
    rows,
  };
}

function markOf({ policies, best }: Backtest, policy: BacktestedPolicy): RowMark | undefined {
  if (policy.policy === best) return "best";
  if (policy === policies[0]) return "current";
  return policy.knows === "future" ? "bound" : undefined;
}

function flatRecord({ promised, delivered, ...policy }: FoldPolicy): object {
  return {
    ...policy,
    promised_gain_percent: promised?.gain_percent ?? null,
    promised_cost_percent: promised?.cost_percent ?? null,
    ...delivered,
  };
}

function promisedText({ promised }: FoldPolicy): string {
  return gainText(promised?.gain_percent ?? null);
}

function outcomeText(policy: FoldPolicy): string {
  return `${promisedText(policy)} → ${gainText(policy.delivered.gain_percent)}`;
}
