import { ignoredWaitsText, profileAndPriceText, sizeText } from "../../input/question-summary.ts";
import type { Chart, ReportLimits, ReportPage } from "../../page/page-layout.ts";
import { type PageTable, pageTable } from "../../page/page-table.ts";
import { periodText, requestsText, truncatedTitle } from "../../page/page-text.ts";
import { wrapped } from "../../page/terminal-style.ts";
import {
  amountWithMargin,
  delayPhrase,
  delayText,
  money,
  monthNote,
  signed,
} from "../../units/number-format.ts";
import type { Advice } from "./advice.ts";
import { adviceText, changeText, OTHERS, shortText } from "./advice-text.ts";
import type { OwnDelay } from "./own-delays.ts";
import type { Proposal } from "./proposal.ts";

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
