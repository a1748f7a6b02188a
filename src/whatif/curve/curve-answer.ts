import { omitUndefined } from "../../platform/core/omit-undefined.ts";
import type { Random } from "../../platform/core/random-port.ts";
import { DAY, SECOND } from "../../platform/core/time.ts";
import type { SplitInput } from "../held-out/day-split.ts";
import { DayStatistics } from "../held-out/day-statistics.ts";
import type { HeldOutSummary } from "../held-out/held-out-summary.ts";
import type { ReplayJob } from "../replay/replay-jobs.ts";
import type { ReplayOutcome } from "../replay/replay-outcome.ts";
import { type ChosenPoint, type PointFigures, pointFigures } from "../report/figures.ts";
import { effectiveDelay, isInstant, type Question, questionSummary } from "../report/question.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { trafficSummary } from "../trace/traffic-summary.ts";
import { type ComputeSummary, computeSummary, withoutDelay } from "./compute-summary.ts";
import { billOf, type Costs, perMonth, startWorthS } from "./costs.ts";
import {
  type Curve,
  type CurvePoint,
  clairvoyantBound,
  curveOf,
  type DelayChoice,
  pointAt,
  type SuspendDelay,
} from "./curve.ts";
import { curveLimits } from "./curve-limits.ts";
import { type CurveReading, SHOWN_DELAYS } from "./curve-reading.ts";
import type { CurveConstraints, CurveSummary } from "./curve-summary.ts";
import { ALL_DELAYS, chosenDelays, type DelayRange, longestWithinCost, type Objective } from "./decision.ts";
import { decisionSummary } from "./decision-summary.ts";
import { DelayReplays, runToEnd } from "./delay-replays.ts";
import { meanLatencyMs } from "./mean-latency.ts";
import { bestDelay, cheapestWithin } from "./optimum.ts";

/**
 * With more requests, only the current delay and the best one are replayed, because a replay of all shown
 * delays would take longer than the curve.
 */
const MAX_ARRIVALS_OF_ALL_REPLAYS = 5_000_000;

/** Reads figures from the curve, and replays the delays that an answer names if starts take time. */
export class CurveAnswer {
  readonly curve: Curve;
  readonly #traffic: Traffic;
  readonly #question: Question;
  readonly #reading: CurveReading;
  readonly #cuWeighted: Curve | undefined;
  readonly #startMs: number;
  /** With what a cold start of this traffic is worth. */
  readonly #costs: Costs;
  readonly #replays: DelayReplays;
  readonly #statistics: DayStatistics;
  readonly #objective: Objective;
  readonly #best: ChosenPoint;

  constructor(traffic: Traffic, reading: CurveReading, question: Question, random: Random) {
    this.#traffic = traffic;
    this.#reading = reading;
    this.#question = question;
    this.curve = curveOf(reading.gaps);
    this.#cuWeighted = reading.cuWeighted === undefined ? undefined : curveOf(reading.cuWeighted);
    this.#startMs = meanLatencyMs(question.latency);
    this.#costs = { ...question.costs, coldStartS: startWorthS(question.costs, reading.gaps) };
    this.#objective = { curve: this.#objectiveCurve(), worthS: this.#costs.coldStartS };
    this.#best = this.pointAt(bestDelay(this.#objective.curve, this.#objective.worthS).delay);
    const coldStarts = (delay: DelayChoice) => this.pointAt(delay).coldStarts;
    this.#replays = new DelayReplays(traffic, question, random, this.curve, coldStarts);
    this.#statistics = new DayStatistics({
      gaps: reading.longGaps,
      period: traffic.period,
      costs: this.#costs,
      currentDelay: question.currentDelay,
      delayOf: (delay, compute) => effectiveDelay(question, delay, compute),
      random,
    });
  }

  get arrivals(): number {
    return this.curve.arrivals;
  }

  /** From the curve, or for "own" from the totals. Throws a RangeError for a delay outside the curve. */
  pointAt(delay: DelayChoice): ChosenPoint {
    const cuWeighted = this.#cuWeighted;
    if (delay !== "own") {
      const weighted = cuWeighted === undefined ? undefined : pointAt(cuWeighted, delay);
      return {
        ...pointAt(this.curve, delay),
        cuMs: weighted?.activeMs,
        cuColdStarts: weighted?.coldStarts,
      };
    }
    const { own } = this.#reading;
    if (own === undefined) throw new Error("the computes have no delays of their own");
    return { delay, ...own, coldStartsPerDay: (own.coldStarts * DAY) / this.curve.periodMs };
  }

  figuresAt(delay: DelayChoice): PointFigures {
    return this.#figures(this.pointAt(delay));
  }

  /** The JSON of one delay. Throws a RangeError for a delay outside the curve. */
  delay(delay: SuspendDelay) {
    const { firstStarts, arrivals } = this.curve;
    return {
      ...this.figuresAt(delay),
      first_starts: firstStarts,
      requests: arrivals,
      // If starts take no time, a replay gives the same figures.
      replayed_delays: sortedDelays(this.#replays.delays),
      with_latency: isInstant(this.#question.latency) ? null : this.#replays.figures(delay),
      question: questionSummary(this.#question),
      limits: curveLimits(this.#question, []),
    };
  }

  /** The delays that a summary names: the current one, the best one and the cheapest within the limits. */
  namedDelaysWithin(constraints: CurveConstraints): readonly DelayChoice[] {
    const within = this.#cheapestWithin(constraints);
    const others =
      within === undefined || within === null ? [] : [within.delay, ...this.#chosen(constraints)];
    return sortedDelays([this.#question.currentDelay, this.#best.delay, ...others]);
  }

  /** Throws a RangeError if the split leaves too few days. */
  summary(
    constraints: CurveConstraints,
    withClients?: CurveSummary["with_clients"],
    split: SplitInput = {},
  ): CurveSummary {
    const costs = this.#costs;
    const { curve } = this;
    const heldOut = this.#statistics.heldOut(split);
    const [current, best] = [this.pointAt(this.#question.currentDelay), this.#best];
    const within = this.#cheapestWithin(constraints);
    const namedDelays = this.namedDelaysWithin(constraints);
    if (!isInstant(this.#question.latency))
      for (const delay of [...this.namedDelays, ...namedDelays]) this.#replays.figures(delay);
    return omitUndefined({
      question: questionSummary(this.#question),
      cold_start_worth_here_s: this.#costs.coldStartS,
      traffic: trafficSummary(this.#traffic, curve.firstStarts, curve.arrivals),
      present: this.#figures(current),
      best: this.#figures(best),
      decision: decisionSummary({
        objective: this.#objective,
        costs: this.#question.costs,
        currentDelay: current.delay,
        range: this.#rangeWithin(constraints),
        figuresAt: (delay) => this.figuresAt(delay),
        waitP99Ms: (delay) =>
          isInstant(this.#question.latency) ? 0 : this.#replays.stored(delay)?.wait_p99_ms,
        margins: this.#statistics.margins(),
      }),
      held_out: heldOut,
      saving: savingOf(current, best, costs),
      clairvoyant: this.#perfectForesight(),
      never: this.figuresAt("never"),
      busy_s: curve.busyMs / SECOND,
      cheapest_within: within && this.figuresAt(within.delay),
      max_cold_per_day: constraints.maxColdPerDay,
      max_wait_p99_ms: constraints.maxWaitP99Ms,
      max_cost_dollars_per_month: constraints.maxCostPerMonth,
      curve: sortedDelays([...SHOWN_DELAYS, ...namedDelays]).map((delay) => this.figuresAt(delay)),
      replayed_delays: sortedDelays(this.#replays.delays),
      with_latency: isInstant(this.#question.latency)
        ? []
        : namedDelays.map((delay) => this.#replays.figures(delay)),
      with_clients: withClients,
      computes: this.#reading.computes.length === 0 ? undefined : this.#computeSummaries(heldOut),
      limits: curveLimits(this.#question, withClients?.clients ?? []),
    });
  }

  /** The delays that a summary replays: those of its table, fewer for a large trace; none if starts take no time. */
  get namedDelays(): readonly DelayChoice[] {
    if (isInstant(this.#question.latency)) return [];
    const isSmall = this.curve.arrivals <= MAX_ARRIVALS_OF_ALL_REPLAYS;
    const shown = isSmall ? [...SHOWN_DELAYS, ...this.#chosen({})] : [];
    return sortedDelays([this.#question.currentDelay, this.#best.delay, ...shown]);
  }

  #chosen(constraints: CurveConstraints): readonly SuspendDelay[] {
    const range = this.#rangeWithin(constraints);
    return range === undefined ? [] : Object.values(chosenDelays(this.#objective, range));
  }

  /**
   * The cheapest delay within the limits. Stores its replays, so that the summary does not repeat them.
   * Yields the number of computes done, out of those of up to `MAX_DELAYS_TRIED` delays.
   */
  *search(limits: CurveConstraints): Generator<number, CurvePoint | undefined> {
    const search = cheapestWithin(this.curve, limits);
    for (let [step, probes] = [search.next(), 0]; ; probes += 1) {
      if (step.done === true) return step.value;
      const delay = step.value;
      if (isInstant(this.#question.latency)) {
        step = search.next(0);
        continue;
      }
      for (const done of this.#replays.replayMissing(delay))
        yield probes * this.#traffic.computes.length + done;
      step = search.next(this.#replays.figures(delay).wait_p99_ms);
    }
  }

  /** The replays that these delays take. */
  jobs(delays: readonly DelayChoice[]): ReplayJob[] {
    return this.#replays.jobs(delays);
  }

  /** Stores outcomes of replays, in the order of the delays. */
  storeOutcomes(delays: readonly DelayChoice[], outcomes: readonly ReplayOutcome[]): void {
    this.#replays.storeOutcomes(delays, outcomes);
  }

  /** Active seconds by day, from replays. */
  activeSecondsByDay(delays: readonly DelayChoice[]): ReadonlyMap<DelayChoice, readonly number[]> {
    for (const delay of delays) this.#replays.figures(delay);
    return this.#replays.activeSecondsByDay;
  }

  /** Null if no delay is within the limits; undefined without limits. */
  #cheapestWithin(constraints: CurveConstraints): CurvePoint | null | undefined {
    const { maxColdPerDay, maxWaitP99Ms, maxCostPerMonth } = constraints;
    if ((maxColdPerDay ?? maxWaitP99Ms ?? maxCostPerMonth) === undefined) return undefined;
    const cheapest = runToEnd(this.search(constraints));
    if (cheapest === undefined) return null;
    return this.#costPerMonth(cheapest.delay) <= (maxCostPerMonth ?? Number.POSITIVE_INFINITY)
      ? cheapest
      : null;
  }

  /** All delays within the limits; undefined if none is. */
  #rangeWithin(constraints: CurveConstraints): DelayRange | undefined {
    const cheapest = this.#cheapestWithin(constraints);
    if (cheapest === undefined) return ALL_DELAYS;
    if (cheapest === null) return undefined;
    const { maxCostPerMonth } = constraints;
    const longest =
      maxCostPerMonth === undefined
        ? "never"
        : longestWithinCost((delay) => this.#costPerMonth(delay), maxCostPerMonth);
    return longest === undefined ? undefined : { shortest: cheapest.delay, longest };
  }

  #costPerMonth(delay: SuspendDelay): number {
    return perMonth(billOf(this.pointAt(delay), this.#costs).cost, this.curve.periodMs);
  }

  /** By CU time if sizes differ: a large compute costs more, and so does its cold start unless its worth is in dollars. */
  #objectiveCurve(): Curve {
    const { coldStarts } = this.curve;
    if (this.#cuWeighted === undefined) return this.curve;
    return this.#costs.dollars === undefined ? this.#cuWeighted : { ...this.#cuWeighted, coldStarts };
  }

  /** The added wait is that of the replay, if the delay was replayed. */
  #figures(point: ChosenPoint): PointFigures {
    const { arrivals } = this.curve;
    const figures = this.#curveFigures(point);
    const replayed = this.#replays.stored(point.delay);
    if (replayed === undefined) return figures;
    const { wait_mean_ms } = replayed;
    return { ...figures, added_wait_s: (wait_mean_ms * arrivals) / SECOND, added_wait_mean_ms: wait_mean_ms };
  }

  #curveFigures(point: ChosenPoint): PointFigures {
    const { arrivals, firstStarts } = this.curve;
    return pointFigures(point, this.#costs, { startMs: this.#startMs, arrivals, firstStarts });
  }

  #perfectForesight(): Omit<PointFigures, "delay_s"> {
    const { coldStartS } = this.#costs;
    const { gaps, cuWeighted } = this.#reading;
    const { bound } = this.#reading;
    if (bound !== undefined) {
      const coldStartsPerDay = (bound.coldStarts * DAY) / this.curve.periodMs;
      return withoutDelay(this.#curveFigures({ ...bound, coldStartsPerDay, delay: 0 }));
    }
    const weighted = cuWeighted === undefined ? undefined : clairvoyantBound(cuWeighted, coldStartS);
    const sized = { cuMs: weighted?.activeMs, cuColdStarts: weighted?.coldStarts };
    return withoutDelay(this.#curveFigures({ ...clairvoyantBound(gaps, coldStartS), ...sized, delay: 0 }));
  }

  #computeSummaries(heldOut: HeldOutSummary): ComputeSummary[] {
    const costs = this.#costs;
    const { longGaps } = this.#reading;
    const shrunk = this.#statistics.shrunkDelays(heldOut);
    const summaries = this.#reading.computes.map((reading) =>
      computeSummary(reading, costs, {
        startMs: this.#startMs,
        longGaps,
        shrunkDelay: shrunk?.[reading.number],
      }),
    );
    return summaries.sort((a, b) => b.gain_s - a.gain_s || (a.compute < b.compute ? -1 : 1));
  }
}

function savingOf(current: ChosenPoint, best: ChosenPoint, costs: Costs) {
  const cuMs = current.cuMs === undefined || best.cuMs === undefined ? undefined : current.cuMs - best.cuMs;
  const saved = billOf({ activeMs: current.activeMs - best.activeMs, cuMs }, costs);
  return {
    cu_hours: saved.cuHours,
    cost: saved.cost,
    share: current.activeMs === 0 ? 0 : saved.cuHours / billOf(current, costs).cuHours,
    cold_starts: current.coldStarts - best.coldStarts,
  };
}

/** Without duplicates: "own" first, then by length, never last. */
function sortedDelays(delays: readonly DelayChoice[]): DelayChoice[] {
  return [...new Set(delays)].sort((a, b) => sortKey(a) - sortKey(b));
}

function sortKey(delay: DelayChoice): number {
  if (delay === "own") return -1;
  return delay === "never" ? Number.POSITIVE_INFINITY : delay;
}
