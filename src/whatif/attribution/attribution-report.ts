import type { Random } from "../../platform/core/random-port.ts";
import { eachPart } from "../../recordings/trace/trace.ts";
import { type Costs, sizeOf } from "../curve/costs.ts";
import { StartLatencies } from "../replay/start-latency.ts";
import { type OutcomeFigures, outcomeFigures } from "../report/figures.ts";
import { amount, delayText, money, percentOf, plural, signed } from "../report/number-format.ts";
import type { PageTable, ReportLimits, ReportPage } from "../report/page-layout.ts";
import {
  missingPriceText,
  type Question,
  type QuestionSummary,
  questionSummary,
} from "../report/question.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { mergeSources } from "../trace/merge-sources.ts";
import { AFTER_TRACE_END, type TrafficSummary, trafficSummary } from "../trace/traffic-summary.ts";
import { type Attribution, Attributor } from "./attribution.ts";

/** What one source keeps awake. */
type SourceShare = {
  readonly source: string;
  readonly requests: number;
  /** Active time that would be spared without it, and what that costs. */
  readonly saves_s: number;
  readonly saves_cu_hours: number;
  readonly saves_cost: number | null;
  /** Cold starts that there would be more without it; negative where there would be fewer. */
  readonly more_cold_starts: number;
  readonly without: OutcomeFigures;
  /** With nothing but this source. */
  readonly alone: OutcomeFigures;
};

type ComputeShares = {
  readonly compute: string;
  readonly active_s: number;
  readonly sources: readonly SourceShare[];
};

export type AttributionReport = {
  readonly question: QuestionSummary;
  readonly traffic: TrafficSummary;
  readonly present: OutcomeFigures;
  /** Of all computes, who saves most first. */
  readonly sources: readonly SourceShare[];
  /** The same of each compute; those that could save most first. */
  readonly computes: readonly ComputeShares[];
  readonly limits: ReportLimits;
};

const MAX_ROWS = 20;
/** Each one more is two more replays of all of it. */
const MAX_SOURCES = 24;
const UNNAMED = "(no source)";

/** Replays with everything, without each source, and with each alone; tells after each compute how many are done. */
export function* attributionReport(
  allTraffic: Traffic,
  question: Question,
  random: Random,
): Generator<number, AttributionReport> {
  const traffic = mergeSources(allTraffic, MAX_SOURCES);
  const { period, sources } = traffic;
  const count = Math.max(1, sources.length);
  const { ownDelays, deletedAt, costs } = question;
  const currentDelay = question.currentDelay === "own" ? 0 : question.currentDelay;
  const fleet = new Attributor(period, currentDelay, count);
  const computes: ComputeShares[] = [];
  for (const [number, compute] of traffic.computes.entries()) {
    const own = new Attributor(period, currentDelay, count);
    const cu = sizeOf(costs, number);
    const latencies = new StartLatencies(question.latency, random, number);
    for (const attributor of [fleet, own]) {
      attributor.begin(latencies, { cu, delay: ownDelays?.[number], deletedAt: deletedAt?.[number] });
      eachPart(traffic.arrivals(number), (part) => attributor.add(part));
      attributor.end();
    }
    const attribution = own.attribution();
    const shares = sharesOf(attribution, traffic, { ...costs, cu }).filter(({ requests }) => requests > 0);
    computes.push({ compute, active_s: attribution.all.activeMs / 1_000, sources: shares });
    yield number + 1;
  }
  const { all, shares } = fleet.attribution();
  const largestSaving = ({ sources: [first] }: ComputeShares) => first?.saves_s ?? 0;
  return {
    question: questionSummary(question),
    traffic: trafficSummary(traffic, all.firstStarts, all.arrivals),
    present: outcomeFigures(all, period.endAt - period.startAt, costs),
    sources: sharesOf({ all, shares }, traffic, costs),
    computes: computes.sort(
      (a, b) => largestSaving(b) - largestSaving(a) || (a.compute < b.compute ? -1 : 1),
    ),
    limits: {
      exact: ["Replays of the traffic with everything, without each source, and with each source alone."],
      simulated: [
        "Start latencies are those of the question; a source that is gone changes nothing about when the others come.",
      ],
      left_out: [
        "Savings of several sources do not add up: two health checks keep a compute awake that would sleep without neither of them.",
        `Sources are told apart by the names in the trace; what has no name is one source, and of more than ${MAX_SOURCES} the least busy ones count as one.`,
        AFTER_TRACE_END,
      ],
    },
  };
}

function sharesOf({ all, shares }: Attribution, { sources, period }: Traffic, costs: Costs): SourceShare[] {
  const periodMs = period.endAt - period.startAt;
  const current = outcomeFigures(all, periodMs, costs);
  return shares
    .map(({ source, arrivals: requests, without, alone }) => {
      const rest = outcomeFigures(without, periodMs, costs);
      return {
        source: sources[source] || UNNAMED,
        requests,
        saves_s: current.active_s - rest.active_s,
        saves_cu_hours: current.cu_hours - rest.cu_hours,
        saves_cost: current.cost === null || rest.cost === null ? null : current.cost - rest.cost,
        more_cold_starts: rest.cold_starts - current.cold_starts,
        without: rest,
        alone: outcomeFigures(alone, periodMs, costs),
      };
    })
    .sort((a, b) => b.saves_s - a.saves_s || (a.source < b.source ? -1 : 1));
}

/** As it is read. */
export function attributionPage(report: AttributionReport): ReportPage {
  const { question, traffic, present, sources } = report;
  const [first] = sources;
  return {
    title: "What keeps the computes awake",
    subject: `${plural(traffic.requests, "request")} of ${plural(sources.length, "source")} to ${plural(traffic.computes_used, "compute")} · ${traffic.from} to ${traffic.to} · a delay of ${delayText(question.present_delay_s)}${missingPriceText(question)}`,
    answer:
      sources.length === 1 && first?.source === UNNAMED
        ? ["The trace names no sources, so nothing can be told apart."]
        : first === undefined || first.saves_s <= 0
          ? ["No source keeps them awake alone: without any one of them the others still do."]
          : [
              `Most of it is ${first.source}: without it ${savingText(first)} less (${percentOf(-first.saves_s, present.active_s)} active time), with ${first.more_cold_starts >= 0 ? `${plural(first.more_cold_starts, "cold start")} more` : `${plural(-first.more_cold_starts, "cold start")} fewer`}.`,
            ],
    facts: sources.slice(0, 5).map((share) => ({
      label: `without ${share.source}`,
      value: `−${savingText(share)}`,
      note: percentOf(-share.saves_s, present.active_s),
    })),
    tables: [sourceTable(report), computeTable(report)],
    limits: report.limits,
  };
}

function savingText({ saves_cost, saves_cu_hours }: SourceShare): string {
  return saves_cost === null ? `${amount(saves_cu_hours)} CU-hours` : money(saves_cost);
}

function sourceTable({ sources, present }: AttributionReport): PageTable {
  return {
    name: "sources",
    title: "Sources",
    headings: [
      "source",
      "requests",
      "active h without",
      "saves h",
      "saves %",
      "saves",
      "cold starts without",
      "active h alone",
    ],
    records: sources,
    rows: sources.slice(0, MAX_ROWS).map((share) => ({
      cells: [
        share.source,
        share.requests.toLocaleString("en"),
        amount(share.without.active_s / 3_600),
        amount(share.saves_s / 3_600),
        percentOf(-share.saves_s, present.active_s),
        savingText(share),
        share.without.cold_starts.toLocaleString("en"),
        amount(share.alone.active_s / 3_600),
      ],
    })),
  };
}

function computeTable({ computes }: AttributionReport): PageTable {
  return {
    name: "computes",
    title: `Computes, and the source that costs most${computes.length > MAX_ROWS ? `: the first ${MAX_ROWS} of ${computes.length}` : ""}`,
    headings: ["compute", "active h", "source", "saves h", "saves %", "cold starts more"],
    records: computes.flatMap(({ compute, active_s, sources }) =>
      sources.map((source) => ({ compute, active_s, ...source })),
    ),
    rows: computes.slice(0, MAX_ROWS).map(({ compute, active_s, sources: [first] }) => ({
      cells: [
        compute,
        amount(active_s / 3_600),
        first?.source ?? "",
        amount((first?.saves_s ?? 0) / 3_600),
        percentOf(-(first?.saves_s ?? 0), active_s),
        signed(first?.more_cold_starts ?? 0),
      ],
    })),
  };
}
