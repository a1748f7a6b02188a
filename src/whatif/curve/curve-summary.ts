import type { Random } from "../../platform/core/random-port.ts";
import { DAY, SECOND } from "../../platform/core/time.ts";
import { fixed, ownDelays } from "../policies/fixed.ts";
import { type ReplayJob, replayComputes } from "../replay/replay-jobs.ts";
import type { ReplayOutcome } from "../replay/replay-outcome.ts";
import {
  type ChosenPoint,
  type OutcomeFigures,
  outcomeFigures,
  type PointFigures,
  pointFigures,
} from "../report/figures.ts";
import type { ReportLimits } from "../report/page-layout.ts";
import {
  isInstant,
  type Question,
  type QuestionSummary,
  questionSummary,
  sizeSentence,
} from "../report/question.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { AFTER_TRACE_END, type TrafficSummary, trafficSummary } from "../trace/traffic-summary.ts";
import { billOf, type Costs, weightedCostMs } from "./costs.ts";
import {
  type Curve,
  type CurvePoint,
  clairvoyantBound,
  coldStartBounds,
  curveOf,
  type DelayChoice,
  pointAt,
  type SuspendDelay,
} from "./curve.ts";
import { type ComputeReading, type CurveReading, SHOWN_DELAYS } from "./curve-reading.ts";
import type { SimulatedFigures } from "./curve-simulation.ts";
import { meanLatencyMs } from "./mean-latency.ts";
import { bestDelay, cheapestWithin } from "./optimum.ts";

/** The answer of `whatif curve`, as its JSON has it. */
export type CurveSummary = {
  readonly question: QuestionSummary;
  readonly traffic: TrafficSummary;
  readonly present: PointFigures;
  /** The delay that may be set with the least burden. */
  readonly best: PointFigures;
  /** Of the best against the present one: what it saves; negative where it costs more. */
  readonly saving: {
    readonly cu_hours: number;
    readonly cost: number | null;
    readonly share: number;
    readonly cold_starts: number;
  };
  /** Who knows the future: nothing that decides only when to sleep has less burden. */
  readonly clairvoyant: Omit<PointFigures, "delay_s">;
  readonly never: PointFigures;
  /** Time in which something ran: no delay is awake for less. */
  readonly busy_s: number;
  /** The cheapest delay that keeps within the limits that were given; null where none does, absent where none was given. */
  readonly cheapest_within?: PointFigures | null;
  readonly max_cold_per_day?: number;
  readonly max_wait_p99_ms?: number;
  /** At some delays; the whole curve is in curve.csv of --out. */
  readonly curve: readonly PointFigures[];
  /** Those that are named above, with starts that take their time: replayed. */
  readonly with_latency: readonly LatencyFigures[];
  /** The same with clients that answer to what happens, where some were given: simulated. */
  readonly with_clients?: {
    readonly clients: readonly string[];
    readonly delays: readonly SimulatedFigures[];
  };
  /** Most to gain first. */
  readonly computes?: readonly ComputeSummary[];
  readonly limits: ReportLimits;
};

/** `cold_starts_least` and `cold_starts_most` are the bounds that follow from the curve alone, where a start always takes the same time. */
export type LatencyFigures = OutcomeFigures & {
  readonly delay_s: DelayChoice;
  readonly cold_starts_least: number | null;
  readonly cold_starts_most: number;
};

export type ComputeSummary = {
  readonly compute: string;
  readonly cu: number;
  readonly requests: number;
  readonly present: PointFigures;
  readonly best: PointFigures;
  readonly never: PointFigures;
  /** Who knows the future. */
  readonly clairvoyant: Omit<PointFigures, "delay_s">;
  /** At some delays; the whole curve of a compute is asked for by `--compute`. */
  readonly curve: readonly PointFigures[];
  /** Burden that the best delay of its own would spare, in seconds of active time. */
  readonly gain_s: number;
  /** The same of never sleeping; negative where that costs more. */
  readonly gain_of_never_s: number;
};

export type CurveConstraints = {
  readonly maxColdPerDay?: number | undefined;
  readonly maxWaitP99Ms?: number | undefined;
};

/** Answers from the curve, and by replays of the delays that are named where starts take time. */
export class CurveAnswer {
  readonly curve: Curve;
  readonly #traffic: Traffic;
  readonly #question: Question;
  readonly #random: Random;
  readonly #reading: CurveReading;
  readonly #cuWeighted: Curve | undefined;
  readonly #startMs: number;
  readonly #replayed = new Map<DelayChoice, LatencyFigures>();
  readonly #best: ChosenPoint;
  readonly #activeSecondsByDay = new Map<DelayChoice, readonly number[]>();

  constructor(traffic: Traffic, reading: CurveReading, question: Question, random: Random) {
    this.#traffic = traffic;
    this.#reading = reading;
    this.#question = question;
    this.#random = random;
    this.curve = curveOf(reading.gaps);
    this.#cuWeighted = reading.cuWeighted === undefined ? undefined : curveOf(reading.cuWeighted);
    this.#startMs = meanLatencyMs(question.latency);
    this.#best = this.pointAt(bestDelay(this.curve, question.costs.coldStartS).delay);
  }

  get arrivals(): number {
    return this.curve.arrivals;
  }

  /** By the curve; what computes have of their own is no point of it. Throws a RangeError for a delay that there is not. */
  pointAt(delay: DelayChoice): ChosenPoint {
    const cuWeighted = this.#cuWeighted;
    if (delay !== "own")
      return {
        ...pointAt(this.curve, delay),
        cuMs: cuWeighted === undefined ? undefined : pointAt(cuWeighted, delay).activeMs,
      };
    const { own } = this.#reading;
    if (own === undefined) throw new Error("the computes have no delays of their own");
    return { delay, ...own, coldStartsPerDay: (own.coldStarts * DAY) / this.curve.periodMs };
  }

  figuresAt(delay: DelayChoice): PointFigures {
    return this.#figures(this.pointAt(delay));
  }

  /** One delay's figures by name. Throws a RangeError for a delay that there is not. */
  delay(delay: SuspendDelay) {
    const { firstStarts, arrivals } = this.curve;
    return {
      ...this.figuresAt(delay),
      first_starts: firstStarts,
      requests: arrivals,
      // Where starts take no time, these would be the same figures again.
      with_latency: isInstant(this.#question.latency) ? null : this.#replay(delay),
      question: questionSummary(this.#question),
      limits: this.#limits([delay]),
    };
  }

  /** Delays that a summary names: the present one, the best one, and the cheapest within the limits. */
  namedDelaysWithin({ maxColdPerDay, maxWaitP99Ms }: CurveConstraints): readonly DelayChoice[] {
    const isLimited = maxColdPerDay !== undefined || maxWaitP99Ms !== undefined;
    const within = isLimited ? runToEnd(this.search({ maxColdPerDay, maxWaitP99Ms })) : undefined;
    return sortedDelays([
      this.#question.currentDelay,
      this.#best.delay,
      ...(within === undefined ? [] : [within.delay]),
    ]);
  }

  summary(
    { maxColdPerDay, maxWaitP99Ms }: CurveConstraints,
    withClients?: CurveSummary["with_clients"],
  ): CurveSummary {
    const { costs } = this.#question;
    const { curve } = this;
    const [current, best] = [this.pointAt(this.#question.currentDelay), this.#best];
    const isLimited = maxColdPerDay !== undefined || maxWaitP99Ms !== undefined;
    const within = isLimited ? runToEnd(this.search({ maxColdPerDay, maxWaitP99Ms })) : undefined;
    const namedDelays = this.namedDelaysWithin({ maxColdPerDay, maxWaitP99Ms });
    return {
      question: questionSummary(this.#question),
      traffic: this.#trafficSummary(),
      present: this.#figures(current),
      best: this.#figures(best),
      saving: savingOf(current, best, costs),
      clairvoyant: this.#perfectForesight(),
      never: this.figuresAt("never"),
      busy_s: curve.busyMs / SECOND,
      ...(isLimited ? { cheapest_within: within === undefined ? null : this.figuresAt(within.delay) } : {}),
      ...(maxColdPerDay === undefined ? {} : { max_cold_per_day: maxColdPerDay }),
      ...(maxWaitP99Ms === undefined ? {} : { max_wait_p99_ms: maxWaitP99Ms }),
      curve: sortedDelays([...SHOWN_DELAYS, ...namedDelays]).map((delay) => this.figuresAt(delay)),
      with_latency: isInstant(this.#question.latency) ? [] : namedDelays.map((delay) => this.#replay(delay)),
      ...(withClients === undefined ? {} : { with_clients: withClients }),
      ...(this.#reading.computes.length === 0 ? {} : { computes: this.#computeSummaries() }),
      limits: this.#limits(namedDelays, withClients?.clients),
    };
  }

  /** The delays that every summary replays, where starts take time. */
  get namedDelays(): readonly DelayChoice[] {
    return isInstant(this.#question.latency)
      ? []
      : sortedDelays([this.#question.currentDelay, this.#best.delay]);
  }

  /**
   * The cheapest delay that keeps within the limits. What it replays on the way is kept, so that the summary need not wait for it. Tells how many
   * computes are done, of those of up to `MOST_ASKED` delays.
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
      for (const done of this.#replayMissing(delay)) yield probes * this.#traffic.computes.length + done;
      step = search.next(this.#replay(delay).wait_p99_ms);
    }
  }

  /** What would have to be replayed for these delays. */
  jobs(delays: readonly DelayChoice[]): ReplayJob[] {
    const question = this.#question;
    return delays.map((delay) => ({
      policy: (delay === "own" ? ownDelays : fixed(delay)).name,
      question,
      seed: question.seed,
    }));
  }

  /** Keeps what came of replays of these delays, so that who asks for them later need not wait. */
  storeOutcomes(delays: readonly DelayChoice[], outcomes: readonly ReplayOutcome[]): void {
    for (const [index, delay] of delays.entries())
      this.#storeOutcome(delay, outcomes[index] as ReplayOutcome);
  }

  /** Replays a delay that nobody has asked for yet; tells how many computes are done. */
  *#replayMissing(delay: DelayChoice): Generator<number> {
    if (this.#replayed.has(delay)) return;
    const work = {
      jobs: this.jobs([delay]),
      from: 0,
      to: this.#traffic.computes.length,
      fleetGaps: undefined,
    };
    this.storeOutcomes([delay], yield* replayComputes(this.#traffic, work, () => this.#random));
  }

  /** Active seconds of the days, replayed. */
  activeSecondsByDay(delays: readonly DelayChoice[]): ReadonlyMap<DelayChoice, readonly number[]> {
    for (const delay of delays) this.#replay(delay);
    return this.#activeSecondsByDay;
  }

  #figures(point: ChosenPoint): PointFigures {
    const { arrivals, firstStarts } = this.curve;
    return pointFigures(point, this.#question.costs, { startMs: this.#startMs, arrivals, firstStarts });
  }

  #perfectForesight(): Omit<PointFigures, "delay_s"> {
    const { coldStartS } = this.#question.costs;
    const { gaps, cuWeighted } = this.#reading;
    const cuMs = cuWeighted === undefined ? undefined : clairvoyantBound(cuWeighted, coldStartS).activeMs;
    return withoutDelay(this.#figures({ ...clairvoyantBound(gaps, coldStartS), cuMs, delay: 0 }));
  }

  #replay(delay: DelayChoice): LatencyFigures {
    runToEnd(this.#replayMissing(delay));
    return this.#replayed.get(delay) as LatencyFigures;
  }

  #storeOutcome(delay: DelayChoice, outcome: ReplayOutcome): void {
    const { latency, costs } = this.#question;
    const { startAt, endAt } = this.#traffic.period;
    const isBound = latency.kind === "fixed" && typeof delay === "number";
    this.#replayed.set(delay, {
      delay_s: delay,
      ...outcomeFigures(outcome, endAt - startAt, costs),
      cold_starts_least: isBound ? coldStartBounds(this.curve, delay, latency.ms).least : null,
      cold_starts_most: this.pointAt(delay).coldStarts,
    });
    this.#activeSecondsByDay.set(
      delay,
      [...outcome.activeByDay].map((ms) => ms / SECOND),
    );
  }

  #trafficSummary(): TrafficSummary {
    const { firstStarts, arrivals } = this.curve;
    return trafficSummary(this.#traffic, firstStarts, arrivals);
  }

  #computeSummaries(): ComputeSummary[] {
    const { costs } = this.#question;
    const summaries = this.#reading.computes.map((reading) => computeSummary(reading, costs, this.#startMs));
    return summaries.sort((a, b) => b.gain_s - a.gain_s || (a.compute < b.compute ? -1 : 1));
  }

  #limits(delays: readonly DelayChoice[], clients: readonly string[] = []): ReportLimits {
    const replayed = isInstant(this.#question.latency)
      ? []
      : [
          `Waits, and the figures with the start latency at ${delays.length === 1 ? "this delay" : "the delays named"}, are of a replay in which requests that meet a start wait for its end.`,
        ];
    return {
      exact: [
        "Cold starts and active time of every delay, for starts that take no time and requests that come when they came: counted from the gaps, nothing is estimated.",
        ...(isInstant(this.#question.latency)
          ? []
          : [
              "The added wait beside them is one start, of mean length, for each arrival that finds its compute asleep, the first ones included; who comes during a start waits in replays alone.",
            ]),
      ],
      simulated: [
        ...replayed,
        ...(clients.length === 0
          ? []
          : [
              `With clients: every compute that has requests also has one each of ${clients.join(", ")}; one run, event by event, for each of the delays named.`,
            ]),
      ],
      left_out: [
        `${clients.length === 0 ? "Clients that reconnect after a suspend or wait for answers" : "In the curve: the clients"}, queries that a cold cache lengthens, quotas and limits of starts: with them the gaps would depend on the delay.`,
        "A compute sleeps before its first request of the period: that start is counted as a first start, under every delay.",
        `${sizeSentence(this.#question.costs)}; storage, history and transfer are not in the cost.`,
        AFTER_TRACE_END,
      ],
    };
  }
}

function computeSummary(
  { compute, cu, arrivals, current, best, never, curve, clairvoyant: bound }: ComputeReading,
  fleetCosts: Costs,
  startMs: number,
): ComputeSummary {
  const costs = { ...fleetCosts, cu };
  const figures = (point: CurvePoint) => pointFigures(point, costs, { startMs, arrivals, firstStarts: 1 });
  const weightedCost = (point: Pick<CurvePoint, "activeMs" | "coldStarts">) =>
    weightedCostMs(point, costs.coldStartS) / SECOND;
  return {
    compute,
    cu,
    requests: arrivals,
    present: figures(current),
    best: figures(best),
    never: figures(never),
    clairvoyant: withoutDelay(figures({ ...bound, delay: 0 })),
    curve: curve.map(figures),
    gain_s: weightedCost(current) - weightedCost(best),
    gain_of_never_s: weightedCost(current) - weightedCost(never),
  };
}

function withoutDelay({ delay_s: _, ...figures }: PointFigures): Omit<PointFigures, "delay_s"> {
  return figures;
}

function savingOf(current: ChosenPoint, best: ChosenPoint, costs: Costs) {
  const cuMs = current.cuMs === undefined || best.cuMs === undefined ? undefined : current.cuMs - best.cuMs;
  const saved = billOf({ activeMs: current.activeMs - best.activeMs, cuMs }, costs);
  return {
    cu_hours: saved.cuHours,
    cost: saved.cost ?? null,
    share: current.activeMs === 0 ? 0 : saved.cuHours / billOf(current, costs).cuHours,
    cold_starts: current.coldStarts - best.coldStarts,
  };
}

function runToEnd<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

/** Each once, the computes' own before all, then the shortest first. */
function sortedDelays(delays: readonly DelayChoice[]): DelayChoice[] {
  return [...new Set(delays)].sort((a, b) => sortKey(a) - sortKey(b));
}

function sortKey(delay: DelayChoice): number {
  if (delay === "own") return -1;
  return delay === "never" ? Number.POSITIVE_INFINITY : delay;
}
