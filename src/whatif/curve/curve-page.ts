import { decisionLines } from "../decision/decision-text.ts";
import { paretoLines, paretoTable } from "../decision/pareto-page.ts";
import { heldOutLines, heldOutTables } from "../held-out/held-out-page.ts";
import type { PointFigures } from "../report/figures.ts";
import {
  amount,
  delayPhrase,
  delayText,
  millisText,
  money,
  percentOf,
  plural,
  signed,
  spanText,
} from "../report/number-format.ts";
import type { Fact, PageRow, PageTable, ReportPage } from "../report/page-layout.ts";
import { coldStartWorthText, periodText, requestsText } from "../report/page-text.ts";
import { sizeAndPriceText } from "../report/question.ts";
import { computeLimitLines, computeTables } from "./compute-page.ts";
import type { DelayChoice } from "./curve.ts";
import type { SimulatedFigures } from "./curve-simulation.ts";
import type { CurveSummary } from "./curve-summary.ts";

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
      ...computeTables(summary),
    ],
    limits: summary.limits,
  };
}

/** The output for a single delay, without a page. */
export function delayLines({
  with_clients: simulated,
  ...figures
}: PointFigures & { readonly with_clients?: SimulatedFigures }): string[] {
  return [
    `With ${delayPhrase(figures.delay_s)}: ${plural(figures.cold_starts, "cold start")} (${amount(figures.cold_starts_per_day)} a day), ${spanText(figures.active_s)} active, ${costText(figures)}.`,
    ...(simulated === undefined
      ? []
      : [
          `Simulated with the clients: ${plural(simulated.cold_starts, "cold start")} (${signed(simulated.difference.cold_starts)}), ${spanText(simulated.active_s)} active, ${costText(simulated)}.`,
        ]),
  ];
}

function costText({ cu_hours, cost }: Pick<PointFigures, "cu_hours" | "cost">): string {
  return `${money(cost)} (${amount(cu_hours)} CU-hours)`;
}

function curveSubject({ traffic, question }: CurveSummary): string {
  const unused = traffic.computes - traffic.computes_used;
  return [
    `${requestsText(traffic)}${unused === 0 ? "" : ` (${unused} more had no requests)`}`,
    periodText(traffic),
    sizeAndPriceText(question),
    coldStartWorthText(question),
  ].join(" · ");
}

function curveAnswerText(summary: CurveSummary): string[] {
  const { best, clairvoyant, decision, held_out, pareto, question } = summary;
  const boundDifference = percentOf(clairvoyant.burden_s - best.burden_s, best.burden_s);
  return [
    ...withinLines(summary),
    ...decisionLines(decision, question),
    ...paretoLines(pareto, decision.current),
    ...heldOutLines(held_out),
    ...computeLimitLines(summary),
    `Lower bound with perfect foresight: ${costText(clairvoyant)} and ${plural(clairvoyant.cold_starts, "cold start")} (weighted cost ${boundDifference} vs. the best delay). No policy that only decides when to suspend can beat it.`,
    ...clientsText(summary),
  ];
}

/** With clients, another delay may be better than the best one of the curve. */
function clientsText({ with_clients }: CurveSummary): string[] {
  if (with_clients === undefined) return [];
  const least = with_clients.delays.reduce((best, figures) =>
    figures.burden_s < best.burden_s ? figures : best,
  );
  const parts = with_clients.delays.map(
    (figures) =>
      `${delayText(figures.delay_s)} has ${plural(figures.cold_starts, "cold start")} (${signed(figures.difference.cold_starts)}) and ${costText(figures)}`,
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
    ...(max_cold_per_day === undefined ? [] : [`at most ${amount(max_cold_per_day)} cold starts a day`]),
    ...(max_wait_p99_ms === undefined
      ? []
      : [`a p99 of the added wait of at most ${millisText(max_wait_p99_ms)}`]),
    ...(max_cost_dollars_per_month === undefined
      ? []
      : [`at most ${money(max_cost_dollars_per_month)} a month`]),
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

function curveFacts({ present, best, clairvoyant, saving, never }: CurveSummary): Fact[] {
  const starts = (figures: Pick<PointFigures, "cold_starts_per_day">) =>
    `${amount(figures.cold_starts_per_day)} cold starts a day`;
  return [
    { label: `best, ${delayText(best.delay_s)}`, value: money(best.cost), note: starts(best) },
    { label: `current, ${delayText(present.delay_s)}`, value: money(present.cost), note: starts(present) },
    {
      label: "saved by the best delay",
      value: money(saving.cost),
      note: `${percentOf(-saving.share, 1)}, ${signed(-saving.cold_starts)} cold starts`,
    },
    { label: "perfect foresight", value: money(clairvoyant.cost), note: starts(clairvoyant) },
    { label: "always on", value: money(never.cost), note: "no cold starts" },
  ];
}

function delayTable(summary: CurveSummary): PageTable {
  const { curve, present, clairvoyant, with_latency } = summary;
  const hasWait = with_latency.length > 0;
  const cells = (figures: Omit<PointFigures, "delay_s">, name: string, isReplayed: boolean) => [
    name,
    figures.cold_starts.toLocaleString("en"),
    amount(figures.cold_starts_per_day),
    amount(figures.active_s / 3_600),
    amount(figures.cu_hours),
    money(figures.cost),
    percentOf(figures.cu_hours - present.cu_hours, present.cu_hours),
    ...(hasWait ? [isReplayed ? millisText(figures.added_wait_mean_ms) : "–"] : []),
  ];
  const rows = curve.map(
    (figures): PageRow => ({
      cells: cells(figures, delayText(figures.delay_s), summary.replayed_delays.includes(figures.delay_s)),
      mark: delayMark(figures.delay_s, summary),
    }),
  );
  return {
    name: "delays",
    title: "Delays",
    headings: [
      "delay",
      "cold starts",
      "per day",
      "active h",
      "CU-hours",
      "cost",
      "vs. current",
      ...(hasWait ? ["mean wait"] : []),
    ],
    records: [...curve, { delay_s: "clairvoyant", ...clairvoyant }],
    rows: [...rows, { cells: cells(clairvoyant, "perfect foresight", false), mark: "bound" }],
  };
}

function latencyTable(summary: CurveSummary): PageTable[] {
  const { with_latency, question } = summary;
  if (with_latency.length === 0) return [];
  const rows = with_latency.map((figures): PageRow => {
    const waits = [figures.wait_mean_ms, figures.wait_p99_ms, figures.wait_p99_of_waiting_ms].map(millisText);
    return {
      cells: [
        delayText(figures.delay_s),
        figures.cold_starts.toLocaleString("en"),
        figures.waited.toLocaleString("en"),
        ...waits,
        amount(figures.cu_hours),
      ],
      mark: delayMark(figures.delay_s, summary),
    };
  });
  return [
    {
      name: "waits",
      title: `Replayed with a start latency of ${question.start_latency}`,
      headings: [
        "delay",
        "cold starts",
        "waiting requests",
        "mean wait",
        "p99 wait",
        "p99 of waiting",
        "CU-hours",
      ],
      records: with_latency,
      rows,
    },
  ];
}

/** The simulation with clients, compared with the exact curve. */
function clientTable(summary: CurveSummary): PageTable[] {
  const { with_clients } = summary;
  if (with_clients === undefined) return [];
  const rows = with_clients.delays.map(
    ({ delay_s, difference, ...figures }): PageRow => ({
      cells: [
        delayText(delay_s),
        figures.cold_starts.toLocaleString("en"),
        signed(difference.cold_starts),
        amount(figures.active_s / 3_600),
        signed(difference.active_s / 3_600),
        figures.requests.toLocaleString("en"),
        signed(difference.requests),
        amount(figures.cu_hours),
        millisText(figures.wait_p99_ms),
      ],
      mark: delayMark(delay_s, summary),
    }),
  );
  return [
    {
      name: "clients",
      title: `Simulated with ${with_clients.clients.join(", ")}, compared with the curve`,
      headings: [
        "delay",
        "cold starts",
        "vs. curve",
        "active h",
        "vs. curve",
        "requests",
        "vs. curve",
        "CU-hours",
        "p99 wait",
      ],
      records: with_clients.delays,
      rows,
    },
  ];
}

function delayMark(delay: DelayChoice, { best, present }: CurveSummary): PageRow["mark"] {
  if (delay === best.delay_s) return "best";
  return delay === present.delay_s ? "current" : undefined;
}
