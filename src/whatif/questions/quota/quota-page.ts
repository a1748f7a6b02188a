import { sizeText } from "../../input/question-summary.ts";
import type { ReportPage } from "../../page/page-layout.ts";
import { type Column, type PageTable, pageTable } from "../../page/page-table.ts";
import {
  dateText,
  minuteText,
  periodText,
  requestsText,
  startsTakeText,
  truncatedTitle,
} from "../../page/page-text.ts";
import { FEW_DAYS } from "../../units/bootstrap.ts";
import { amount, amountWithMargin, delayPhrase, delayText, plural } from "../../units/number-format.ts";
import { changeText } from "../../units/traffic-change.ts";
import {
  type DateSummary,
  type MeanSummary,
  type MonthForecast,
  type ProjectQuota,
  printedDate,
  type QuotaMonth,
} from "./project-quota.ts";
import type { QuotaReport } from "./quota-report.ts";

const MAX_PROJECTS = 20;

export function quotaPage(report: QuotaReport): ReportPage {
  const { traffic, question, delays } = report;
  const [first] = delays;
  return {
    title: "When the monthly quota is used up",
    subject: [
      `${requestsText(traffic)} of ${plural(first?.projects.length ?? 0, "project")} with a quota`,
      periodText(traffic),
      `${sizeText(question.cu)}, ${startsTakeText(question.start_latency)}`,
      `profile ${question.profile}`,
      plural(report.replications, "replication"),
    ].join(" · "),
    answer: quotaAnswerText(report),
    facts: delays.flatMap(({ delay_s, projects: [project] }) => {
      const month = project === undefined ? undefined : shownMonth(report, project);
      if (project === undefined || month === undefined) return [];
      return [
        {
          label: hasSeveralProjects(report)
            ? `${delayText(delay_s)}, ${project.project}`
            : delayText(delay_s),
          value: month.reached_at.median === null ? "not reached" : dateText(month.reached_at.median),
          note: `${meanText(month.used_cu_hours)} of ${project.quota_cu_hours.toLocaleString("en")} CU-hours, ${meanText(month.refused)} rejected`,
        },
      ];
    }),
    tables: [...projectTable(report), monthTable(report)],
    limits: report.limits,
  };
}

/** The month of the report; without one, the first in which the quota is reached, otherwise the last. */
export function shownMonth({ month }: QuotaReport, { months }: ProjectQuota): QuotaMonth | undefined {
  const reached = months.find(({ reached_at }) => reached_at.median !== null);
  return month === null ? (reached ?? months.at(-1)) : months.find((one) => one.month === month);
}

function quotaAnswerText(report: QuotaReport): string[] {
  const sentences = report.delays.flatMap(({ delay_s, projects }) => {
    const [soonest] = projects;
    const month = soonest === undefined ? undefined : shownMonth(report, soonest);
    if (soonest === undefined || month === undefined) return [];
    const projectPrefix =
      projects.length === 1
        ? ""
        : `${projectCountText(report, projects)} The first is "${soonest.project}": `;
    return [
      ...warningLines(soonest),
      `With ${delayPhrase(delay_s)}: ${projectPrefix}${quotaSentence(soonest, month)}`,
    ];
  });
  if (sentences.length === 0) return ["No project has a quota of compute time."];
  return report.few_days
    ? [
        ...sentences,
        `Warning: only ${report.days_recorded} whole days were recorded. With fewer than ${FEW_DAYS}, the dates are rough.`,
      ]
    : sentences;
}

/** Warnings about changes and gaps of the record that the forecast cannot repeat. */
function warningLines({ change, silent_days }: ProjectQuota): string[] {
  return [
    ...(change === null
      ? []
      : [`Warning: ${changeText("use", change)}. Dates are given with and without this change.`]),
    ...(silent_days === null ? [] : [`Warning: ${silent_days}. The forecast does not repeat these days.`]),
  ];
}

function projectCountText(report: QuotaReport, projects: readonly ProjectQuota[]): string {
  const reached = projects.filter(
    (project) => (shownMonth(report, project)?.reached_at.median ?? null) !== null,
  ).length;
  return `${reached.toLocaleString("en")} of ${plural(projects.length, "project")} ${reached === 1 ? "uses up its" : "use up their"} quota.`;
}

function quotaSentence({ quota_cu_hours, change }: ProjectQuota, month: QuotaMonth): string {
  const { if_change_continues: continues } = month;
  const stays = forecastSentence(quota_cu_hours, month.month, month);
  if (continues === null || change === null) return stays;
  const changes = forecastSentence(quota_cu_hours, month.month, continues);
  if (change.is_clear) return `if the change continues, ${changes} If use stays as it was, ${stays}`;
  const both = intervalText(printedDate(month, change));
  return `if use stays as it was, ${stays} If the change continues, ${changes}${both === "" ? "" : ` An interval that allows for both:${both}.`}`;
}

function forecastSentence(quota_cu_hours: number, name: string, month: MonthForecast): string {
  const quota = `${quota_cu_hours.toLocaleString("en")} CU-hours`;
  const used = `${meanText(month.used_cu_hours)} of ${quota} used in ${name}`;
  const { reached_at, reached_share } = month;
  if (reached_share === 0) return `the quota is not used up: ${used}.`;
  const share =
    reached_share === 1 ? "" : ` It is reached in ${amount(reached_share * 100)} % of the replications.`;
  if (reached_at.median === null) return `the quota is probably not used up: ${used}.${share}`;
  return `the quota of ${quota} is used up on ${minuteText(reached_at.median)} UTC${intervalText(reached_at)}. After that, ${meanText(month.refused)} of ${meanText(month.requests)} requests in ${name} are rejected.${share}`;
}

function intervalText({ low, high, confidence }: DateSummary): string {
  if (confidence === 0) return "";
  return ` (${amount(Math.round(confidence * 1_000) / 10)} % interval: ${low === null ? "not at all" : minuteText(low)} to ${high === null ? "not at all" : minuteText(high)})`;
}

type MonthRow = Pick<QuotaReport["delays"][number], "delay_s"> & {
  readonly project: ProjectQuota;
  readonly month: QuotaMonth;
};

/** One row per project and delay, for the month of the report; no table for a single project. */
function projectTable(report: QuotaReport): PageTable[] {
  const rows = report.delays.flatMap(({ delay_s, projects }) =>
    projects.slice(0, MAX_PROJECTS).flatMap((project): MonthRow[] => {
      const month = shownMonth(report, project);
      return month === undefined ? [] : [{ delay_s, project, month }];
    }),
  );
  const most = Math.max(0, ...report.delays.map(({ projects }) => projects.length));
  if (most < 2) return [];
  return [
    pageTable({
      name: "projects",
      title: truncatedTitle("Projects", MAX_PROJECTS, most),
      columns: [{ heading: "project", cell: ({ project }) => project.project }, ...monthColumns()],
      rows,
      records: monthRecords(report, () => true),
    }),
  ];
}

/** All months of the project that uses up its quota first. */
function monthTable(report: QuotaReport): PageTable {
  const [project] = report.delays[0]?.projects ?? [];
  return pageTable({
    name: "months",
    title: project !== undefined && hasSeveralProjects(report) ? `Months of ${project.project}` : "Months",
    columns: monthColumns(),
    rows: report.delays.flatMap(({ delay_s, projects: [first] }) =>
      first === undefined ? [] : first.months.map((month): MonthRow => ({ delay_s, project: first, month })),
    ),
    mark: ({ delay_s, month }) =>
      month.month === report.month && delay_s === report.question.present_delay_s ? "current" : undefined,
    records: monthRecords(report, (index) => index === 0),
  });
}

/** `isWanted`: selects projects by index. */
function monthRecords({ delays }: QuotaReport, isWanted: (index: number) => boolean): object[] {
  return delays.flatMap(({ delay_s, projects }) =>
    projects
      .filter((_, index) => isWanted(index))
      .flatMap(({ months, ...project }) => months.map((month) => ({ delay_s, ...project, ...month }))),
  );
}

function monthColumns(): readonly Column<MonthRow>[] {
  return [
    { heading: "delay", cell: ({ delay_s }) => delayText(delay_s) },
    { heading: "month", cell: ({ month }) => month.month },
    { heading: "used CU-hours", cell: ({ month }) => meanText(month.used_cu_hours) },
    { heading: "quota", cell: ({ project }) => project.quota_cu_hours.toLocaleString("en") },
    { heading: "reached", cell: ({ month }) => `${amount(month.reached_share * 100)} %` },
    { heading: "used up at", cell: ({ month }) => instantText(month.reached_at.median) },
    { heading: "earliest", cell: ({ month }) => boundText(month.reached_at, "low") },
    { heading: "latest", cell: ({ month }) => boundText(month.reached_at, "high") },
    { heading: "requests", cell: ({ month }) => meanText(month.requests) },
    { heading: "rejected", cell: ({ month }) => meanText(month.refused) },
  ];
}

/** A bound of the interval of a date; empty without an interval. */
function boundText(reached: DateSummary, bound: "low" | "high"): string {
  return reached.confidence === 0 ? "" : instantText(reached[bound]);
}

function instantText(at: string | null): string {
  return at === null ? "–" : minuteText(at);
}

function hasSeveralProjects({ delays }: QuotaReport): boolean {
  return (delays[0]?.projects.length ?? 0) > 1;
}

/** Omits an interval that is too small to show. */
function meanText({ mean, plus_minus }: MeanSummary): string {
  return plus_minus === null || plus_minus < mean * 1e-6 ? amount(mean) : amountWithMargin(mean, plus_minus);
}
