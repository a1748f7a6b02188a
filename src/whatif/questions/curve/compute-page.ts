import { DAY } from "../../../kernel/time.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import type { PageRow, PageTable } from "../../page/page-layout.ts";
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

export function computeTables({
  computes = [],
  question,
  traffic: { days },
  compute_wait_limit: limit,
}: CurveSummary): PageTable[] {
  if (computes.length === 0) return [];
  const headings = [
    "compute",
    "requests",
    "best delay",
    "shrunk",
    ...(limit === undefined ? [] : [`p99 ≤ ${millisText(limit.max_wait_p99_ms)}`]),
    "cold starts a day",
    "CU-hours a month",
    "$ a month",
    "mean wait",
    "gain h a day",
    "gain h a day, always on",
  ];
  const change = ({ present: current, best }: ComputeSummary, show: (figures: PointFigures) => string) =>
    `${show(current)} → ${show(best)}`;
  const row = (compute: ComputeSummary): PageRow => ({
    cells: [
      compute.compute,
      compute.requests.toLocaleString("en"),
      delayText(compute.best.delay_s),
      compute.shrunk_delay_s === null ? "–" : delayText(compute.shrunk_delay_s),
      ...(limit === undefined ? [] : [withinText(compute)]),
      change(compute, ({ cold_starts_per_day }) => amount(cold_starts_per_day)),
      change(compute, ({ cu_hours }) => amount(perMonth(cu_hours, days * DAY))),
      change(compute, ({ cost }) => money(perMonth(cost, days * DAY))),
      change(compute, ({ added_wait_mean_ms }) => millisText(added_wait_mean_ms)),
      amount(compute.gain_s / 3_600 / days),
      signed(compute.gain_of_never_s / 3_600 / days),
    ],
  });
  const alwaysOn = computes
    .filter(({ gain_of_never_s }) => gain_of_never_s > 0)
    .sort((a, b) => b.gain_of_never_s - a.gain_of_never_s || (a.compute < b.compute ? -1 : 1));
  const title = (text: string, all: number) => truncatedTitle(text, MAX_COMPUTES, all);
  return [
    {
      name: "computes",
      title: title(
        `Computes that gain most from a delay of their own, compared with ${currentDelayPhrase(question.present_delay_s)}`,
        computes.length,
      ),
      headings,
      records: computes,
      rows: computes.slice(0, MAX_COMPUTES).map(row),
    },
    ...(alwaysOn.length === 0
      ? []
      : [
          {
            name: "awake",
            title: title("Computes that gain from being always on", alwaysOn.length),
            headings,
            records: alwaysOn,
            rows: alwaysOn.slice(0, MAX_COMPUTES).map(row),
          },
        ]),
  ];
}

/** Sentences of the answer. */
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
