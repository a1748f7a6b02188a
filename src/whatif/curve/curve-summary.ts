import type { Chance } from "../../platform/core/random-port.ts";
import { DAY, SECOND } from "../../platform/core/time.ts";
import { fixed, ownDelays } from "../policies/fixed.ts";
import { type ReplayJob, replayComputes } from "../replay/replay-jobs.ts";
import type { Outcome } from "../replay/replay-outcome.ts";
import { type ChosenPoint, type OutcomeFigures, outcomeFigures, type PointFigures, pointFigures } from "../report/figures.ts";
import type { Limits } from "../report/page-layout.ts";
import { isInstant, type Question, sizeSentence, type ToldQuestion, toldQuestion } from "../report/question.ts";
import type { Traffic } from "../trace/known-traffic.ts";
import { BEHIND_THE_END, type ToldTraffic, toldTraffic } from "../trace/traffic-summary.ts";
import { billOf, burdenMs, type Costs } from "./costs.ts";
import { type Curve, type CurvePoint, clairvoyant, coldStartBounds, curveOf, type Delay, type DelayChoice, pointAt } from "./curve.ts";
import { type ComputeReading, type CurveReading, SHOWN_DELAYS } from "./curve-reading.ts";
import type { SimulatedFigures } from "./curve-simulation.ts";
import { meanLatencyMs } from "./mean-latency.ts";
import { bestDelay, cheapestWithin } from "./optimum.ts";

/** The answer of `whatif curve`, as its JSON has it. */
export type CurveSummary = {
  readonly question: ToldQuestion;
  readonly traffic: ToldTraffic;
  readonly present: PointFigures;
  /** The delay that may be set with the least burden. */
  readonly best: PointFigures;
  /** Of the best against the present one: what it saves; negative where it costs more. */
  readonly saving: { readonly cu_hours: number; readonly cost: number | null; readonly share: number; readonly cold_starts: number };
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
  readonly with_clients?: { readonly clients: readonly string[]; readonly delays: readonly SimulatedFigures[] };
  /** Most to gain first. */
  readonly computes?: readonly ComputeSummary[];
  readonly limits: Limits;
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

export type CurveLimits = { readonly maxColdPerDay?: number | undefined; readonly maxWaitP99Ms?: number | undefined };

/** Answers from the curve, and by replays of the delays that are named where starts take time. */
export class CurveAnswer {
  readonly curve: Curve;
  readonly #traffic: Traffic;
  readonly #question: Question;
  readonly #chance: Chance;
  readonly #reading: CurveReading;
  readonly #sized: Curve | undefined;
  readonly #startMs: number;
  readonly #replayed = new Map<DelayChoice, LatencyFigures>();
  readonly #best: ChosenPoint;
  readonly #days = new Map<DelayChoice, readonly number[]>();

  constructor(traffic: Traffic, reading: CurveReading, question: Question, chance: Chance) {
    this.#traffic = traffic;
    this.#reading = reading;
    this.#question = question;
    this.#chance = chance;
    this.curve = curveOf(reading.gaps);
    this.#sized = reading.sized === undefined ? undefined : curveOf(reading.sized);
    this.#startMs = meanLatencyMs(question.latency);
    this.#best = this.pointAt(bestDelay(this.curve, question.costs.coldStartS).delay);
  }

  get requests(): number {
    return this.curve.requests;
  }

  /** By the curve; what computes have of their own is no point of it. Throws a RangeError for a delay that there is not. */
  pointAt(delay: DelayChoice): ChosenPoint {
    const sized = this.#sized;
    if (delay !== "own") return { ...pointAt(this.curve, delay), cuMs: sized === undefined ? undefined : pointAt(sized, delay).activeMs };
    const { own } = this.#reading;
    if (own === undefined) throw new Error("the computes have no delays of their own");
    return { delay, ...own, coldStartsPerDay: (own.coldStarts * DAY) / this.curve.periodMs };
  }

  figuresAt(delay: DelayChoice): PointFigures {
    return this.#figures(this.pointAt(delay));
  }

  /** One delay's figures by name. Throws a RangeError for a delay that there is not. */
  delay(delay: Delay) {
    const { firstStarts, requests } = this.curve;
    return {
      ...this.figuresAt(delay),
      first_starts: firstStarts,
      requests,
      // Where starts take no time, these would be the same figures again.
      with_latency: isInstant(this.#question.latency) ? null : this.#replay(delay),
      question: toldQuestion(this.#question),
      limits: this.#limits([delay]),
    };
  }

  /** Delays that a summary names: the present one, the best one, and the cheapest within the limits. */
  namedWithin({ maxColdPerDay, maxWaitP99Ms }: CurveLimits): readonly DelayChoice[] {
    const isLimited = maxColdPerDay !== undefined || maxWaitP99Ms !== undefined;
    const within = isLimited ? completed(this.search({ maxColdPerDay, maxWaitP99Ms })) : undefined;
    return inOrder([this.#question.present, this.#best.delay, ...(within === undefined ? [] : [within.delay])]);
  }

  summary({ maxColdPerDay, maxWaitP99Ms }: CurveLimits, withClients?: CurveSummary["with_clients"]): CurveSummary {
    const { costs } = this.#question;
    const { curve } = this;
    const [present, best] = [this.pointAt(this.#question.present), this.#best];
    const isLimited = maxColdPerDay !== undefined || maxWaitP99Ms !== undefined;
    const within = isLimited ? completed(this.search({ maxColdPerDay, maxWaitP99Ms })) : undefined;
    const named = this.namedWithin({ maxColdPerDay, maxWaitP99Ms });
    return {
      question: toldQuestion(this.#question),
      traffic: this.#told(),
      present: this.#figures(present),
      best: this.#figures(best),
      saving: savingOf(present, best, costs),
      clairvoyant: this.#bound(),
      never: this.figuresAt("never"),
      busy_s: curve.busyMs / SECOND,
      ...(isLimited ? { cheapest_within: within === undefined ? null : this.figuresAt(within.delay) } : {}),
      ...(maxColdPerDay === undefined ? {} : { max_cold_per_day: maxColdPerDay }),
      ...(maxWaitP99Ms === undefined ? {} : { max_wait_p99_ms: maxWaitP99Ms }),
      curve: inOrder([...SHOWN_DELAYS, ...named]).map((delay) => this.figuresAt(delay)),
      with_latency: isInstant(this.#question.latency) ? [] : named.map((delay) => this.#replay(delay)),
      ...(withClients === undefined ? {} : { with_clients: withClients }),
      ...(this.#reading.computes.length === 0 ? {} : { computes: this.#computes() }),
      limits: this.#limits(named, withClients?.clients),
    };
  }

  /** The delays that every summary replays, where starts take time. */
  get named(): readonly DelayChoice[] {
    return isInstant(this.#question.latency) ? [] : inOrder([this.#question.present, this.#best.delay]);
  }

  /**
   * The cheapest delay that keeps within the limits. What it replays on the way is kept, so that the summary need not wait for it. Tells how many
   * computes are done, of those of up to `MOST_ASKED` delays.
   */
  *search(limits: CurveLimits): Generator<number, CurvePoint | undefined> {
    const search = cheapestWithin(this.curve, limits);
    for (let [step, asked] = [search.next(), 0]; ; asked += 1) {
      if (step.done === true) return step.value;
      const delay = step.value;
      if (isInstant(this.#question.latency)) {
        step = search.next(0);
        continue;
      }
      for (const done of this.#replaying(delay)) yield asked * this.#traffic.computes.length + done;
      step = search.next(this.#replay(delay).wait_p99_ms);
    }
  }

  /** What would have to be replayed for these delays. */
  jobs(delays: readonly DelayChoice[]): ReplayJob[] {
    const question = this.#question;
    return delays.map((delay) => ({ policy: (delay === "own" ? ownDelays : fixed(delay)).name, question, seed: question.seed }));
  }

  /** Keeps what came of replays of these delays, so that who asks for them later need not wait. */
  keep(delays: readonly DelayChoice[], outcomes: readonly Outcome[]): void {
    for (const [index, delay] of delays.entries()) this.#keep(delay, outcomes[index] as Outcome);
  }

  /** Replays a delay that nobody has asked for yet; tells how many computes are done. */
  *#replaying(delay: DelayChoice): Generator<number> {
    if (this.#replayed.has(delay)) return;
    const work = { jobs: this.jobs([delay]), from: 0, to: this.#traffic.computes.length, fleetGaps: undefined };
    this.keep([delay], yield* replayComputes(this.#traffic, work, () => this.#chance));
  }

  /** Active seconds of the days, replayed. */
  days(delays: readonly DelayChoice[]): ReadonlyMap<DelayChoice, readonly number[]> {
    for (const delay of delays) this.#replay(delay);
    return this.#days;
  }

  #figures(point: ChosenPoint): PointFigures {
    const { requests, firstStarts } = this.curve;
    return pointFigures(point, this.#question.costs, { startMs: this.#startMs, requests, firstStarts });
  }

  #bound(): Omit<PointFigures, "delay_s"> {
    const { coldStartS } = this.#question.costs;
    const { gaps, sized } = this.#reading;
    const cuMs = sized === undefined ? undefined : clairvoyant(sized, coldStartS).activeMs;
    return withoutDelay(this.#figures({ ...clairvoyant(gaps, coldStartS), cuMs, delay: 0 }));
  }

  #replay(delay: DelayChoice): LatencyFigures {
    completed(this.#replaying(delay));
    return this.#replayed.get(delay) as LatencyFigures;
  }

  #keep(delay: DelayChoice, outcome: Outcome): void {
    const { latency, costs } = this.#question;
    const { startAt, endAt } = this.#traffic.period;
    const isBound = latency.kind === "fixed" && typeof delay === "number";
    this.#replayed.set(delay, {
      delay_s: delay,
      ...outcomeFigures(outcome, endAt - startAt, costs),
      cold_starts_least: isBound ? coldStartBounds(this.curve, delay, latency.ms).least : null,
      cold_starts_most: this.pointAt(delay).coldStarts,
    });
    this.#days.set(
      delay,
      [...outcome.activeByDay].map((ms) => ms / SECOND),
    );
  }

  #told(): ToldTraffic {
    const { firstStarts, requests } = this.curve;
    return toldTraffic(this.#traffic, firstStarts, requests);
  }

  #computes(): ComputeSummary[] {
    const { costs } = this.#question;
    const summaries = this.#reading.computes.map((reading) => computeSummary(reading, costs, this.#startMs));
    return summaries.sort((a, b) => b.gain_s - a.gain_s || (a.compute < b.compute ? -1 : 1));
  }

  #limits(delays: readonly DelayChoice[], clients: readonly string[] = []): Limits {
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
        BEHIND_THE_END,
      ],
    };
  }
}

function computeSummary(
  { compute, cu, requests, present, best, never, curve, clairvoyant: bound }: ComputeReading,
  fleetCosts: Costs,
  startMs: number,
): ComputeSummary {
  const costs = { ...fleetCosts, cu };
  const figures = (point: CurvePoint) => pointFigures(point, costs, { startMs, requests, firstStarts: 1 });
  const burden = (point: Pick<CurvePoint, "activeMs" | "coldStarts">) => burdenMs(point, costs.coldStartS) / SECOND;
  return {
    compute,
    cu,
    requests,
    present: figures(present),
    best: figures(best),
    never: figures(never),
    clairvoyant: withoutDelay(figures({ ...bound, delay: 0 })),
    curve: curve.map(figures),
    gain_s: burden(present) - burden(best),
    gain_of_never_s: burden(present) - burden(never),
  };
}

function withoutDelay({ delay_s: _, ...figures }: PointFigures): Omit<PointFigures, "delay_s"> {
  return figures;
}

function savingOf(present: ChosenPoint, best: ChosenPoint, costs: Costs) {
  const cuMs = present.cuMs === undefined || best.cuMs === undefined ? undefined : present.cuMs - best.cuMs;
  const saved = billOf({ activeMs: present.activeMs - best.activeMs, cuMs }, costs);
  return {
    cu_hours: saved.cuHours,
    cost: saved.cost ?? null,
    share: present.activeMs === 0 ? 0 : saved.cuHours / billOf(present, costs).cuHours,
    cold_starts: present.coldStarts - best.coldStarts,
  };
}

function completed<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

/** Each once, the computes' own before all, then the shortest first. */
function inOrder(delays: readonly DelayChoice[]): DelayChoice[] {
  return [...new Set(delays)].sort((a, b) => inSeconds(a) - inSeconds(b));
}

function inSeconds(delay: DelayChoice): number {
  if (delay === "own") return -1;
  return delay === "never" ? Number.POSITIVE_INFINITY : delay;
}
