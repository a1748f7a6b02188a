import { amount, delayText, plural } from "../report/number-format.ts";
import type { PageRow, PageTable, ReportPage } from "../report/page-layout.ts";
import type { DateSummary, MeanSummary, ProjectQuota, QuotaMonth, QuotaReport } from "./quota-report.ts";

const MAX_PROJECTS = 20;

/** When quotas are used up, as it is read. */
export function quotaPage(report: QuotaReport): ReportPage {
  const { traffic, question, delays } = report;
  const [first] = delays;
  return {
    title: "When the monthly quota is used up",
    subject: [
      `${plural(traffic.requests, "request")} to ${plural(traffic.computes_used, "compute")} of ${plural(first?.projects.length ?? 0, "project")} with a quota`,
      `${traffic.from} to ${traffic.to}`,
      `${question.cu} CU, starts take ${question.start_latency}`,
      plural(report.replications, "replication"),
    ].join(" · "),
    answer: quotaAnswerText(report),
    facts: delays.flatMap(({ delay_s, projects: [project] }) => {
      const month = project === undefined ? undefined : shownMonth(report, project);
      if (project === undefined || month === undefined) return [];
      return [
        {
          label: `${delayText(delay_s)}${projectName(report, project)}`,
          value: month.reached_at.median === null ? "not reached" : dayText(month.reached_at.median),
          note: `${meanText(month.used_cu_hours)} of ${amount(project.quota_cu_hours)} CU-hours, ${meanText(month.refused)} refused`,
        },
      ];
    }),
    tables: [...projectTable(report), monthTable(report)],
    limits: report.limits,
  };
}

/** The month that is asked for; without one, the first in which the quota is reached, else the last. */
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
      projects.length === 1 ? "" : `${projectCountText(report, projects)} Soonest is "${soonest.project}": `;
    return [`With a delay of ${delayText(delay_s)}: ${projectPrefix}${quotaSentence(soonest, month)}`];
  });
  return sentences.length === 0
    ? ["No project has a quota of compute time, so nothing is used up."]
    : sentences;
}

function projectCountText(report: QuotaReport, projects: readonly ProjectQuota[]): string {
  const reached = projects.filter(
    (project) => (shownMonth(report, project)?.reached_at.median ?? null) !== null,
  ).length;
  return `${reached.toLocaleString("en")} of ${plural(projects.length, "project")} ${reached === 1 ? "uses" : "use"} up the quota.`;
}

function quotaSentence({ quota_cu_hours }: ProjectQuota, month: QuotaMonth): string {
  const quota = `${amount(quota_cu_hours)} CU-hours`;
  const used = `${meanText(month.used_cu_hours)} of ${quota} used in ${month.month}`;
  const { reached_at, reached_share } = month;
  if (reached_share === 0) return `the quota is not used up, ${used}.`;
  const share =
    reached_share === 1 ? "" : ` It is reached in ${amount(reached_share * 100)} % of the replications.`;
  if (reached_at.median === null) return `the quota is rather not used up, ${used}.${share}`;
  return `the quota of ${quota} is used up on ${minuteText(reached_at.median)}${intervalText(reached_at)}; then ${meanText(month.refused)} of ${meanText(month.requests)} requests of ${month.month} are refused.${share}`;
}

function intervalText({ low, high, confidence }: DateSummary): string {
  if (confidence === 0) return "";
  return ` (${amount(Math.round(confidence * 1_000) / 10)} %: ${low === null ? "not at all" : minuteText(low)} to ${high === null ? "not at all" : minuteText(high)})`;
}

/** Of several projects, each in the month that is asked for. */
function projectTable(report: QuotaReport): PageTable[] {
  const rows = report.delays.flatMap(({ delay_s, projects }) =>
    projects.slice(0, MAX_PROJECTS).flatMap((project): PageRow[] => {
      const month = shownMonth(report, project);
      return month === undefined
        ? []
        : [{ cells: [project.project, delayText(delay_s), ...monthCells(project, month)] }];
    }),
  );
  const most = Math.max(0, ...report.delays.map(({ projects }) => projects.length));
  if (most < 2) return [];
  return [
    {
      name: "projects",
      title: `Projects${most > MAX_PROJECTS ? `: the first ${MAX_PROJECTS} of ${most}` : ""}`,
      headings: ["project", "delay", ...MONTH_HEADINGS],
      records: monthRecords(report, () => true),
      rows,
    },
  ];
}

/** Of the project that is soonest, month by month. */
function monthTable(report: QuotaReport): PageTable {
  const rows = report.delays.flatMap(({ delay_s, projects: [project] }) =>
    (project?.months ?? []).map(
      (month): PageRow => ({
        cells: [delayText(delay_s), ...monthCells(project as ProjectQuota, month)],
        mark:
          month.month === report.month && delay_s === report.question.present_delay_s ? "present" : undefined,
      }),
    ),
  );
  const [project] = report.delays[0]?.projects ?? [];
  return {
    name: "months",
    title: `Months${project === undefined ? "" : projectName(report, project)}`,
    headings: ["delay", ...MONTH_HEADINGS],
    records: monthRecords(report, (index) => index === 0),
    rows,
  };
}

/** Months of each delay and of those projects that are wanted by their place. */
function monthRecords({ delays }: QuotaReport, isWanted: (index: number) => boolean): object[] {
  return delays.flatMap(({ delay_s, projects }) =>
    projects
      .filter((_, index) => isWanted(index))
      .flatMap(({ months, ...project }) => months.map((month) => ({ delay_s, ...project, ...month }))),
  );
}

const MONTH_HEADINGS = [
  "month",
  "used CU-hours",
  "quota",
  "reached",
  "used up at",
  "not before",
  "not after",
  "requests",
  "refused",
] as const;

function monthCells({ quota_cu_hours }: ProjectQuota, month: QuotaMonth): string[] {
  const { median, low, high, confidence } = month.reached_at;
  const bounds = confidence === 0 ? ["", ""] : [low, high].map((at) => (at === null ? "–" : minuteText(at)));
  return [
    month.month,
    meanText(month.used_cu_hours),
    amount(quota_cu_hours),
    `${amount(month.reached_share * 100)} %`,
    median === null ? "–" : minuteText(median),
    ...bounds,
    meanText(month.requests),
    meanText(month.refused),
  ];
}

function projectName({ delays }: QuotaReport, { project }: ProjectQuota): string {
  return (delays[0]?.projects.length ?? 0) > 1 ? `, ${project}` : "";
}

/** What is smaller than any digit that is shown is none. */
function meanText({ mean, plus_minus }: MeanSummary): string {
  return plus_minus === null || plus_minus < mean * 1e-6
    ? amount(mean)
    : `${amount(mean)} ± ${amount(plus_minus)}`;
}

function minuteText(instant: string): string {
  return `${instant.slice(0, "2026-01-31".length)} ${instant.slice("2026-01-31T".length, "2026-01-31T12:00".length)}`;
}

function dayText(instant: string): string {
  return instant.slice(0, "2026-01-31".length);
}
