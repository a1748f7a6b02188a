import type { PointFigures } from "../report/figures.ts";
import {
  amount,
  currentDelayText,
  delayText,
  millisText,
  money,
  percentOf,
  plural,
  signed,
  spanText,
} from "../report/number-format.ts";
import type { Fact, PageRow, PageTable, ReportPage } from "../report/page-layout.ts";
import { priceText, sizeText } from "../report/question.ts";
import type { SimulatedFigures } from "./curve-simulation.ts";
import type { ComputeSummary, CurveSummary } from "./curve-summary.ts";

const MAX_COMPUTES = 20;

/** The curve as it is read. */
export function curvePage(summary: CurveSummary): ReportPage {
  return {
    title: "What another autosuspend delay would have done",
    subject: curveSubject(summary),
    answer: curveAnswerText(summary),
    facts: curveFacts(summary),
    tables: [
      delayTable(summary),
      ...latencyTable(summary),
      ...clientTable(summary),
      ...computeTables(summary),
    ],
    limits: summary.limits,
  };
}

/** One delay alone. */
export function delayLines({
  with_clients: simulated,
  ...figures
}: PointFigures & { readonly with_clients?: SimulatedFigures }): string[] {
  return [
    `With a delay of ${delayText(figures.delay_s)}: ${plural(figures.cold_starts, "cold start")} (${amount(figures.cold_starts_per_day)} a day), ${spanText(figures.active_s)} active, ${costText(figures)}.`,
    ...(simulated === undefined
      ? []
      : [
          `With the clients, simulated: ${plural(simulated.cold_starts, "cold start")} (${signed(simulated.difference.cold_starts)}), ${spanText(simulated.active_s)} active, ${costText(simulated)}.`,
        ]),
  ];
}

/** CU-hours, and dollars where there is a price. */
function costText({ cu_hours, cost }: Pick<PointFigures, "cu_hours" | "cost">): string {
  return cost === null ? `${amount(cu_hours)} CU-hours` : `${money(cost)} (${amount(cu_hours)} CU-hours)`;
}

function curveSubject({ traffic, question }: CurveSummary): string {
  const unused = traffic.computes - traffic.computes_used;
  return [
    `${plural(traffic.requests, "request")} to ${plural(traffic.computes_used, "compute")}${unused === 0 ? "" : ` (${unused} more had none)`}`,
    `${traffic.from} to ${traffic.to}`,
    `${sizeText(question.cu)} at ${priceText(question)}`,
    `a cold start is held to be worth ${delayText(question.cold_start_worth_s)} of active time`,
  ].join(" · ");
}

function curveAnswerText(summary: CurveSummary): string[] {
  const { present, best, saving, clairvoyant, cheapest_within: within } = summary;
  const starts = `${plural(best.cold_starts, "cold start")} in place of ${present.cold_starts.toLocaleString("en")}`;
  const first =
    best.delay_s === present.delay_s
      ? `The present delay of ${delayText(present.delay_s)} is the best: ${costText(present)}, ${plural(present.cold_starts, "cold start")}.`
      : `Best delay: ${delayText(best.delay_s)}. ${costText(best)} in place of ${costText(present)} with the ${currentDelayText(present.delay_s)}: ${percentOf(-saving.share, 1)}, with ${starts}.`;
  const boundShare = percentOf(clairvoyant.burden_s - best.burden_s, best.burden_s);
  return [
    first,
    `Who knows the future would need ${costText(clairvoyant)} and ${plural(clairvoyant.cold_starts, "cold start")} (${boundShare} burden): no rule that only decides when to sleep does better.`,
    ...(within === undefined ? [] : [withinText(summary)]),
    ...clientsText(summary),
  ];
}

/** The curve's best need not be the best where clients answer to what happens. */
function clientsText({ with_clients }: CurveSummary): string[] {
  if (with_clients === undefined) return [];
  const least = with_clients.delays.reduce((best, figures) =>
    figures.burden_s < best.burden_s ? figures : best,
  );
  const parts = with_clients.delays.map(
    (figures) =>
      `${delayText(figures.delay_s)} has ${plural(figures.cold_starts, "cold start")} (${signed(figures.difference.cold_starts)}) and ${costText(figures)}`,
  );
  const best =
    with_clients.delays.length === 1 ? "" : ` Of these ${delayText(least.delay_s)} has the least burden.`;
  return [`With ${with_clients.clients.join(", ")} at each compute, simulated: ${parts.join("; ")}.${best}`];
}

function withinText({ cheapest_within: within, max_cold_per_day, max_wait_p99_ms }: CurveSummary): string {
  const limits = [
    ...(max_cold_per_day === undefined ? [] : [`at most ${amount(max_cold_per_day)} cold starts a day`]),
    ...(max_wait_p99_ms === undefined
      ? []
      : [`a p99 of the added wait of at most ${millisText(max_wait_p99_ms)}`]),
  ].join(" and ");
  if (within === null || within === undefined)
    return `No delay keeps to ${limits}, not even a compute that never sleeps.`;
  return `Cheapest with ${limits}: ${delayText(within.delay_s)}, ${costText(within)}, ${amount(within.cold_starts_per_day)} cold starts a day.`;
}

function curveFacts({ present, best, clairvoyant, saving, never }: CurveSummary): Fact[] {
  const shortCost = (figures: Pick<PointFigures, "cu_hours" | "cost">) =>
    figures.cost === null ? `${amount(figures.cu_hours)} CU-h` : money(figures.cost);
  const starts = (figures: Pick<PointFigures, "cold_starts_per_day">) =>
    `${amount(figures.cold_starts_per_day)} cold starts a day`;
  return [
    { label: `best, ${delayText(best.delay_s)}`, value: shortCost(best), note: starts(best) },
    { label: `present, ${delayText(present.delay_s)}`, value: shortCost(present), note: starts(present) },
    {
      label: "saved by the best",
      value: saving.cost === null ? `${amount(saving.cu_hours)} CU-h` : money(saving.cost),
      note: `${percentOf(-saving.share, 1)}, ${signed(-saving.cold_starts)} cold starts`,
    },
    { label: "clairvoyant bound", value: shortCost(clairvoyant), note: starts(clairvoyant) },
    { label: "never asleep", value: shortCost(never), note: "no cold start" },
  ];
}

function delayTable({ curve, present, best, clairvoyant, question, with_latency }: CurveSummary): PageTable {
  const hasPrice = question.price_per_cu_hour !== null;
  const hasWait = with_latency.length > 0;
  const cells = (figures: Omit<PointFigures, "delay_s">, name: string) => [
    name,
    figures.cold_starts.toLocaleString("en"),
    amount(figures.cold_starts_per_day),
    amount(figures.active_s / 3_600),
    amount(figures.cu_hours),
    ...(hasPrice ? [money(figures.cost ?? 0)] : []),
    percentOf(figures.cu_hours - present.cu_hours, present.cu_hours),
    ...(hasWait ? [millisText(figures.added_wait_mean_ms)] : []),
  ];
  const rows = curve.map((figures): PageRow => {
    const mark =
      figures.delay_s === best.delay_s ? "best" : figures.delay_s === present.delay_s ? "present" : undefined;
    return { cells: cells(figures, delayText(figures.delay_s)), mark };
  });
  return {
    name: "delays",
    title: "Delays",
    headings: [
      "delay",
      "cold starts",
      "a day",
      "active h",
      "CU-hours",
      ...(hasPrice ? ["cost"] : []),
      "to present",
      ...(hasWait ? ["mean wait"] : []),
    ],
    records: [...curve, { delay_s: "clairvoyant", ...clairvoyant }],
    rows: [...rows, { cells: cells(clairvoyant, "clairvoyant"), mark: "bound" }],
  };
}

function latencyTable({ with_latency, present, best, question }: CurveSummary): PageTable[] {
  if (with_latency.length === 0) return [];
  const rows = with_latency.map((figures): PageRow => {
    const mark =
      figures.delay_s === best.delay_s ? "best" : figures.delay_s === present.delay_s ? "present" : undefined;
    const waits = [figures.wait_mean_ms, figures.wait_p99_ms, figures.wait_p99_of_waiting_ms].map(millisText);
    return {
      cells: [
        delayText(figures.delay_s),
        figures.cold_starts.toLocaleString("en"),
        figures.waited.toLocaleString("en"),
        ...waits,
        amount(figures.cu_hours),
      ],
      mark,
    };
  });
  return [
    {
      name: "waits",
      title: `With starts that take ${question.start_latency}, replayed`,
      headings: [
        "delay",
        "cold starts",
        "requests that wait",
        "mean wait",
        "p99 wait",
        "p99 of those",
        "CU-hours",
      ],
      records: with_latency,
      rows,
    },
  ];
}

/** Beside the exact curve: what clients that answer to what happens make of it. */
function clientTable({ with_clients, present, best }: CurveSummary): PageTable[] {
  if (with_clients === undefined) return [];
  const rows = with_clients.delays.map(({ delay_s, difference, ...figures }): PageRow => {
    const mark = delay_s === best.delay_s ? "best" : delay_s === present.delay_s ? "present" : undefined;
    return {
      cells: [
        delayText(delay_s),
        figures.cold_starts.toLocaleString("en"),
        signed(difference.cold_starts),
        amount(figures.active_s / 3_600),
        signed(difference.active_s / 3_600),
        figures.requests.toLocaleString("en"),
        signed(difference.requests),
        amount(figures.cu_hours),
        millisText(figures.wait_p99_ms),
      ],
      mark,
    };
  });
  return [
    {
      name: "clients",
      title: `With ${with_clients.clients.join(", ")}, simulated, and the difference to the curve`,
      headings: [
        "delay",
        "cold starts",
        "to curve",
        "active h",
        "to curve",
        "requests",
        "to curve",
        "CU-hours",
        "p99 wait",
      ],
      records: with_clients.delays,
      rows,
    },
  ];
}

function computeTables({ computes = [], question }: CurveSummary): PageTable[] {
  if (computes.length === 0) return [];
  const hasPrice = question.price_per_cu_hour !== null;
  const headings = [
    "compute",
    "requests",
    "best delay",
    "cold starts",
    "CU-hours",
    ...(hasPrice ? ["cost"] : []),
    "mean wait",
    "gain h",
    "never: gain h",
  ];
  const change = ({ present: current, best }: ComputeSummary, show: (figures: PointFigures) => string) =>
    `${show(current)} → ${show(best)}`;
  const row = (compute: ComputeSummary): PageRow => ({
    cells: [
      compute.compute,
      compute.requests.toLocaleString("en"),
      delayText(compute.best.delay_s),
      change(compute, ({ cold_starts }) => cold_starts.toLocaleString("en")),
      change(compute, ({ cu_hours }) => amount(cu_hours)),
      ...(hasPrice ? [change(compute, ({ cost }) => money(cost ?? 0))] : []),
      change(compute, ({ added_wait_mean_ms }) => millisText(added_wait_mean_ms)),
      amount(compute.gain_s / 3_600),
      signed(compute.gain_of_never_s / 3_600),
    ],
  });
  const current = delayText(question.present_delay_s);
  const alwaysOn = computes
    .filter(({ gain_of_never_s }) => gain_of_never_s > 0)
    .sort((a, b) => b.gain_of_never_s - a.gain_of_never_s || (a.compute < b.compute ? -1 : 1));
  const title = (what: string, all: number) =>
    `${what}${all > MAX_COMPUTES ? `: the first ${MAX_COMPUTES} of ${all}` : ""}`;
  return [
    {
      name: "computes",
      title: title(`Who gains most from a delay of its own, against ${current}`, computes.length),
      headings,
      records: computes,
      rows: computes.slice(0, MAX_COMPUTES).map(row),
    },
    ...(alwaysOn.length === 0
      ? []
      : [
          {
            name: "awake",
            title: title("Who gains from not sleeping at all", alwaysOn.length),
            headings,
            records: alwaysOn,
            rows: alwaysOn.slice(0, MAX_COMPUTES).map(row),
          },
        ]),
  ];
}
