import type { Random } from "../../../kernel/random-port.ts";
import { eachPart } from "../../../traffic/recorded/trace/trace.ts";
import { type Costs, sizeOf, startWorth } from "../../gap-curve/costs.ts";
import { OutcomeMargins } from "../../held-out/outcome-margins.ts";
import type { Question } from "../../input/question.ts";
import { type QuestionSummary, questionSummary } from "../../input/question-summary.ts";
import type { ReportLimits } from "../../page/page-layout.ts";
import { type OutcomeFigures, outcomeFigures } from "../../replay/figures.ts";
import type { ComputeSetting } from "../../replay/fixed-replay.ts";
import { emptyOutcomeByDay, meteredMs, type ReplayOutcome } from "../../replay/replay-outcome.ts";
import { loadSizesOf } from "../../sizes/scaling-computes.ts";
import { type IgnoredSources, ignoredSources } from "../../trace/ignored-waits.ts";
import { mergeSources } from "../../trace/merge-sources.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { AFTER_TRACE_END, type TrafficSummary, trafficSummary } from "../../trace/traffic-summary.ts";
import { StartLatencies } from "../../units/start-latency.ts";
import { type Attribution, Attributor } from "./attribution.ts";

export type SourceShare = {
  readonly source: string;
  readonly requests: number;
  /** Active time that the removal of the source saves, and the cost of that time. */
  readonly saves_s: number;
  readonly saves_cu_hours: number;
  readonly saves_cost: number;
  /** Additional cold starts without the source; negative if there are fewer. */
  readonly more_cold_starts: number;
  /** Half the width of the 95 % interval of each, for these computes on other days; null without intervals. */
  readonly margin_95: SavingMargins | null;
  readonly without: OutcomeFigures;
  /** Figures with only this source. */
  readonly alone: OutcomeFigures;
};

export type SavingMargins = {
  readonly saves_s: number;
  /** Margin of the change of the active time in percent; null if there is no active time on some days. */
  readonly active_percent: number | null;
  readonly saves_cu_hours: number;
  readonly saves_cost: number;
  readonly more_cold_starts: number;
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
  /** Why there are no intervals; null if there are. */
  readonly no_margins: string | null;
  /** Sources over all computes, the largest saving first. */
  readonly sources: readonly SourceShare[];
  /** Sources by compute, the largest saving first. Empty unless requested. */
  readonly computes: readonly ComputeShares[];
  readonly limits: ReportLimits;
};

/** Most sources; each takes two replays of the traffic. */
const MAX_SOURCES = 24;
export const UNNAMED = "(no source)";

/** Yields the number of computes done. `byCompute`: whether to also replay the shares of each compute. */
export function* attributionReport(
  allTraffic: Traffic,
  question: Question,
  random: Random,
  byCompute = true,
): Generator<number, AttributionReport> {
  const traffic = mergeSources(allTraffic, MAX_SOURCES);
  const { period, sources } = traffic;
  const count = Math.max(1, sources.length);
  const { costs } = question;
  const currentDelay = question.currentDelay === "own" ? 0 : question.currentDelay;
  // A source that was merged into the others is no longer known.
  const known = question.ignoredWaits.filter((source) => sources.includes(source));
  const ignored = ignoredSources(known, sources);
  const fleet = new Attributor(period, currentDelay, count, emptyOutcomeByDay);
  const computes: ComputeShares[] = [];
  for (const [number, compute] of traffic.computes.entries()) {
    const own = byCompute ? new Attributor(period, currentDelay, count) : undefined;
    const cu = sizeOf(costs, number);
    const latencies = new StartLatencies(question.latency, random, number);
    for (const attributor of own === undefined ? [fleet] : [fleet, own]) {
      const setting = attributedSetting(question, number, ignored);
      attributor.begin(latencies, setting, () => loadSizesOf(question.scaling, number, random));
      eachPart(traffic.arrivals(number), (part) => attributor.add(part));
      attributor.end();
    }
    if (own !== undefined) {
      const attribution = own.attribution();
      const isScaling = question.scaling?.ranges[number] !== undefined;
      const ownCosts = { ...costs, cu: isScaling ? [cu] : cu };
      const shares = sharesOf(attribution, traffic, ownCosts).filter(({ requests }) => requests > 0);
      computes.push({ compute, active_s: meteredMs(attribution.all) / 1_000, sources: shares });
    }
    yield number + 1;
  }
  const { all, shares } = fleet.attribution();
  const margins = OutcomeMargins.of(period);
  const largestSaving = ({ sources: [first] }: ComputeShares) => first?.saves_s ?? 0;
  return {
    question: questionSummary(question),
    traffic: trafficSummary(traffic, all.firstStarts, all.arrivals, all.activeMs),
    present: outcomeFigures(all, period.endAt - period.startAt, costs),
    no_margins: "missing" in margins ? margins.missing : null,
    sources: sharesOf({ all, shares }, traffic, costs, "missing" in margins ? undefined : margins),
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

/** Settings of a compute under its current delay, without the sizes of one that scales. */
export function attributedSetting(
  { ownDelays, deletedAt, costs }: Question,
  compute: number,
  ignored: IgnoredSources | undefined,
): Omit<ComputeSetting, "sizes"> {
  const cu = sizeOf(costs, compute);
  return {
    cu,
    delay: ownDelays?.[compute],
    deletedAt: deletedAt?.[compute],
    startWorth: startWorth(costs, cu),
    ignored,
  };
}

function sharesOf(
  { all, shares }: Attribution,
  { sources, period }: Traffic,
  costs: Costs,
  margins?: OutcomeMargins,
): SourceShare[] {
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
        margin_95: margins === undefined ? null : savingMargins(all, without, margins, costs),
        without: rest,
        alone: outcomeFigures(alone, periodMs, costs),
      };
    })
    .sort((a, b) => b.saves_s - a.saves_s || (a.source < b.source ? -1 : 1));
}

/** Margins of the savings. `without`: totals after the change. Both totals are by day. */
export function savingMargins(
  all: ReplayOutcome,
  without: ReplayOutcome,
  margins: OutcomeMargins,
  costs: Costs,
): SavingMargins | null {
  if (all.days === undefined || without.days === undefined) return null;
  const [own, base] = [margins.drawn([without.days], costs), margins.drawn([all.days], costs)];
  return {
    saves_s: margins.difference(own.active_s, base.active_s),
    active_percent: margins.percent(own.active_s, base.active_s),
    saves_cu_hours: margins.difference(own.cu_hours, base.cu_hours),
    saves_cost: margins.difference(own.cost, base.cost),
    more_cold_starts: margins.difference(own.cold_starts, base.cold_starts),
  };
}
