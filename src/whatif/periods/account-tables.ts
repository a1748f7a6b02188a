import { isoInstant } from "../../kernel/calendar.ts";
import { HOUR, SECOND } from "../../kernel/time.ts";
import { type PageTable, pageTable } from "../page/page-table.ts";
import { minuteText, truncatedTitle } from "../page/page-text.ts";
import { amount, countText, delayText, money, plural } from "../units/number-format.ts";
import type { AccountFleet } from "./account-fleet.ts";
import { awakeCauses, type ComputeAwake } from "./awake-causes.ts";
import { SHOWN_COMPUTES } from "./awake-charts.ts";
import type { ExperimentBudget, ExperimentPlan } from "./experiment-plan.ts";

const SHOWN_PROJECTS = 20;
const SHOWN_HOURS = 20;

/** Tables of a report: why computes were awake, the next experiment, and the metered time. */
export function accountTables(
  fleet: AccountFleet,
  plan: ExperimentPlan,
  budget: ExperimentBudget,
): readonly PageTable[] {
  return [awakeTable(awakeCauses(fleet)), ...experimentTable(plan, budget), ...reconciliationTables(fleet)];
}

function awakeTable(computes: readonly ComputeAwake[]): PageTable {
  const records = computes.map(({ name, activeMs, byCause }) => ({
    ...{ compute: name, active_h: activeMs / HOUR, requests_and_short_gaps_h: byCause.requests / HOUR },
    idle_until_delay_h: byCause.idle / HOUR,
    no_request_h: byCause.unused / HOUR,
    unknown_h: byCause.unknown / HOUR,
  }));
  return pageTable({
    name: "awake-time",
    title: truncatedTitle("Awake time by cause, hours", SHOWN_COMPUTES, computes.length),
    columns: [
      { heading: "compute", cell: ({ compute }) => compute },
      { heading: "active", cell: ({ active_h }) => amount(active_h) },
      {
        heading: "requests and short gaps",
        cell: ({ requests_and_short_gaps_h: hours }) => amount(hours),
      },
      { heading: "idle until the delay ended", cell: ({ idle_until_delay_h: hours }) => amount(hours) },
      { heading: "no request after creation", cell: ({ no_request_h }) => amount(no_request_h) },
      { heading: "not known", cell: ({ unknown_h }) => amount(unknown_h) },
    ],
    rows: records.slice(0, SHOWN_COMPUTES),
    records,
  });
}

/** Table of the next experiment; empty if none can narrow the bounds, or none fits the budget. */
function experimentTable(plan: ExperimentPlan, budget: ExperimentBudget): readonly PageTable[] {
  const { computes, width_before_dollars_per_month: before, width_after_dollars_per_month: after } = plan;
  if (computes.length === 0) return [];
  const starts = amount(budget.maxExtraColdStartsPerDay);
  return [
    pageTable({
      name: "experiment",
      title: truncatedTitle(
        `Experiment: ${plural(budget.days, "day")} would narrow the bounds from ${money(before)} to ${money(after)} a month`,
        SHOWN_COMPUTES,
        computes.length,
      ),
      columns: [
        { heading: "compute", cell: ({ compute }) => compute },
        { heading: "delay", cell: ({ delay_s }) => delayText(delay_s) },
        { heading: "set", cell: ({ set_delay_s }) => delayText(set_delay_s) },
        {
          heading: "more cold starts a day",
          cell: ({ extra_cold_starts_per_day }) => amount(extra_cold_starts_per_day),
        },
        { heading: "bounds before, $ a month", cell: ({ width_before }) => money(width_before) },
        { heading: "after", cell: ({ width_after }) => money(width_after) },
      ],
      rows: computes.slice(0, SHOWN_COMPUTES),
      note: `Gives these computes a shorter delay, which shows gaps that operations hide today. At most ${starts} more cold starts a day, as estimated: ${amount(plan.extra_cold_starts_per_day)}, and ${amount(plan.most_extra_cold_starts_per_day)} whatever the requests are. The width in the title is the mean of the delays ${plan.delays_s.map(delayText).join(", ")}; that of a compute is their sum. standin whatif experiment plans with another budget and writes the plan to a file.`,
      records: computes,
    }),
  ];
}

function reconciliationTables({ computes, reconciliation }: AccountFleet): readonly PageTable[] {
  const { projects, different, frames, meteredS, byOperationsS } = reconciliation;
  if (frames === 0) return [];
  const names = new Map(computes.map(({ project, projectName }) => [project, projectName]));
  const nameOf = (project: string) => names.get(project) || project;
  const hours = (seconds: number) => amount((seconds * SECOND) / HOUR);
  const all = { project: "all", frames, meteredS, byOperationsS, different: different.length };
  const shown = [...projects].sort((a, b) => b.meteredS - a.meteredS).slice(0, SHOWN_PROJECTS);
  return [
    pageTable({
      name: "reconciliation",
      title: truncatedTitle(
        "Reconciliation: active hours by operations, and as metered",
        SHOWN_PROJECTS,
        projects.length,
      ),
      columns: [
        { heading: "project", cell: (row) => (row === all ? "all projects" : nameOf(row.project)) },
        { heading: "by operations", cell: (row) => hours(row.byOperationsS) },
        { heading: "metered", cell: (row) => hours(row.meteredS) },
        { heading: "difference", cell: differenceText },
        { heading: "hours compared", cell: (row) => countText(row.frames) },
        { heading: "hours that differ", cell: (row) => countText(row.different) },
      ],
      rows: [all, ...shown],
      note: "Compared are hours that were metered by the hour since the oldest start. An hour differs if the two values are further apart than the resolution of a second for each start and suspend explains.",
      records: projects.map((row) => ({
        ...{ project: row.project, hours: row.frames, hours_that_differ: row.different },
        metered_active_h: (row.meteredS * SECOND) / HOUR,
        active_h_by_operations: (row.byOperationsS * SECOND) / HOUR,
      })),
    }),
    ...(different.length === 0 ? [] : [differentHours(different, nameOf)]),
  ];
}

function differenceText({ meteredS, byOperationsS }: { meteredS: number; byOperationsS: number }): string {
  if (meteredS === 0) return byOperationsS === 0 ? "0 %" : "–";
  const percent = Math.round((1_000 * (byOperationsS - meteredS)) / meteredS) / 10;
  return `${percent < 0 ? "−" : percent > 0 ? "+" : ""}${Math.abs(percent).toFixed(1)} %`;
}

type Different = AccountFleet["reconciliation"]["different"];

function differentHours(different: Different, nameOf: (project: string) => string): PageTable {
  return pageTable({
    name: "hours-that-differ",
    title: truncatedTitle("Hours that differ, seconds", SHOWN_HOURS, different.length),
    columns: [
      { heading: "project", cell: ({ project }) => nameOf(project) },
      { heading: "hour, UTC", cell: ({ startAt }) => minuteText(isoInstant(startAt)) },
      { heading: "by operations", cell: ({ byOperationsS }) => countText(Math.round(byOperationsS)) },
      { heading: "metered", cell: ({ activeS }) => countText(activeS) },
    ],
    rows: different.slice(0, SHOWN_HOURS),
    note: "standin whatif curve --strict omits these hours and the periods that overlap them.",
    records: different.map(({ project, startAt, endAt, activeS, byOperationsS }) => ({
      ...{ project, start: isoInstant(startAt), end: isoInstant(endAt) },
      ...{ metered_active_s: activeS, active_s_by_operations: byOperationsS },
    })),
  });
}
