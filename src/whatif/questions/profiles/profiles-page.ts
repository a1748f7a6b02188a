import { DAY } from "../../../kernel/time.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import { sizeText } from "../../input/question-summary.ts";
import type { ReportPage } from "../../page/page-layout.ts";
import { type PageTable, pageTable } from "../../page/page-table.ts";
import { periodText, requestsText, startLengthText } from "../../page/page-text.ts";
import {
  amount,
  amountWithMargin,
  delayPhrase,
  delayText,
  millisText,
  money,
  moneyWithMargin,
  monthNote,
  percentOf,
  percentWithMargin,
  signed,
  signedWithMargin,
  waitWithMargin,
} from "../../units/number-format.ts";
import { priceListText } from "../../units/prices.ts";
import type { ProfileRow, ProfilesReport } from "./profiles-report.ts";

export function profilesPage(report: ProfilesReport): ReportPage {
  const { traffic, question, profiles } = report;
  return {
    title: "Platform profiles compared",
    subject: [
      requestsText(traffic),
      periodText(traffic),
      sizeText(question.cu),
      question.delay_s === null ? "the default delay of each profile" : delayPhrase(question.delay_s),
    ].join(" · "),
    answer: profilesAnswerText(report),
    facts: profiles.map((row) => ({
      label: row.profile,
      value: money(profileCost(row, report)),
      note: `${monthNote(perMonth(row.margin_95?.cost ?? 0, traffic.month_base_days * DAY))}, ${amount(row.figures.cold_starts_per_day)} cold starts a day, p99 wait ${millisText(row.figures.wait_p99_ms)}`,
    })),
    tables: [publishedTable(report), figureTable(report)],
    limits: report.limits,
  };
}

function profilesAnswerText(report: ProfilesReport): string[] {
  const [first, ...others] = report.profiles;
  if (first === undefined) return [];
  const interval =
    report.no_margins === null
      ? "± is half the width of a 95 % interval, for these computes on other days."
      : `No intervals: ${report.no_margins}.`;
  return [...others.map((row) => changeLine(row, first, report)), interval];
}

function changeLine(row: ProfileRow, first: ProfileRow, report: ProfilesReport): string {
  const { cold_starts_per_day: starts, wait_p99_ms } = row.difference;
  const { margin_95: margins } = row;
  const percent =
    first.figures.cost === 0
      ? percentOf(row.figures.cost, 0)
      : percentWithMargin((row.figures.cost / first.figures.cost - 1) * 100, margins?.cost_percent);
  const parts = [
    `${profileCostText(row, report)} a month instead of ${profileCostText(first, report)} (${percent})`,
    `${signedWithMargin(starts, margins?.difference.cold_starts_per_day)} cold starts a day`,
    `an added wait of ${millisText(row.figures.wait_p99_ms)} at p99 (${signed(wait_p99_ms ?? 0, millisText)})`,
    `${signed(row.direct_refused - first.direct_refused)} rejected connections`,
  ];
  return `${row.profile} compared with ${first.profile}: ${parts.join(", ")}.`;
}

/** Cost of a month of 730 hours. */
function profileCost({ figures: { cost } }: ProfileRow, { traffic }: ProfilesReport): number {
  return perMonth(cost, traffic.month_base_days * DAY);
}

function profileCostText(row: ProfileRow, report: ProfilesReport): string {
  const margin = perMonth(row.margin_95?.cost ?? 0, report.traffic.month_base_days * DAY);
  return moneyWithMargin(profileCost(row, report), margin);
}

/** Table of the published values of the profiles. */
function publishedTable({ profiles, question }: ProfilesReport): PageTable {
  const sizeRows = [
    [`RAM GB at ${question.cu} CU`, ({ ram_gb }: ProfileRow) => amount(ram_gb ?? 0)],
    [`cache GB at ${question.cu} CU`, ({ file_cache_gb }: ProfileRow) => amount(file_cache_gb ?? 0)],
    [
      `max_connections at ${question.cu} CU`,
      ({ max_connections }: ProfileRow) => (max_connections ?? 0).toLocaleString("en"),
    ],
  ] as const;
  const rows = [
    ["price per CU-hour", ({ price_per_cu_hour: price }: ProfileRow) => `$${price}`],
    ["price list", (row: ProfileRow) => priceListText(row)],
    ["starts", ({ start_latency }: ProfileRow) => startLengthText(start_latency)],
    ["default delay", ({ default_delay_s }: ProfileRow) => delayText(default_delay_s)],
    ["shortest delay", ({ minimum_delay_s }: ProfileRow) => delayText(minimum_delay_s)],
    ["longest delay", ({ maximum_delay_s }: ProfileRow) => delayText(maximum_delay_s)],
    ...(question.cu === "own" ? [] : sizeRows),
    ["pooled connections", ({ pooled_connections }: ProfileRow) => pooled_connections.toLocaleString("en")],
    ["largest CU, autoscaled", ({ largest_autoscaled_cu }: ProfileRow) => amount(largest_autoscaled_cu)],
    ["largest CU", ({ largest_cu }: ProfileRow) => amount(largest_cu)],
  ] as const;
  const records = profiles.map(
    ({
      figures: _,
      difference: __,
      delay_s: ___,
      best_delay_s: ____,
      direct_refused: _____,
      margin_95: ______,
      ...published
    }) => published,
  );
  return profileTable({ name: "published", title: "Numbers of the profiles", records }, profiles, rows);
}

function figureTable(report: ProfilesReport): PageTable {
  const { profiles, question, traffic } = report;
  const [first] = profiles;
  const rows = [
    ["delay", ({ delay_s }: ProfileRow) => delayText(delay_s)],
    ["$ a month", (row: ProfileRow) => profileCostText(row, report)],
    [
      "CU-hours a month",
      ({ figures }: ProfileRow) => amount(perMonth(figures.cu_hours, traffic.month_base_days * DAY)),
    ],
    ["active h a day", ({ figures }: ProfileRow) => amount(figures.active_s / 3_600 / traffic.days)],
    [
      "cold starts a day",
      ({ figures, margin_95 }: ProfileRow) =>
        amountWithMargin(figures.cold_starts_per_day, margin_95?.cold_starts_per_day),
    ],
    [
      "mean wait",
      ({ figures, margin_95 }: ProfileRow) => waitWithMargin(figures.wait_mean_ms, margin_95?.wait_mean_ms),
    ],
    ["p99 wait", ({ figures }: ProfileRow) => millisText(figures.wait_p99_ms)],
    ["p99 wait of waiting requests", ({ figures }: ProfileRow) => millisText(figures.wait_p99_of_waiting_ms)],
    ["rejected connections", ({ direct_refused }: ProfileRow) => direct_refused.toLocaleString("en")],
    [
      `best delay (cold start worth ${delayText(question.cold_start_worth_s)})`,
      ({ best_delay_s }: ProfileRow) => delayText(best_delay_s),
    ],
  ] as const;
  const records = profiles.map(({ profile, delay_s, best_delay_s, direct_refused, figures, difference }) => ({
    profile,
    delay_s,
    best_delay_s,
    direct_refused,
    ...figures,
    difference,
  }));
  const title = `Results for this traffic${first === undefined ? "" : ` (≠ differs from ${first.profile})`}`;
  return profileTable({ name: "figures", title, records }, profiles, rows);
}

/** Profiles as columns; cells that differ from the first profile are marked. */
function profileTable(
  table: Pick<PageTable, "name" | "title" | "records">,
  profiles: readonly ProfileRow[],
  rows: readonly (readonly [label: string, show: (row: ProfileRow) => string])[],
): PageTable {
  const [first] = profiles;
  return pageTable({
    ...table,
    columns: [
      { heading: "", cell: ([label]) => label },
      ...profiles.map((row) => ({
        heading: row.profile,
        cell: ([, show]: (typeof rows)[number]) =>
          first === undefined || show(row) === show(first) ? show(row) : `≠ ${show(row)}`,
      })),
    ],
    rows,
  });
}
