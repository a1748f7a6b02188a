import type { SuspendDelay } from "../../gap-curve/delay.ts";
import { type PageTable, pageTable, type RowMark } from "../../page/page-table.ts";
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
  markOf: (delay: SuspendDelay) => RowMark | undefined,
): PageTable {
  const hasWaits = points.some(({ wait_mean_ms }) => wait_mean_ms !== null && wait_mean_ms > 0);
  const delaysText = `${points.length === delays ? "" : `${points.length} of `}${plural(delays, "delay")}`;
  return pageTable({
    name: "pareto",
    title: `Pareto front: ${delaysText} that no other delay beats in both cost and cold starts`,
    columns: [
      { heading: "delay", cell: ({ delay_s }) => delayText(delay_s) },
      {
        heading: "$ a month",
        cell: ({ cost_dollars_per_month: cost, margin_95 }) =>
          moneyWithMargin(cost, margin_95?.cost_dollars_per_month),
      },
      {
        heading: "cold starts a day",
        cell: ({ cold_starts_per_day: starts, margin_95 }) =>
          amountWithMargin(starts, margin_95?.cold_starts_per_day),
      },
      ...(hasWaits ? [{ heading: "mean wait", cell: waitText }] : []),
      { heading: "$ for each cold start avoided", cell: avoidedText },
    ],
    rows: points,
    mark: ({ delay_s }) => markOf(delay_s),
    records: points,
  });
}

function waitText({ wait_mean_ms: wait, margin_95 }: ParetoPoint): string {
  return wait === null ? "–" : waitWithMargin(wait, margin_95?.wait_mean_ms);
}

function avoidedText({ dollars_per_avoided_cold_start: dollars, margin_95 }: ParetoPoint): string {
  return dollars === null ? "–" : smallMoneyWithMargin(dollars, margin_95?.dollars_per_avoided_cold_start);
}
