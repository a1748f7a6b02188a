import type { SuspendDelay } from "../curve/curve.ts";
import { amount, delayText, millisText, money, plural } from "../report/number-format.ts";
import type { PageRow, PageTable } from "../report/page-layout.ts";
import { smallMoney } from "../report/page-text.ts";
import type { ParetoPoint, ParetoSummary } from "./pareto-summary.ts";

export function paretoLines(
  { present_beaten_by_s: rival, points }: ParetoSummary,
  current: ParetoCurrent,
): string[] {
  const better = points.find(({ delay_s }) => delay_s === rival);
  if (better === undefined) return [];
  const saved = current.cost_dollars_per_month - better.cost_dollars_per_month;
  const fewer = current.cold_starts_per_day - better.cold_starts_per_day;
  const cost = `costs ${money(saved)} a month less`;
  const starts = `has ${amount(fewer)} fewer cold starts a day`;
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
        money(point.cost_dollars_per_month),
        amount(point.cold_starts_per_day),
        ...(hasWaits ? [point.wait_mean_ms === null ? "–" : millisText(point.wait_mean_ms)] : []),
        point.dollars_per_avoided_cold_start === null
          ? "–"
          : smallMoney(point.dollars_per_avoided_cold_start),
      ],
      mark: markOf(point.delay_s),
    })),
  };
}
