import { DAY } from "../../../kernel/time.ts";
import { decisionLines } from "../../choice/decision-text.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import type { DelayChoice } from "../../gap-curve/delay.ts";
import { isSettableDelay } from "../../gap-curve/settable-delays.ts";
import { heldOutLines, heldOutTables } from "../../held-out/held-out-page.ts";
import { ignoredWaitsText, sizeAndPriceText, sizeFactorText } from "../../input/question-summary.ts";
import type { Fact, ReportPage } from "../../page/page-layout.ts";
import { type PageTable, pageTable, type RowMark } from "../../page/page-table.ts";
import { coldStartWorthText, periodText, requestsText, startsTakeText } from "../../page/page-text.ts";
import type { PointFigures } from "../../replay/figures.ts";
import {
  amount,
  amountWithMargin,
  delayPhrase,
  delayText,
  exactMoney,
  millisText,
  money,
  moneyWithMargin,
  monthNote,
  percentOf,
  percentWithMargin,
  plural,
  signed,
  spanText,
  startsWithMargin,
} from "../../units/number-format.ts";
import { changeText } from "../../units/traffic-change.ts";
import { distributionTables } from "../compare/distribution-tables.ts";
import { computeLimitLines, computeTables } from "./compute-page.ts";
import type { SimulatedFigures } from "./curve-simulation.ts";
import type { CurveSummary, DelayFigures } from "./curve-summary.ts";
import { paretoLines, paretoTable } from "./pareto-page.ts";
import { sizeLines } from "./size-lines.ts";

export function curvePage(summary: CurveSummary): ReportPage {
  return {
    title: "What each autosuspend delay would have cost",
    subject: curveSubject(summary),
    answer: curveAnswerText(summary),
    facts: curveFacts(summary),
    tables: [
      delayTable(summary),
      paretoTable(summary.pareto, (delay) => delayMark(delay, summary)),
      ...latencyTable(summary),
      ...clientTable(summary),
      ...heldOutTables(summary.held_out),
      ...distributionTables(
        summary.over_computes.map((one) => ({
          name: delayText(one.delay_s),
          mark: delayMark(one.delay_s, summary),
          over_computes: one,
        })),
        summary.traffic.computes_used,
        { heading: "delay", quartiles: "compute-quartiles" },
      ),
      ...computeTables(summary),
    ],
    limits: summary.limits,
  };
}

/** The output for a single delay, without a page. */
export function delayLines({
  with_clients: simulated,
  ...figures
}: DelayFigures & { readonly with_clients?: SimulatedFigures }): string[] {
  const { margin_95: margins, cost_dollars_per_month: cost, cold_starts_per_day: starts } = figures;
  return [
    `With ${delayPhrase(figures.delay_s)}: ${moneyWithMargin(cost, margins?.cost_dollars_per_month)} a month, ${startsWithMargin(starts, margins?.cold_starts_per_day, figures.cold_starts_per_day_at_most_95)} cold starts a day.${figures.no_margins === null ? "" : ` No intervals: ${figures.no_margins}.`}`,
    `From ${periodText(figures.traffic)}: ${totalsText(figures)}.`,
    ...(simulated === undefined
      ? []
      : [
          `Simulated with the clients: ${totalsText(simulated)} (${signed(simulated.difference.cold_starts)} cold starts).`,
        ]),
  ];
}

/** Counted totals of the period. */
function totalsText({
  cold_starts,
  active_s,
  cu_hours,
  cost,
}: Pick<PointFigures, "cold_starts" | "active_s" | "cu_hours" | "cost">): string {
  return `${plural(cold_starts, "cold start")}, ${spanText(active_s)} active, ${amount(cu_hours)} CU-hours, ${money(cost)}`;
}

function curveSubject({ traffic, question }: CurveSummary): string {
  const unused = traffic.computes - traffic.computes_used;
  return [
    `${requestsText(traffic)}${unused === 0 ? "" : ` (${unused} more had no requests)`}`,
    periodText(traffic),
    sizeAndPriceText(question),
    coldStartWorthText(question),
    ignoredWaitsText(question),
    sizeFactorText(question),
  ]
    .filter((text) => text !== undefined)
    .join(" · ");
}

function curveAnswerText(summary: CurveSummary): string[] {
  const { decision, held_out, pareto, question, traffic_change } = summary;
  return [
    ...(traffic_change === null
      ? []
      : [
          `Warning: ${changeText("traffic", traffic_change)}; figures for a month assume it stays as it was on average.`,
        ]),
    ...withinLines(summary),
    ...decisionLines(decision, question),
    ...paretoLines(pareto, decision.current),
    ...heldOutLines(held_out),
    ...computeLimitLines(summary),
    foresightLine(summary),
    ...summary.programs_that_wait.map(
      ({ source, every_s }) =>
        `${source} sends a request every ${spanText(every_s)}. If nobody waits for its answers, count only the waits of others: --ignore-waits-of ${source}`,
    ),
    ...sizeLines(summary),
    ...clientsText(summary),
  ];
}

function foresightLine({ best, clairvoyant: bound, traffic }: CurveSummary): string {
  const { margin_95: margins } = bound;
  const cost = moneyWithMargin(
    perMonth(bound.cost, traffic.month_base_days * DAY),
    margins?.cost_dollars_per_month,
  );
  const starts = amountWithMargin(bound.cold_starts_per_day, margins?.cold_starts_per_day);
  const percent = best.burden_s === 0 ? null : (bound.burden_s / best.burden_s - 1) * 100;
  return `Lower bound with perfect foresight: ${cost} a month, ${starts} cold starts a day (weighted cost ${percentWithMargin(percent, margins?.weighted_cost_percent)} vs. the best delay). No policy that only decides when to suspend can beat it.`;
}

function monthlyCost(
  { cost }: Pick<PointFigures, "cost">,
  { month_base_days }: CurveSummary["traffic"],
): string {
  return money(perMonth(cost, month_base_days * DAY));
}

/** A line about clients, with which another delay may be better than the best one of the curve. */
function clientsText({ with_clients, traffic }: CurveSummary): string[] {
  if (with_clients === undefined) return [];
  const least = with_clients.delays.reduce((best, figures) =>
    figures.burden_s < best.burden_s ? figures : best,
  );
  const parts = with_clients.delays.map(
    (figures) =>
      `${delayText(figures.delay_s)} has ${amount(figures.cold_starts_per_day)} cold starts a day (${signed(figures.difference.cold_starts / traffic.days)}) and costs ${monthlyCost(figures, traffic)} a month`,
  );
  const best =
    with_clients.delays.length === 1
      ? ""
      : ` Of these, ${delayText(least.delay_s)} has the lowest weighted cost.`;
  return [`Simulated with ${with_clients.clients.join(", ")} at each compute: ${parts.join("; ")}.${best}`];
}

function withinLines({ decision, ...summary }: CurveSummary): string[] {
  const { cheapest_within: within, max_cold_per_day, max_wait_p99_ms, max_cost_dollars_per_month } = summary;
  if (within === undefined) return [];
  const limits = [
    ...(max_cold_per_day === undefined
      ? []
      : [`at most ${max_cold_per_day.toLocaleString("en")} cold starts a day`]),
    ...(max_wait_p99_ms === undefined
      ? []
      : [`a p99 of the added wait of at most ${millisText(max_wait_p99_ms)}`]),
    ...(max_cost_dollars_per_month === undefined
      ? []
      : [`at most ${exactMoney(max_cost_dollars_per_month)} a month`]),
  ].join(" and ");
  const range = decision.within_limits;
  if (range === null) return [`No delay has ${limits}.`];
  const { from_delay_s: from, to_delay_s: to } = range;
  return [
    from === to
      ? `Only ${delayText(from)} has ${limits}.`
      : `Delays from ${delayText(from)} to ${delayText(to)} have ${limits}.`,
  ];
}

function curveFacts(summary: CurveSummary): Fact[] {
  const { present, best, clairvoyant, saving, never, traffic, decision } = summary;
  const optionOf = (delay: DelayChoice) => decision.options.find(({ delay_s }) => delay_s === delay);
  const marginOf = (delay: DelayChoice) =>
    (delay === decision.current.delay_s ? decision.current : optionOf(delay))?.margin_95
      ?.cost_dollars_per_month;
  const fact = (
    label: string,
    figures: Pick<PointFigures, "cost" | "cold_starts_per_day">,
    margin: number | undefined,
  ): Fact => ({
    label,
    value: monthlyCost(figures, traffic),
    note: `${monthNote(margin)}, ${amount(figures.cold_starts_per_day)} cold starts a day`,
  });
  const savedMargin = optionOf(best.delay_s)?.change.margin_95?.cost_dollars_per_month;
  return [
    fact(`best, ${delayText(best.delay_s)}`, best, marginOf(best.delay_s)),
    fact(`current, ${delayText(present.delay_s)}`, present, marginOf(present.delay_s)),
    {
      label: "saved by the best delay",
      value: monthlyCost(saving, traffic),
      note: `${monthNote(savedMargin)} (${percentOf(-saving.share, 1)}), ${signed(-saving.cold_starts / traffic.days)} cold starts a day`,
    },
    fact("perfect foresight", clairvoyant, clairvoyant.margin_95?.cost_dollars_per_month),
    {
      ...fact("always on", never, undefined),
      note: `${monthNote(never.margin_95?.cost_dollars_per_month)}, no cold starts`,
    },
  ];
}

function delayTable(summary: CurveSummary): PageTable {
  const { curve, present, clairvoyant, with_latency, traffic, replayed_delays: replayed } = summary;
  const { margin_95: _, margin_95_other_computes: __, ...bound } = clairvoyant;
  const rows = [...curve, { delay_s: "clairvoyant" as const, ...bound }];
  return pageTable({
    name: "delays",
    title: "Delays",
    columns: [
      { heading: "delay", cell: ({ delay_s }) => rowName(delay_s, summary) },
      {
        heading: "cold starts a day",
        cell: (figures) =>
          startsWithMargin(figures.cold_starts_per_day, null, figures.cold_starts_per_day_at_most_95),
      },
      { heading: "active h a day", cell: ({ active_s }) => amount(active_s / 3_600 / traffic.days) },
      {
        heading: "CU-hours a month",
        cell: ({ cu_hours }) => amount(perMonth(cu_hours, traffic.month_base_days * DAY)),
      },
      { heading: "$ a month", cell: (figures) => monthlyCost(figures, traffic) },
      {
        heading: "vs. current",
        cell: ({ cu_hours }) => percentOf(cu_hours - present.cu_hours, present.cu_hours),
      },
      ...(with_latency.length === 0
        ? []
        : [
            {
              heading: "mean wait",
              cell: ({ delay_s, added_wait_mean_ms: wait }: (typeof rows)[number]) =>
                replayed.some((delay) => delay === delay_s) ? millisText(wait) : "–",
            },
          ]),
    ],
    rows,
    mark: ({ delay_s }) => (delay_s === "clairvoyant" ? "bound" : delayMark(delay_s, summary)),
    records: rows,
  });
}

function rowName(delay: DelayChoice | "clairvoyant", { decision, question }: CurveSummary): string {
  if (delay === "clairvoyant") return "perfect foresight";
  const isAllowed = isSettableDelay(decision.settable_delays_s, delay);
  // If the plan allows all delays, a delay below the platform's minimum can only be the current one.
  return isAllowed || decision.settable_delays_s === "all"
    ? delayText(delay)
    : `${delayText(delay)} (not on plan ${question.plan})`;
}

function latencyTable(summary: CurveSummary): PageTable[] {
  const { with_latency, question, traffic } = summary;
  if (with_latency.length === 0) return [];
  return [
    pageTable({
      name: "waits",
      title: `Replayed: ${startsTakeText(question.start_latency)}`,
      columns: [
        { heading: "delay", cell: ({ delay_s }) => delayText(delay_s) },
        { heading: "cold starts a day", cell: ({ cold_starts_per_day }) => amount(cold_starts_per_day) },
        { heading: "waiting requests a day", cell: ({ waited }) => amount(waited / traffic.days) },
        { heading: "mean wait", cell: ({ wait_mean_ms }) => millisText(wait_mean_ms) },
        { heading: "p99 wait", cell: ({ wait_p99_ms }) => millisText(wait_p99_ms) },
        { heading: "p99 of waiting", cell: ({ wait_p99_of_waiting_ms: wait }) => millisText(wait) },
        {
          heading: "CU-hours a month",
          cell: ({ cu_hours }) => amount(perMonth(cu_hours, traffic.month_base_days * DAY)),
        },
      ],
      rows: with_latency,
      mark: ({ delay_s }) => delayMark(delay_s, summary),
      records: with_latency,
    }),
  ];
}

/** The simulation with clients, compared with the exact curve. */
function clientTable(summary: CurveSummary): PageTable[] {
  const { with_clients, traffic } = summary;
  if (with_clients === undefined) return [];
  const withDifference = (heading: string, figure: "cold_starts" | "active_s" | "requests", unit = 1) => [
    { heading, cell: (row: SimulatedFigures) => amount(row[figure] / unit / traffic.days) },
    {
      heading: "vs. curve",
      cell: ({ difference }: SimulatedFigures) => signed(difference[figure] / unit / traffic.days),
    },
  ];
  return [
    pageTable({
      name: "clients",
      title: `Simulated with ${with_clients.clients.join(", ")}, compared with the curve`,
      columns: [
        { heading: "delay", cell: ({ delay_s }) => delayText(delay_s) },
        ...withDifference("cold starts a day", "cold_starts"),
        ...withDifference("active h a day", "active_s", 3_600),
        ...withDifference("requests a day", "requests"),
        {
          heading: "CU-hours a month",
          cell: ({ cu_hours }) => amount(perMonth(cu_hours, traffic.month_base_days * DAY)),
        },
        { heading: "p99 wait", cell: ({ wait_p99_ms }) => millisText(wait_p99_ms) },
      ],
      rows: with_clients.delays,
      mark: ({ delay_s }) => delayMark(delay_s, summary),
      records: with_clients.delays,
    }),
  ];
}

function delayMark(delay: DelayChoice, { best, present }: CurveSummary): RowMark | undefined {
  if (delay === best.delay_s) return "best";
  return delay === present.delay_s ? "current" : undefined;
}
