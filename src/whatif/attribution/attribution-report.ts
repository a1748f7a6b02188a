import type { Chance } from "../../platform/core/random-port.ts";
import { eachPart } from "../../recordings/trace/trace.ts";
import { type Costs, sizeOf } from "../curve/costs.ts";
import { StartLatencies } from "../replay/start-latency.ts";
import { type OutcomeFigures, outcomeFigures } from "../report/figures.ts";
import { amount, delayText, money, percentOf, plural, signed } from "../report/number-format.ts";
import type { Limits, Page, PageTable } from "../report/page-layout.ts";
import { type Question, type ToldQuestion, toldQuestion, withoutPrice } from "../report/question.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { fewSources } from "../trace/merge-sources.ts";
import { BEHIND_THE_END, type ToldTraffic, toldTraffic } from "../trace/traffic-summary.ts";
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

type ComputeShares = { readonly compute: string; readonly active_s: number; readonly sources: readonly SourceShare[] };

export type AttributionReport = {
  readonly question: ToldQuestion;
  readonly traffic: ToldTraffic;
  readonly present: OutcomeFigures;
  /** Of all computes, who saves most first. */
  readonly sources: readonly SourceShare[];
  /** The same of each compute; those that could save most first. */
  readonly computes: readonly ComputeShares[];
  readonly limits: Limits;
};

const MOST_ROWS = 20;
/** Each one more is two more replays of all of it. */
const MOST_SOURCES = 24;
const UNNAMED = "(no source)";

/** Replays with everything, without each source, and with each alone; tells after each compute how many are done. */
export function* attribute(given: Traffic, question: Question, chance: Chance): Generator<number, AttributionReport> {
  const traffic = fewSources(given, MOST_SOURCES);
  const { period, sources } = traffic;
  const count = Math.max(1, sources.length);
  const { ownDelays, goneAt, costs } = question;
  const present = question.present === "own" ? 0 : question.present;
  const fleet = new Attributor(period, present, count);
  const computes: ComputeShares[] = [];
  for (const [number, compute] of traffic.computes.entries()) {
    const own = new Attributor(period, present, count);
    const cu = sizeOf(costs, number);
    const latencies = new StartLatencies(question.latency, chance, number);
    for (const attributor of [fleet, own]) {
      attributor.begin(latencies, { cu, delay: ownDelays?.[number], goneAt: goneAt?.[number] });
      eachPart(traffic.requests(number), (part) => attributor.add(part));
      attributor.end();
    }
    const attribution = own.attribution();
    const shares = sharesOf(attribution, traffic, { ...costs, cu }).filter(({ requests }) => requests > 0);
    computes.push({ compute, active_s: attribution.all.activeMs / 1_000, sources: shares });
    yield number + 1;
  }
  const { all, shares } = fleet.attribution();
  const most = ({ sources: [first] }: ComputeShares) => first?.saves_s ?? 0;
  return {
    question: toldQuestion(question),
    traffic: toldTraffic(traffic, all.firstStarts, all.requests),
    present: outcomeFigures(all, period.endAt - period.startAt, costs),
    sources: sharesOf({ all, shares }, traffic, costs),
    computes: computes.sort((a, b) => most(b) - most(a) || (a.compute < b.compute ? -1 : 1)),
    limits: {
      exact: ["Replays of the traffic with everything, without each source, and with each source alone."],
      simulated: ["Start latencies are those of the question; a source that is gone changes nothing about when the others come."],
      left_out: [
        "Savings of several sources do not add up: two health checks keep a compute awake that would sleep without neither of them.",
        `Sources are told apart by the names in the trace; what has no name is one source, and of more than ${MOST_SOURCES} the least busy ones count as one.`,
        BEHIND_THE_END,
      ],
    },
  };
}

function sharesOf({ all, shares }: Attribution, { sources, period }: Traffic, costs: Costs): SourceShare[] {
  const periodMs = period.endAt - period.startAt;
  const present = outcomeFigures(all, periodMs, costs);
  return shares
    .map(({ source, requests, without, alone }) => {
      const rest = outcomeFigures(without, periodMs, costs);
      return {
        source: sources[source] || UNNAMED,
        requests,
        saves_s: present.active_s - rest.active_s,
        saves_cu_hours: present.cu_hours - rest.cu_hours,
        saves_cost: present.cost === null || rest.cost === null ? null : present.cost - rest.cost,
        more_cold_starts: rest.cold_starts - present.cold_starts,
        without: rest,
        alone: outcomeFigures(alone, periodMs, costs),
      };
    })
    .sort((a, b) => b.saves_s - a.saves_s || (a.source < b.source ? -1 : 1));
}

/** As it is read. */
export function attributionPage(report: AttributionReport): Page {
  const { question, traffic, present, sources } = report;
  const [first] = sources;
  return {
    title: "What keeps the computes awake",
    subject: `${plural(traffic.requests, "request")} of ${plural(sources.length, "source")} to ${plural(traffic.computes_used, "compute")} · ${traffic.from} to ${traffic.to} · a delay of ${delayText(question.present_delay_s)}${withoutPrice(question)}`,
    answer:
      sources.length === 1 && first?.source === UNNAMED
        ? ["The trace names no sources, so nothing can be told apart."]
        : first === undefined || first.saves_s <= 0
          ? ["No source keeps them awake alone: without any one of them the others still do."]
          : [
              `Most of it is ${first.source}: without it ${worth(first)} less (${percentOf(-first.saves_s, present.active_s)} active time), with ${first.more_cold_starts >= 0 ? `${plural(first.more_cold_starts, "cold start")} more` : `${plural(-first.more_cold_starts, "cold start")} fewer`}.`,
            ],
    facts: sources.slice(0, 5).map((share) => ({
      label: `without ${share.source}`,
      value: `−${worth(share)}`,
      note: percentOf(-share.saves_s, present.active_s),
    })),
    tables: [sourceTable(report), computeTable(report)],
    limits: report.limits,
  };
}

function worth({ saves_cost, saves_cu_hours }: SourceShare): string {
  return saves_cost === null ? `${amount(saves_cu_hours)} CU-hours` : money(saves_cost);
}

function sourceTable({ sources, present }: AttributionReport): PageTable {
  return {
    name: "sources",
    title: "Sources",
    headings: ["source", "requests", "active h without", "saves h", "saves %", "saves", "cold starts without", "active h alone"],
    records: sources,
    rows: sources.slice(0, MOST_ROWS).map((share) => ({
      cells: [
        share.source,
        share.requests.toLocaleString("en"),
        amount(share.without.active_s / 3_600),
        amount(share.saves_s / 3_600),
        percentOf(-share.saves_s, present.active_s),
        worth(share),
        share.without.cold_starts.toLocaleString("en"),
        amount(share.alone.active_s / 3_600),
      ],
    })),
  };
}

function computeTable({ computes }: AttributionReport): PageTable {
  return {
    name: "computes",
    title: `Computes, and the source that costs most${computes.length > MOST_ROWS ? `: the first ${MOST_ROWS} of ${computes.length}` : ""}`,
    headings: ["compute", "active h", "source", "saves h", "saves %", "cold starts more"],
    records: computes.flatMap(({ compute, active_s, sources }) => sources.map((source) => ({ compute, active_s, ...source }))),
    rows: computes.slice(0, MOST_ROWS).map(({ compute, active_s, sources: [first] }) => ({
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
