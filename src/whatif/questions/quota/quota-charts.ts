import * as Plot from "@observablehq/plot";
import { nextMonthStart } from "../../../kernel/calendar.ts";
import { dateAxis, instantOf, monthText, weekdayText, weekendShade } from "../../page/date-axis.ts";
import type { Chart } from "../../page/page-layout.ts";
import { INK } from "../../page/palette.ts";
import { amountAxis, rowLayout } from "../../page/row-chart.ts";
import { drawChart } from "../../page/svg.ts";
import { delayText, threeDigits } from "../../units/number-format.ts";
import { shownMonth } from "./quota-page.ts";
import type { QuotaReport } from "./quota-report.ts";

const MAX_ROWS = 20;

export function quotaCharts(report: QuotaReport): Chart[] {
  const rows = report.delays
    .flatMap(({ delay_s, projects }) =>
      projects.flatMap((project) => {
        const month = shownMonth(report, project);
        if (month === undefined) return [];
        const name =
          projects.length === 1 ? delayText(delay_s) : `${delayText(delay_s)} · ${project.project}`;
        return [
          {
            name,
            month,
            quota: project.quota_cu_hours,
            used: month.used_cu_hours.mean,
          },
        ];
      }),
    )
    .slice(0, MAX_ROWS);
  const month = rows[0]?.month.month ?? "";
  return [
    ...reachedDatesChart(rows),
    drawChart({
      name: "quota",
      title: `CU-hours used in ${monthText(month)}`,
      caption: "Computes are suspended when the quota is used up.",
      legend: [
        { name: "used", ink: INK.accent, sample: "area" },
        { name: "quota", ink: INK.current, sample: "line" },
      ],
      plot: (frame) => {
        const names = rows.map(({ name }) => name);
        const { insets, axis, ...layout } = rowLayout(frame, { names, rowHeight: 34, marginLeft: 160 });
        return {
          ...layout,
          x: amountAxis(frame, "compute time, CU-hours →"),
          marks: [
            axis,
            Plot.barX(rows, {
              x: "used",
              y: "name",
              fill: INK.accent,
              rx: 2,
              ...insets,
              title: ({ name, used }: UsedRow) => `${name}: ${threeDigits(used)} CU-hours used`,
            }),
            Plot.tickX(rows, {
              x: "quota",
              y: "name",
              stroke: INK.current,
              strokeWidth: 3,
              ...insets,
              title: ({ name, quota }: UsedRow) => `${name}: quota of ${threeDigits(quota)} CU-hours`,
            }),
          ],
        };
      },
    }),
  ];
}

type QuotaChartRow = {
  readonly name: string;
  readonly month: QuotaReport["delays"][number]["projects"][number]["months"][number];
};

type UsedRow = QuotaChartRow & { readonly quota: number; readonly used: number };

function reachedDatesChart(rows: readonly QuotaChartRow[]): Chart[] {
  const [first] = rows;
  if (first === undefined) return [];
  const startAt = instantOf(`${first.month.month}-01T00:00:00Z`);
  const period = { startAt, endAt: nextMonthStart(startAt) };
  const reached = rows.flatMap(({ name, month: { reached_at, month } }) => {
    if (reached_at.median === null || month !== first.month.month) return [];
    const at = instantOf(reached_at.median);
    return [
      {
        name,
        at,
        low: reached_at.low === null ? at : instantOf(reached_at.low),
        high: reached_at.high === null ? period.endAt : instantOf(reached_at.high),
      },
    ];
  });
  if (reached.length === 0) return [];
  type ReachedRow = (typeof reached)[number];
  const hasIntervals = reached.some(({ low, high }) => low < high);
  return [
    drawChart({
      name: "dates",
      title: `When the quota of ${monthText(first.month.month)} is used up`,
      caption: `${hasIntervals ? "If an interval reaches the end of the month, the quota may not be used up at all. " : ""}Weekends are shaded.`,
      legend: [
        { name: hasIntervals ? "median replication" : "used up", ink: INK.current, sample: "dot" },
        ...(hasIntervals ? [{ name: "prediction interval", ink: INK.accent, sample: "line" } as const] : []),
      ],
      plot: (frame) => {
        const names = reached.map(({ name }) => name);
        const {
          axis,
          dy,
          insets: _,
          ...layout
        } = rowLayout(frame, { names, rowHeight: 34, marginLeft: 160 });
        return {
          ...layout,
          x: { ...dateAxis(period, frame), grid: true },
          marks: [
            ...weekendShade(period),
            axis,
            Plot.ruleY(reached, {
              x1: "low",
              x2: "high",
              y: "name",
              dy,
              stroke: INK.accent,
              strokeWidth: 4,
              title: ({ name, low, high }: ReachedRow) =>
                `${name}: between ${weekdayText(low)} and ${weekdayText(high)}`,
            }),
            Plot.dot(reached, {
              x: "at",
              y: "name",
              dy,
              fill: INK.current,
              r: 6,
              title: ({ name, at }: ReachedRow) => `${name}: ${weekdayText(at)}`,
            }),
          ],
        };
      },
    }),
  ];
}
