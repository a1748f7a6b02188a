import { DAY } from "../../../kernel/time.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import { type Column, type PageTable, pageTable } from "../../page/page-table.ts";
import { truncatedTitle } from "../../page/page-text.ts";
import type { PointFigures } from "../../replay/figures.ts";
import {
  amount,
  amountWithMargin,
  currentDelayPhrase,
  delayText,
  millisText,
  money,
  moneyWithMargin,
  plural,
  signed,
} from "../../units/number-format.ts";
import type { ComputeSummary } from "./compute-summary.ts";
import type { CurveSummary } from "./curve-summary.ts";

const MAX_COMPUTES = 20;

export function computeTables(summary: CurveSummary): PageTable[] {
  const { computes = [], question } = summary;
  if (computes.length === 0) return [];
  const alwaysOn = computes
    .filter(({ gain_of_never_s }) => gain_of_never_s > 0)
    .sort((a, b) => b.gain_of_never_s - a.gain_of_never_s || (a.compute < b.compute ? -1 : 1));
  const table = (name: string, title: string, records: readonly ComputeSummary[]) =>
    pageTable({
      name,
      title: truncatedTitle(title, MAX_COMPUTES, records.length),
      columns: computeColumns(summary),
      rows: records.slice(0, MAX_COMPUTES),
      records,
    });
  return [
    table(
      "computes",
      `Computes that gain most from a delay of their own, compared with ${currentDelayPhrase(question.present_delay_s)}`,
      computes,
    ),
    ...(alwaysOn.length === 0 ? [] : [table("awake", "Computes that gain from being always on", alwaysOn)]),
  ];
}

function computeColumns({
  traffic: { days, month_base_days },
  compute_wait_limit: limit,
}: CurveSummary): readonly Column<ComputeSummary>[] {
  const change =
    (show: (figures: PointFigures) => string) =>
    ({ present: current, best }: ComputeSummary) =>
      `${show(current)} → ${show(best)}`;
  const aMonth = (value: number) => perMonth(value, month_base_days * DAY);
  return [
    { heading: "compute", cell: ({ compute }) => compute },
    { heading: "requests", cell: ({ requests }) => requests.toLocaleString("en") },
    { heading: "best delay", cell: ({ best }) => delayText(best.delay_s) },
    { heading: "shrunk", cell: ({ shrunk_delay_s: delay }) => (delay === null ? "–" : delayText(delay)) },
    ...(limit === undefined
      ? []
      : [{ heading: `p99 ≤ ${millisText(limit.max_wait_p99_ms)}`, cell: withinText }]),
    {
      heading: "cold starts a day",
      cell: change(({ cold_starts_per_day }) => amount(cold_starts_per_day)),
    },
    { heading: "CU-hours a month", cell: change(({ cu_hours }) => amount(aMonth(cu_hours))) },
    { heading: "$ a month", cell: change(({ cost }) => money(aMonth(cost))) },
    { heading: "mean wait", cell: change(({ added_wait_mean_ms }) => millisText(added_wait_mean_ms)) },
    { heading: "gain h a day", cell: ({ gain_s }) => amount(gain_s / 3_600 / days) },
    {
      heading: "gain h a day, always on",
      cell: ({ gain_of_never_s }) => signed(gain_of_never_s / 3_600 / days),
    },
  ];
}

/** Sentences about the limit on the wait of each compute. */
export function computeLimitLines({ compute_wait_limit: limit }: CurveSummary): string[] {
  if (limit === undefined) return [];
  const { met, unmet, max_wait_p99_ms, cost_dollars_per_month: cost, cold_starts_per_day: starts } = limit;
  const { margin_95: margins } = limit;
  const figures =
    cost === null || starts === null
      ? ""
      : ` Together they cost ${moneyWithMargin(cost, margins?.cost_dollars_per_month)} a month and have ${amountWithMargin(starts, margins?.cold_starts_per_day)} cold starts a day.`;
  return [
    `With a delay of its own, ${plural(met, "compute")} can have a p99 of the added wait of at most ${millisText(max_wait_p99_ms)}.${
      unmet === 0
        ? ""
        : ` ${plural(unmet, "compute")} cannot with any delay: too few requests share the first start.`
    }${figures}`,
  ];
}

function withinText({ within_wait_p99_delay_s: delay }: ComputeSummary): string {
  return delay === undefined || delay === null ? "none" : delayText(delay);
}
