import type { Random } from "../../platform/core/random-port.ts";
import { DAY } from "../../platform/core/time.ts";
import { eachPart } from "../../recordings/trace/trace.ts";
import { type Costs, perMonth, sizeOf } from "../curve/costs.ts";
import { StartLatencies } from "../replay/start-latency.ts";
import { type OutcomeFigures, outcomeFigures } from "../report/figures.ts";
import { amount, delayPhrase, money, percentOf, plural, signed } from "../report/number-format.ts";
import type { PageTable, ReportLimits, ReportPage } from "../report/page-layout.ts";
import { periodText, requestsText, truncatedTitle } from "../report/page-text.ts";
import {
  type Question,
  type QuestionSummary,
  questionSummary,
  sizeAndPriceText,
} from "../report/question.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { mergeSources } from "../trace/merge-sources.ts";
import { AFTER_TRACE_END, type TrafficSummary, trafficSummary } from "../trace/traffic-summary.ts";
import { type Attribution, Attributor } from "./attribution.ts";

type SourceShare = {
  readonly source: string;
  readonly requests: number;
  /** Active time that its removal saves, and the cost of that time. */
  readonly saves_s: number;
  readonly saves_cu_hours: number;
  readonly saves_cost: number;
  /** Additional cold starts after its removal; negative if there are fewer. */
  readonly more_cold_starts: number;
  readonly without: OutcomeFigures;
  /** With only this source. */
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
  /** Over all computes; the largest saving first. */
  readonly sources: readonly SourceShare[];
  /** By compute; the largest saving first. */
  readonly computes: readonly ComputeShares[];
  readonly limits: ReportLimits;
};

const MAX_ROWS = 20;
/** Each source takes two replays of the traffic. */
const MAX_SOURCES = 24;
const UNNAMED = "(no source)";

/** Yields the number of computes done. */
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
      exact: ["Replays of all traffic, of the traffic without each source, and of each source alone."],
      simulated: [
        "Starts take the given start latency. Removing a source does not change when the others send requests.",
      ],
      left_out: [
        "Savings of several sources do not add up: if two health checks each keep a compute active, removing only one of them saves nothing.",
        `Sources are distinguished by their names in the trace. Requests without a name count as one source. Of more than ${MAX_SOURCES} sources, the least busy ones are combined.`,
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
        saves_cost: current.cost - rest.cost,
        more_cold_starts: rest.cold_starts - current.cold_starts,
        without: rest,
        alone: outcomeFigures(alone, periodMs, costs),
      };
    })
    .sort((a, b) => b.saves_s - a.saves_s || (a.source < b.source ? -1 : 1));
}

export function attributionPage(report: AttributionReport): ReportPage {
  const { question, traffic, present, sources } = report;
  const [first] = sources;
  return {
    title: "What keeps the computes active",
    subject: `${requestsText(traffic)} from ${plural(sources.length, "source")} · ${periodText(traffic)} · ${delayPhrase(question.present_delay_s)} · ${sizeAndPriceText(question)}`,
    answer:
      sources.length === 1 && first?.source === UNNAMED
        ? ["The trace names no sources, so active time cannot be attributed."]
        : first === undefined || first.saves_s <= 0
          ? ["No single source keeps the computes active: without any one of them, the others still do."]
          : [
              `Largest saving: ${first.source}. Removing it saves ${money(perMonth(first.saves_cost, traffic.days * DAY))} a month (active time ${percentOf(-first.saves_s, present.active_s)}) and ${first.more_cold_starts >= 0 ? "adds" : "avoids"} ${amount(Math.abs(first.more_cold_starts) / traffic.days)} cold starts a day.`,
            ],
    facts: sources.slice(0, 5).map((share) => ({
      label: `without ${share.source}`,
      value: money(-perMonth(share.saves_cost, traffic.days * DAY)),
      note: `a month, active time ${percentOf(-share.saves_s, present.active_s)}`,
    })),
    tables: [sourceTable(report), computeTable(report)],
    limits: report.limits,
  };
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
      "active time",
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
        money(share.saves_cost),
        share.without.cold_starts.toLocaleString("en"),
        amount(share.alone.active_s / 3_600),
      ],
    })),
  };
}

function computeTable({ computes }: AttributionReport): PageTable {
  return {
    name: "computes",
    title: truncatedTitle("Computes, and the source whose removal saves most", MAX_ROWS, computes.length),
    headings: ["compute", "active h", "source", "saves h", "active time", "cold starts"],
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
