import type { SuspendDelay } from "../../gap-curve/curve.ts";
import type { PageRow, PageTable } from "../../page/page-layout.ts";
import {
  amountWithMargin,
  delayText,
  moneyWithMargin,
  plural,
  smallMoneyWithMargin,
  waitWithMargin,
} from "../../units/number-format.ts";
import type { ParetoPoint, ParetoSummary } from "./pareto-summary.ts";

export function paretoLines(
  { present_beaten_by_s: rival, present_beaten_margin_95: margins, points }: ParetoSummary,
  current: ParetoCurrent,
): string[] {
  const better = points.find(({ delay_s }) => delay_s === rival);
  if (better === undefined) return [];
  const saved = current.cost_dollars_per_month - better.cost_dollars_per_month;
  const fewer = current.cold_starts_per_day - better.cold_starts_per_day;
  const cost = `costs ${moneyWithMargin(saved, margins?.cost_dollars_per_month)} a month less`;
  const starts = `has ${amountWithMargin(fewer, margins?.cold_starts_per_day)} fewer cold starts a day`;
  const change =
    fewer === 0
      ? `${cost} with as few cold starts`
      : saved === 0
        ? `${starts} for the same cost`
        : `${cost} and ${starts}`;
  return [`${delayText(better.delay_s)} for all beats the current setting: it ${change}.`];
}

type ParetoCurrent = Pick<ParetoPoint, "cost_dollars_per_month" | "cold_starts_per_day">;

export function paretoTable(
  { delays, points }: ParetoSummary,
  markOf: (delay: SuspendDelay) => PageRow["mark"],
): PageTable {
  const hasWaits = points.some(({ wait_mean_ms }) => wait_mean_ms !== null && wait_mean_ms > 0);
  const starts = `${points.length === delays ? "" : `${points.length} of `}${plural(delays, "delay")}`;
  return {
    name: "pareto",
    title: `Pareto front: ${starts} that no other delay beats in both cost and cold starts`,
    headings: [
      "delay",
      "$ a month",
      "cold starts a day",
      ...(hasWaits ? ["mean wait"] : []),
      "$ for each cold start avoided",
    ],
    records: points,
    rows: points.map((point) => ({
      cells: [
        delayText(point.delay_s),
        moneyWithMargin(point.cost_dollars_per_month, point.margin_95?.cost_dollars_per_month),
        amountWithMargin(point.cold_starts_per_day, point.margin_95?.cold_starts_per_day),
        ...(hasWaits
          ? [
              point.wait_mean_ms === null
                ? "–"
                : waitWithMargin(point.wait_mean_ms, point.margin_95?.wait_mean_ms),
            ]
          : []),
        point.dollars_per_avoided_cold_start === null
          ? "–"
          : smallMoneyWithMargin(
              point.dollars_per_avoided_cold_start,
              point.margin_95?.dollars_per_avoided_cold_start,
            ),
      ],
      mark: markOf(point.delay_s),
    })),
  };
}
