import { DAY } from "../../../kernel/time.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import { ignoredWaitsText, sizeAndPriceText } from "../../input/question-summary.ts";
import type { ReportPage } from "../../page/page-layout.ts";
import { type PageTable, pageTable } from "../../page/page-table.ts";
import { periodText, requestsText, truncatedTitle } from "../../page/page-text.ts";
import {
  amount,
  amountWithMargin,
  delayPhrase,
  money,
  moneyWithMargin,
  monthNote,
  percentOf,
  percentWithMargin,
  plural,
  signed,
} from "../../units/number-format.ts";
import { type AttributionReport, type SourceShare, UNNAMED } from "./attribution-report.ts";

const MAX_ROWS = 20;

export function attributionPage(report: AttributionReport): ReportPage {
  const { question, traffic, sources } = report;
  const [first] = sources;
  return {
    title: "What keeps the computes active",
    subject: [
      `${requestsText(traffic)} from ${plural(sources.length, "source")}`,
      periodText(traffic),
      delayPhrase(question.present_delay_s),
      sizeAndPriceText(question),
      ignoredWaitsText(question),
    ]
      .filter((text) => text !== undefined)
      .join(" · "),
    answer:
      sources.length === 1 && first?.source === UNNAMED
        ? ["The trace names no sources, so active time cannot be attributed."]
        : first === undefined || first.saves_s <= 0
          ? ["No single source keeps the computes active: without any one of them, the others still do."]
          : [savingText(first, report), intervalText(report)],
    facts: sources.slice(0, 5).map((share) => ({
      label: `without ${share.source}`,
      value: money(-perMonth(share.saves_cost, traffic.month_base_days * DAY)),
      note: `${monthNote(perMonth(share.margin_95?.saves_cost ?? 0, traffic.month_base_days * DAY))}, active time ${activeText(share, report)}`,
    })),
    tables: [sourceTable(report), computeTable(report)],
    limits: report.limits,
  };
}

function savingText(share: SourceShare, report: AttributionReport): string {
  const { days } = report.traffic;
  const { more_cold_starts: more, margin_95 } = share;
  const starts = amountWithMargin(Math.abs(more) / days, (margin_95?.more_cold_starts ?? 0) / days);
  return `Largest saving: ${share.source}. Removing it saves ${monthlySaving(share, report)} a month (active time ${activeText(share, report)}) and ${more >= 0 ? "adds" : "avoids"} ${starts} cold starts a day.`;
}

function intervalText({ no_margins }: AttributionReport): string {
  return no_margins === null
    ? "± is half the width of a 95 % interval, for these computes on other days."
    : `No intervals: ${no_margins}.`;
}

function monthlySaving({ saves_cost, margin_95 }: SourceShare, { traffic }: AttributionReport): string {
  const monthly = (dollars: number) => perMonth(dollars, traffic.month_base_days * DAY);
  return moneyWithMargin(monthly(saves_cost), monthly(margin_95?.saves_cost ?? 0));
}

function activeText({ saves_s, margin_95 }: SourceShare, { present }: AttributionReport): string {
  return present.active_s === 0
    ? percentOf(-saves_s, 0)
    : percentWithMargin((-saves_s / present.active_s) * 100, margin_95?.active_percent);
}

function sourceTable(report: AttributionReport): PageTable {
  const { sources, traffic } = report;
  const aDay = (seconds: number) => amount(seconds / 3_600 / traffic.days);
  return pageTable({
    name: "sources",
    title: "Sources",
    columns: [
      { heading: "source", cell: ({ source }) => source },
      { heading: "requests a day", cell: ({ requests }) => amount(requests / traffic.days) },
      { heading: "active h a day without", cell: ({ without }) => aDay(without.active_s) },
      { heading: "saves h a day", cell: ({ saves_s }) => aDay(saves_s) },
      { heading: "active time", cell: (share) => activeText(share, report) },
      { heading: "saves $ a month", cell: (share) => monthlySaving(share, report) },
      { heading: "cold starts a day without", cell: ({ without }) => amount(without.cold_starts_per_day) },
      { heading: "active h a day alone", cell: ({ alone }) => aDay(alone.active_s) },
    ],
    rows: sources.slice(0, MAX_ROWS),
    records: sources,
  });
}

function computeTable({ computes, traffic }: AttributionReport): PageTable {
  const aDay = (seconds: number) => amount(seconds / 3_600 / traffic.days);
  return pageTable({
    name: "computes",
    title: truncatedTitle("Computes, and the source whose removal saves most", MAX_ROWS, computes.length),
    columns: [
      { heading: "compute", cell: ({ compute }) => compute },
      { heading: "active h a day", cell: ({ active_s }) => aDay(active_s) },
      { heading: "source", cell: ({ sources: [first] }) => first?.source ?? "" },
      { heading: "saves h a day", cell: ({ sources: [first] }) => aDay(first?.saves_s ?? 0) },
      {
        heading: "active time",
        cell: ({ active_s, sources: [first] }) => percentOf(-(first?.saves_s ?? 0), active_s),
      },
      {
        heading: "cold starts a day",
        cell: ({ sources: [first] }) => signed((first?.more_cold_starts ?? 0) / traffic.days),
      },
    ],
    rows: computes.slice(0, MAX_ROWS),
    records: computes.flatMap(({ compute, active_s, sources }) =>
      sources.map((source) => ({ compute, active_s, ...source })),
    ),
  });
}
