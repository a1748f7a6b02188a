import * as Plot from "@observablehq/plot";
import { amount, delayText } from "../report/number-format.ts";
import type { Chart } from "../report/page-layout.ts";
import { drawChart, INK } from "../report/svg.ts";
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
            off: month.used_cu_hours.plus_minus ?? 0,
          },
        ];
      }),
    )
    .slice(0, MAX_ROWS);
  const frame = { height: 70 + rows.length * 34, marginLeft: 160 };
  const y = { label: null, domain: rows.map(({ name }) => name), tickSize: 0 };
  const month = rows[0]?.month.month ?? "";
  return [
    ...reachedDatesChart(rows, frame, y),
    drawChart({
      name: "quota",
      title: `CU-hours used in ${month}`,
      caption: "Computes are suspended at the quota, which the vertical mark shows.",
      plot: {
        ...frame,
        x: { label: "CU-hours →", grid: true, nice: true, zero: true, tickFormat: amount },
        y,
        marks: [
          Plot.barX(rows, { x: "used", y: "name", fill: INK.accent, insetTop: 6, insetBottom: 6, rx: 2 }),
          Plot.tickX(rows, { x: "quota", y: "name", stroke: INK.current, strokeWidth: 3 }),
        ],
      },
    }),
  ];
}

type QuotaChartRow = {
  readonly name: string;
  readonly month: QuotaReport["delays"][number]["projects"][number]["months"][number];
};

function reachedDatesChart(rows: readonly QuotaChartRow[], frame: object, y: object): Chart[] {
  const reached = rows.flatMap(({ name, month: { month, reached_at } }) => {
    if (reached_at.median === null) return [];
    return [
      {
        name,
        month,
        low: dayOf(reached_at.low ?? reached_at.median),
        at: dayOf(reached_at.median),
        high: reached_at.high === null ? MONTH_END_DAY : dayOf(reached_at.high),
      },
    ];
  });
  if (reached.length === 0) return [];
  return [
    drawChart({
      name: "dates",
      title: `When the quota of ${reached[0]?.month} is used up`,
      caption:
        "Day of the month. Dot: the median replication. Bar: the prediction interval. If a bar reaches the right edge, the quota may not be used up at all.",
      plot: {
        ...frame,
        x: {
          label: "day of the month →",
          grid: true,
          domain: [1, MONTH_END_DAY],
          ticks: 16,
          tickFormat: amount,
        },
        y,
        marks: [
          Plot.ruleY(reached, { x1: "low", x2: "high", y: "name", stroke: INK.accent, strokeWidth: 4 }),
          Plot.dot(reached, { x: "at", y: "name", fill: INK.current, r: 6 }),
        ],
      },
    }),
  ];
}

const MONTH_END_DAY = 32;
const HOURS_PER_DAY = 24;
const MINUTES_PER_HOUR = 60;

/** Day of the month with its fraction: 2026-02-03T12:00 is 3.5. */
function dayOf(instant: string): number {
  const [day = 1, hour = 0, minute = 0] = [8, 11, 14].map((from) => Number(instant.slice(from, from + 2)));
  return day + (hour + minute / MINUTES_PER_HOUR) / HOURS_PER_DAY;
}
