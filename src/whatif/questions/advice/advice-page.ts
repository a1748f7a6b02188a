import { ignoredWaitsText, profileAndPriceText, sizeText } from "../../input/question-summary.ts";
import type { Chart, ReportLimits, ReportPage } from "../../page/page-layout.ts";
import { type PageTable, pageTable } from "../../page/page-table.ts";
import { periodText, requestsText, truncatedTitle } from "../../page/page-text.ts";
import { wrapped } from "../../page/terminal-style.ts";
import {
  amountWithMargin,
  delayPhrase,
  delayText,
  millisText,
  money,
  moneyWithMargin,
  monthNote,
  signed,
  spanText,
  startsWithMargin,
} from "../../units/number-format.ts";
import { changeText as trafficText } from "../../units/traffic-change.ts";
import type { Advice } from "./advice.ts";
import type { OwnDelay } from "./own-delays.ts";
import type { Proposal } from "./proposal.ts";
import { rangeText } from "./size-proposal.ts";

/** Maximum number of proposals after the decision. */
const OTHERS = 2;
const MAX_COMPUTES_SHOWN = 20;

export function advicePage(advice: Advice, limits: ReportLimits): ReportPage {
  const { question, traffic, bill, current, plan } = advice;
  const ignored = ignoredWaitsText(question);
  return {
    title: "What to change, and what it saves",
    subject: `${requestsText(traffic)} · ${periodText(traffic)} · ${delayPhrase(current.delay_s)} · ${sizeText(question.cu)}, sizes scale all costs · plan ${plan} · ${profileAndPriceText(question)}${ignored === undefined ? "" : ` · ${ignored}`}`,
    answer: adviceLines(advice),
    facts: [
      { label: "bill now", value: money(bill.dollars_per_month), note: "a month" },
      ...advice.proposals.slice(0, 1 + OTHERS).map((one) => ({
        label: shortText(one),
        value: changeText(one.saves_dollars_per_month, null),
        note: monthNote(one.margin_95),
      })),
    ],
    tables: [proposalTable(advice), ...ownDelayTables(advice), billTable(advice)],
    limits,
  };
}

/** An advice in sentences; each part is one line at most. */
export type AdviceText = {
  readonly decision: string;
  readonly warning: string | null;
  /** The proposals after the decision. */
  readonly next: readonly string[];
  /** States whether the current settings meet the requirements. */
  readonly requirements: readonly string[];
  /** Reason why the free plan is not proposed; null if it is. */
  readonly free_plan: string | null;
  readonly would_change: readonly string[];
  readonly not_known: readonly string[];
  readonly now: string;
};

export function adviceText(advice: Advice): AdviceText {
  const { decision, proposals, would_change, not_known, too_little, traffic_change, bill, current } = advice;
  // The longer interval of a source is named with its removal.
  const named = new Set(proposals.map(({ less_often }) => less_often));
  const others = proposals.filter((one) => one !== decision && !named.has(one)).slice(0, OTHERS);
  const p99 = current.wait_p99_ms === null ? "" : `, p99 wait ${millisText(current.wait_p99_ms)}`;
  return {
    decision: decisionLine(advice),
    warning:
      traffic_change === null
        ? null
        : `Warning: ${trafficText("traffic", traffic_change)}; figures for a month assume it stays as it was on average, and no delay is recommended.`,
    next: others.map((one) => `${proposalText(one)}${clearText(one, advice)}.`),
    requirements: [...sizeLines(advice), ...requirementLines(advice)],
    free_plan: freePlanText(advice),
    would_change,
    not_known,
    now: `${money(bill.dollars_per_month)} a month, ${startsWithMargin(current.cold_starts_per_day, null, current.cold_starts_per_day_at_most_95)} cold starts a day${p99}.${too_little.length > 0 ? "" : " ± is half a 95 % interval for other days."}`,
  };
}

/** Most lines before the tables, on a terminal with `WIDTH` columns. */
const MAX_LINES = 10;
const WIDTH = 100;

/**
 * The decision, further proposals, what would change the decision, and what is unknown. If these are too many lines,
 * parts that the tables repeat are omitted, the least important first.
 */
function adviceLines(advice: Advice): string[] {
  const { decision, warning, next, requirements, would_change, not_known, now } = adviceText(advice);
  const [second, further] = next;
  const ofTables = {
    next: second === undefined ? [] : [`Next: ${second}`],
    further: further === undefined ? [] : [`Then: ${further}`],
    now: [`Now: ${now}`],
  };
  const lines = () => [
    decision,
    ...(warning === null ? [] : [warning]),
    ...ofTables.next,
    ...ofTables.further,
    ...requirements,
    ...(would_change.length === 0 ? [] : [`Would change the choice of a delay: ${would_change.join("; ")}.`]),
    `Not known: ${not_known.join("; ")}.`,
    ...ofTables.now,
  ];
  for (const part of ["further", "next", "now"] as const) {
    if (lines().flatMap((line) => wrapped(line, WIDTH)).length <= MAX_LINES) break;
    ofTables[part] = [];
  }
  return lines();
}

/** Reason why the free plan is not proposed, for the limits; null if it is. */
export function freePlanText({ no_free_plan }: Pick<Advice, "no_free_plan">): string | null {
  return no_free_plan === null ? null : `Plan free: no, ${no_free_plan}.`;
}

function decisionLine({ decision, too_little, traffic_change, current, proposals }: Advice): string {
  if (too_little.length > 0) return `No recommendation: ${too_little.join("; ")}.`;
  const keep = `Keep ${delayPhrase(current.delay_s).replace(/^a /, "the ")}`;
  if (decision === null && traffic_change !== null) return `${keep} for now.`;
  if (decision === null && proposals.some(({ margin_95 }) => margin_95 === null))
    return `${keep} for now: whether a change saves more than the noise is not known.`;
  if (decision === null && proposals.length === 0) return `${keep}: no other setting is better.`;
  if (decision === null)
    return proposals.some(
      ({ worth_dollars_per_month: dollars, worth_margin_95: margin }) => dollars > (margin ?? 0),
    )
      ? `${keep}: no change is sure to save.`
      : `${keep}: no change saves more than the noise.`;
  const isDelayUnchanged =
    traffic_change === null &&
    decision.kind === "source" &&
    !proposals.some(({ kind, is_clear }) => kind === "delay" && is_clear);
  return `${proposalText(decision)}.${isDelayUnchanged ? ` ${keep}: no other delay saves more than the noise.` : ""}`;
}

function proposalText(one: Proposal): string {
  const { change, less_often: slower } = one;
  const instead =
    slower?.every_s === undefined
      ? ""
      : `; or send it every ${spanText(slower.every_s)}: ${savingText(slower)}`;
  return `${change}: ${savingText(one)}${instead}`;
}

function savingText({ saves_dollars_per_month, margin_95, cold_starts_per_day }: Proposal): string {
  return `${changeText(saves_dollars_per_month, margin_95)} a month, ${signed(cold_starts_per_day)} cold starts a day`;
}

/** Formats a saving as a change of the bill: a saving is negative, an additional cost positive. */
function changeText(saves: number, margin: number | null): string {
  return `${saves < 0 ? "+" : ""}${moneyWithMargin(-saves, margin)}`;
}

/** Short name of a proposal, for a key figure and a bar. */
function shortText({ kind, source, every_s, plan, size, delay_s }: Proposal): string {
  switch (kind) {
    case "source":
      return every_s === undefined ? `without ${source}` : `${source} every ${spanText(every_s)}`;
    case "plan":
      return `plan ${plan}`;
    case "delays_by_compute":
      return "own delays";
    case "size":
      return size === undefined ? "size" : rangeText({ minCu: size.min_cu, maxCu: size.max_cu });
    case "delay":
      return delayPhrase(delay_s ?? "own");
  }
}

function clearText(
  { is_clear, delay_is_clear, saves_with_twice_the_requests, ...worth }: Proposal,
  { too_little }: Advice,
): string {
  if (is_clear || too_little.length > 0) return "";
  const { worth_dollars_per_month: dollars, worth_margin_95: margin } = worth;
  if (margin === null || dollars <= margin) return " (within the noise)";
  if (saves_with_twice_the_requests === false) return " (with twice the requests it costs more)";
  return delay_is_clear === false ? " (what the delay adds is within the noise)" : " (within the noise)";
}

/** A line about sizes; empty unless they are known to be too small. */
function sizeLines({ sizes }: Advice): string[] {
  if ("not_compared" in sizes || sizes.are_sufficient) return [];
  const { percentile, limit_ms, wait_ms, needed } = sizes;
  const enough = needed === null ? "No size is enough" : proposalText(needed);
  return [
    `The current sizes are too small: the ${percentile} wait is ${millisText(wait_ms)}, and at most ${millisText(limit_ms)} is the limit. ${enough}.`,
  ];
}

function requirementLines({ current: { meets }, bill, sizes }: Advice): string[] {
  const { budget, slo, wait_ms, budget_dollars_per_month, max_wait } = meets;
  // If sizes are too small, starts are not the only wait, and another line says so.
  const isSizeTooSmall = "are_sufficient" in sizes && !sizes.are_sufficient;
  const ofSource = typeof max_wait?.source === "string" ? ` for ${max_wait.source}` : "";
  return [
    ...(budget === null || budget_dollars_per_month === null
      ? []
      : [
          `The current settings ${budget ? "meet" : "exceed"} the budget: ${money(bill.dollars_per_month)} of ${money(budget_dollars_per_month)} a month.`,
        ]),
    ...(slo === null || max_wait === null || wait_ms === null || isSizeTooSmall
      ? []
      : [
          `The current settings ${slo ? "meet" : "do not meet"} a ${max_wait.percentile} wait of at most ${millisText(max_wait.ms)}${ofSource}: it is ${millisText(wait_ms)}.`,
        ]),
  ];
}

function proposalTable({ proposals, decision }: Advice): PageTable {
  return pageTable<Proposal>({
    name: "proposals",
    title: "Changes, the most worthwhile first; they do not add up, so repeat this after one",
    columns: [
      { heading: "change", cell: ({ change }) => change },
      {
        heading: "$ a month",
        cell: ({ saves_dollars_per_month, margin_95 }) => changeText(saves_dollars_per_month, margin_95),
      },
      { heading: "cold starts a day", cell: ({ cold_starts_per_day }) => signed(cold_starts_per_day) },
      {
        heading: "worth, $ a month",
        cell: ({ worth_dollars_per_month }) => money(worth_dollars_per_month),
      },
      { heading: "clear", cell: ({ is_clear }) => (is_clear ? "yes" : "no") },
    ],
    rows: proposals,
    mark: (one) => (one === decision ? "best" : undefined),
    records: proposals,
  });
}

/** Table of the delays that `whatif apply` would set. */
function ownDelayTables({ own_delays, traffic }: Advice): PageTable[] {
  if (own_delays.length === 0) return [];
  const hoursADay = (seconds: number) => seconds / 3_600 / traffic.days;
  return [
    pageTable<OwnDelay>({
      name: "own-delays",
      title: truncatedTitle(
        "Computes that gain from a delay of their own",
        MAX_COMPUTES_SHOWN,
        own_delays.length,
      ),
      columns: [
        { heading: "compute", cell: ({ compute }) => compute },
        { heading: "delay now", cell: ({ present_delay_s }) => delayText(present_delay_s) },
        { heading: "delay", cell: ({ delay_s }) => delayText(delay_s) },
        {
          heading: "$ a month",
          cell: ({ saves_dollars_per_month }) => changeText(saves_dollars_per_month, null),
        },
        {
          heading: "gain h a day",
          cell: ({ gain_s, margin_95 }) => amountWithMargin(hoursADay(gain_s), hoursADay(margin_95)),
        },
      ],
      rows: own_delays.slice(0, MAX_COMPUTES_SHOWN),
      records: own_delays,
    }),
  ];
}

function billTable({ bill }: Advice): PageTable {
  return pageTable<(typeof bill.lines)[number]>({
    name: "bill",
    title: "The bill now",
    columns: [
      { heading: "line", cell: ({ line }) => line },
      { heading: "$ a month", cell: ({ dollars_per_month }) => money(dollars_per_month) },
    ],
    rows: bill.lines,
    records: bill.lines,
  });
}

export async function adviceCharts(advice: Advice): Promise<readonly Chart[]> {
  const [{ barChart }, { INK }, { shortenedName }] = await Promise.all([
    import("../../page/bar-chart.ts"),
    import("../../page/palette.ts"),
    import("../../page/row-chart.ts"),
  ]);
  const bars = advice.proposals.map((one) => ({
    name: shortenedName(shortText(one)),
    value: one.worth_dollars_per_month,
    text: money(one.worth_dollars_per_month),
  }));
  return bars.length === 0
    ? []
    : [
        barChart({
          name: "proposals",
          title: "What each change is worth",
          caption: "Savings on the whole bill, less the additional cold starts at their worth.",
          label: "dollars a month →",
          fill: INK.best,
          bars,
          tickFormat: (value) => money(value),
          marginLeft: 190,
        }),
      ];
}
