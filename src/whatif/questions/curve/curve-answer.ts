import { omitUndefined } from "../../../kernel/omit-undefined.ts";
import type { Random } from "../../../kernel/random-port.ts";
import { runToEnd } from "../../../kernel/run-to-end.ts";
import { type DurationMs, SECOND } from "../../../kernel/time.ts";
import { chosenDelays, longestWithinCost, type Objective } from "../../choice/decision.ts";
import { decisionSummary } from "../../choice/decision-summary.ts";
import { onFront } from "../../choice/pareto.ts";
import type { Curve, CurvePoint } from "../../gap-curve/curve.ts";
import { type CurveReading, SHOWN_DELAYS } from "../../gap-curve/curve-reading.ts";
import { type DelayChoice, type SuspendDelay, sortedDelays } from "../../gap-curve/delay.ts";
import { cheapestWithin, SHORTEST_DELAY_S } from "../../gap-curve/optimum.ts";
import { ALL_DELAYS, type DelayRange, settableWithin } from "../../gap-curve/settable-delays.ts";
import type { SplitInput } from "../../held-out/day-split.ts";
import { DayStatistics } from "../../held-out/day-statistics.ts";
import { activeSecondsByDay } from "../../held-out/day-totals.ts";
import { namedMargins } from "../../held-out/named-margins.ts";
import { effectiveDelay, isInstant, type Question } from "../../input/question.ts";
import { questionSummary } from "../../input/question-summary.ts";
import type { ReplayJob } from "../../input/replay-jobs.ts";
import type { ChosenPoint, PointFigures } from "../../replay/figures.ts";
import type { ReplayOutcome } from "../../replay/replay-outcome.ts";
import { type PeriodicSource, periodicSources, sourceWithGaps } from "../../trace/periodic-sources.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { trafficSummary } from "../../trace/traffic-summary.ts";
import { spanText } from "../../units/number-format.ts";
import { changeSummary } from "../../units/traffic-change.ts";
import { computeSummaries } from "./compute-summary.ts";
import { type DelaysWithinWait, delaysWithinWait } from "./compute-wait-limits.ts";
import { curveLimits } from "./curve-limits.ts";
import { scaledTimeOf, sizeSensitivity, withScaledCells } from "./curve-scaling.ts";
import type { CurveConstraints, CurveSummary } from "./curve-summary.ts";
import { DelayReplays } from "./delay-replays.ts";
import { FleetCurve } from "./fleet-curve.ts";
import { foresightFigures } from "./foresight-figures.ts";
import { paretoSummary } from "./pareto-summary.ts";

/**
 * With more requests, only the current delay and the best one are replayed, because a replay of all shown
 * delays would take longer than the curve.
 */
const MAX_ARRIVALS_OF_ALL_REPLAYS = 5_000_000;

/** Reads figures from the curve, and replays the delays that an answer names if starts take time. */
export class CurveAnswer {
  readonly #traffic: Traffic;
  readonly #question: Question;
  readonly #reading: CurveReading;
  readonly #fleet: FleetCurve;
  readonly #replays: DelayReplays;
  readonly #statistics: DayStatistics;
  readonly #random: Random;
  readonly #isFast: boolean;
  #withinWait: DelaysWithinWait | undefined;
  #periodic: readonly PeriodicSource[] | undefined;

  /** `isFast`: without intervals. */
  constructor(traffic: Traffic, gaps: CurveReading, question: Question, random: Random, isFast = false) {
    const scaled = scaledTimeOf(traffic, gaps, question, random);
    const reading = withScaledCells(gaps, scaled);
    this.#traffic = traffic;
    this.#reading = reading;
    this.#question = question;
    this.#random = random;
    this.#isFast = isFast;
    this.#fleet = new FleetCurve(reading, question, scaled);
    const coldStarts = (delay: DelayChoice) => this.pointAt(delay).coldStarts;
    this.#replays = new DelayReplays(traffic, question, random, this.curve, coldStarts);
    this.#statistics = new DayStatistics({
      gaps: reading.longGaps,
      period: traffic.period,
      silenceIsIdle: traffic.silenceIsIdle,
      isFast,
      costs: this.#fleet.costs,
      settable: question.settable,
      currentDelay: question.currentDelay,
      delayOf: (delay, compute) => effectiveDelay(question, delay, compute),
    });
  }

  get curve(): Curve {
    return this.#fleet.curve;
  }

  /** Objective by which the delays of the fleet are chosen; see `stretched`. */
  get robust(): Objective {
    return this.#fleet.robust;
  }

  /** The delay that is chosen without limits. */
  get best(): DelayChoice {
    return this.#fleet.best.delay;
  }

  /** Periodic sources. The first access takes a pass through the traffic. Empty if only the gaps are known. */
  get periodic(): readonly PeriodicSource[] {
    this.#periodic ??= this.#traffic.gapRows === undefined ? periodicSources(this.#traffic) : [];
    return this.#periodic;
  }

  /** Programs on a timer whose waits count, although probably nobody waits for them. Empty with `--fast`. */
  get #countedPrograms(): readonly PeriodicSource[] {
    const { ignoredWaits } = this.#question;
    if (this.#isFast || this.#traffic.sources.every((source) => source === "")) return [];
    return this.periodic.filter(
      // A shorter interval keeps the compute active under every delay.
      ({ source, everyMs }) => everyMs > SHORTEST_DELAY_S * SECOND && !ignoredWaits.includes(source),
    );
  }

  /** Margins of figures, or why there are none. */
  margins(): ReturnType<DayStatistics["margins"]> {
    return this.#statistics.margins();
  }

  /** 99th percentile of the added wait; undefined if the delay was not replayed. */
  waitP99Ms(delay: DelayChoice): DurationMs | undefined {
    return isInstant(this.#question.latency) ? 0 : this.#replays.stored(delay)?.wait_p99_ms;
  }

  get arrivals(): number {
    return this.curve.arrivals;
  }

  /** The point of a delay, or for "own" the totals. Throws a RangeError for a delay outside the curve. */
  pointAt(delay: DelayChoice): ChosenPoint {
    return this.#fleet.pointAt(delay);
  }

  figuresAt(delay: DelayChoice): PointFigures {
    return this.#figures(this.pointAt(delay));
  }

  /** The JSON of one delay. Throws a RangeError for a delay outside the curve. */
  delay(delay: SuspendDelay) {
    const { firstStarts, arrivals, neverActiveMs } = this.curve;
    const margins = this.#statistics.margins();
    return {
      ...this.figuresAt(delay),
      cost_dollars_per_month: this.#fleet.costPerMonth(delay),
      no_margins: "missing" in margins ? margins.missing : null,
      ...namedMargins(margins, (of) =>
        delay !== "never" && delay < SHORTEST_DELAY_S ? undefined : of.figures(delay),
      ),
      traffic: trafficSummary(this.#traffic, firstStarts, arrivals, neverActiveMs),
      first_starts: firstStarts,
      requests: arrivals,
      // If starts take no time, a replay gives the same figures.
      replayed_delays: sortedDelays(this.#replays.delays),
      with_latency: isInstant(this.#question.latency) ? null : this.#replays.figures(delay),
      question: questionSummary(this.#question),
      limits: curveLimits(this.#question, [], false, this.#traffic.gapRows !== undefined),
    };
  }

  /** The delays that a summary names: the current one, the best one and the cheapest within the limits. */
  namedDelaysWithin(constraints: CurveConstraints): readonly DelayChoice[] {
    const within = this.#cheapestWithin(constraints);
    const others =
      within === undefined || within === null ? [] : [within.delay, ...this.#chosen(constraints)];
    return sortedDelays([this.#question.currentDelay, this.#fleet.best.delay, ...others]);
  }

  /** Throws a RangeError if the split leaves too few days. */
  summary(
    constraints: CurveConstraints,
    withClients?: CurveSummary["with_clients"],
    split: SplitInput = {},
  ): CurveSummary {
    const { curve } = this;
    const heldOut = this.#statistics.heldOut(split);
    const { change } = this.#statistics;
    const traffic_change = change === undefined ? null : changeSummary(change);
    const [current, best] = [this.pointAt(this.#question.currentDelay), this.#fleet.best];
    const within = this.#cheapestWithin(constraints);
    const namedDelays = this.namedDelaysWithin(constraints);
    const margins = this.#statistics.margins();
    if (!("missing" in margins)) margins.prepare(this.#delaysWithMargins(constraints));
    if (!isInstant(this.#question.latency))
      for (const delay of [...this.namedDelays, ...namedDelays]) this.#replays.figures(delay);
    const decision = decisionSummary({
      objective: this.#fleet.objective,
      robust: this.#fleet.robust,
      costs: this.#question.costs,
      settable: this.#question.settable,
      currentDelay: current.delay,
      range: this.#rangeWithin(constraints),
      monthBaseMs: this.#fleet.monthBaseMs,
      causeOf: (delayS) => this.#causeOf(delayS),
      figuresAt: (delay) => this.figuresAt(delay),
      waitP99Ms: (delay) => this.waitP99Ms(delay),
      margins,
      trafficChange: traffic_change,
    });
    return omitUndefined({
      question: questionSummary(this.#question),
      cold_start_worth_here_s: this.#fleet.costs.coldStartS,
      traffic: trafficSummary(this.#traffic, curve.firstStarts, curve.arrivals, curve.neverActiveMs),
      present: this.#figures(current),
      best: this.#figures(best),
      decision,
      traffic_change,
      programs_that_wait: this.#countedPrograms.map(({ source, everyMs }) => ({
        source,
        every_s: everyMs / SECOND,
      })),
      size_sensitivity: sizeSensitivity(
        this.#traffic,
        this.#reading,
        this.#question,
        this.#random,
        this.#fleet,
      ),
      held_out: heldOut,
      saving: this.#fleet.savingOf(current),
      clairvoyant: foresightFigures(this.#fleet, best.delay, margins),
      never: { ...this.figuresAt("never"), ...namedMargins(margins, (of) => of.figures("never")) },
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
      over_computes: this.#overComputes([current.delay, ...namedDelays]),
      with_clients: withClients,
      pareto: paretoSummary(
        this.#fleet,
        current.delay,
        [...SHOWN_DELAYS, ...this.#chosen(constraints)],
        this.#reading.longGaps,
        margins,
      ),
      ...computeSummaries(this.#reading, this.#fleet, {
        recommended: decision.recommended_delay_s,
        shrunk: this.#reading.computes.length === 0 ? undefined : this.#statistics.shrunkDelays(heldOut),
        withinWait: this.#withinWait,
        maxWaitMs: constraints.maxWaitP99Ms,
        margins,
      }),
      limits: curveLimits(
        this.#question,
        withClients?.clients ?? [],
        this.#reading.computes.length > 0 && this.#reading.computes.length < curve.firstStarts,
        this.#traffic.gapRows !== undefined,
      ),
    });
  }

  /** The delays that a summary replays: those of its table, fewer for a large trace; none if starts take no time. */
  get namedDelays(): readonly DelayChoice[] {
    if (isInstant(this.#question.latency)) return [];
    const isSmall = this.curve.arrivals <= MAX_ARRIVALS_OF_ALL_REPLAYS;
    const shown = isSmall ? [...SHOWN_DELAYS, ...this.#chosen({})] : [];
    return sortedDelays([this.#question.currentDelay, this.#fleet.best.delay, ...shown]);
  }

  /** Delays whose margins a summary reports. */
  #delaysWithMargins(constraints: CurveConstraints): readonly DelayChoice[] {
    const shown = [...SHOWN_DELAYS, ...this.#chosen(constraints)];
    const named = [this.#question.currentDelay, this.#fleet.best.delay];
    return [...shown, ...named, ...shown.map((delay) => onFront(this.curve, delay))];
  }

  #chosen(constraints: CurveConstraints): readonly SuspendDelay[] {
    const range = this.#rangeWithin(constraints);
    const ranges = range === undefined ? [] : settableWithin(this.#question.settable, range);
    const { objective, robust } = this.#fleet;
    return ranges.length === 0 ? [] : Object.values(chosenDelays(objective, robust, ranges));
  }

  #overComputes(delays: readonly DelayChoice[]): CurveSummary["over_computes"] {
    return sortedDelays(delays).flatMap((delay_s) => {
      const distributions = this.#replays.overComputes(delay_s);
      return distributions === undefined ? [] : [{ delay_s, ...distributions }];
    });
  }

  #causeOf(delayS: number): string | undefined {
    const found = sourceWithGaps(this.periodic, delayS * SECOND);
    return found === undefined ? undefined : `${found.source} every ${spanText(found.everyMs / SECOND)}`;
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

  /** The delays of computes within a limit, for the summary. Yields the number of computes done. */
  *searchComputes(maxWaitMs: DurationMs): Generator<number, void> {
    this.#withinWait = yield* delaysWithinWait(this.#traffic, this.#question, maxWaitMs, this.#random);
  }

  /** The replays that these delays take. */
  jobs(delays: readonly DelayChoice[]): ReplayJob[] {
    return this.#replays.jobs(delays);
  }

  /** Stores outcomes of replays, in the order of the delays. */
  storeOutcomes(delays: readonly DelayChoice[], outcomes: readonly ReplayOutcome[]): void {
    this.#replays.storeOutcomes(delays, outcomes);
  }

  /** Active seconds by day, from replays; from the gaps if only they are known. */
  activeSecondsByDay(delays: readonly DelayChoice[]): ReadonlyMap<DelayChoice, readonly number[]> {
    if (this.#traffic.gapRows !== undefined)
      return activeSecondsByDay(this.#reading.longGaps, delays, (delay, compute) =>
        effectiveDelay(this.#question, delay, compute),
      );
    for (const delay of delays) this.#replays.figures(delay);
    return this.#replays.activeSecondsByDay;
  }

  /** Cheapest delay within the limits: null if there is none, undefined without limits. */
  #cheapestWithin(constraints: CurveConstraints): CurvePoint | null | undefined {
    const { maxColdPerDay, maxWaitP99Ms, maxCostPerMonth } = constraints;
    if ((maxColdPerDay ?? maxWaitP99Ms ?? maxCostPerMonth) === undefined) return undefined;
    const cheapest = runToEnd(this.search(constraints));
    if (cheapest === undefined) return null;
    return this.#fleet.costPerMonth(cheapest.delay) <= (maxCostPerMonth ?? Number.POSITIVE_INFINITY)
      ? cheapest
      : null;
  }

  /** All delays within the limits; undefined if none is. */
  #rangeWithin(constraints: CurveConstraints): DelayRange | undefined {
    const { shortestDelay } = constraints;
    if (shortestDelay === null) return undefined;
    if (shortestDelay !== undefined) return { ...ALL_DELAYS, shortest: shortestDelay };
    const cheapest = this.#cheapestWithin(constraints);
    if (cheapest === undefined) return ALL_DELAYS;
    if (cheapest === null) return undefined;
    const { maxCostPerMonth } = constraints;
    const longest =
      maxCostPerMonth === undefined
        ? "never"
        : longestWithinCost((delay) => this.#fleet.costPerMonth(delay), maxCostPerMonth);
    return longest === undefined ? undefined : { shortest: cheapest.delay, longest };
  }

  /** The added wait is that of the replay, if the delay was replayed. */
  #figures(point: ChosenPoint): PointFigures {
    const { arrivals } = this.curve;
    const figures = this.#fleet.figures(point);
    const replayed = this.#replays.stored(point.delay);
    if (replayed === undefined) return figures;
    const { wait_mean_ms } = replayed;
    return { ...figures, added_wait_s: (wait_mean_ms * arrivals) / SECOND, added_wait_mean_ms: wait_mean_ms };
  }
}
