import type { Chance } from "../../platform/chance.ts";
import { SECOND } from "../../platform/time.ts";
import { billOf, burdenMs, type Costs } from "../costs.ts";
import { type Curve, type CurvePoint, clairvoyant, coldStartBounds, curveOf, type Delay, pointAt } from "../curve.ts";
import type { Outcome } from "../outcome.ts";
import { bestDelay, cheapestWithin } from "../pick.ts";
import { fixed } from "../policies/fixed.ts";
import type { ComputeReading, CurveReading } from "./curve-reading.ts";
import type { SimulatedFigures } from "./curve-simulation.ts";
import { type OutcomeFigures, outcomeFigures, type PointFigures, pointFigures } from "./figures.ts";
import type { Limits } from "./page.ts";
import { isInstant, type Question, type ToldQuestion, toldQuestion } from "./question.ts";
import { type ReplayJob, replayComputes } from "./replays.ts";
import { BEHIND_THE_END, type ToldTraffic, toldTraffic } from "./told-traffic.ts";
import type { Traffic } from "./traffic.ts";

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
  readonly delay_s: Delay;
  readonly cold_starts_least: number | null;
  readonly cold_starts_most: number;
};

export type ComputeSummary = {
  readonly compute: string;
  readonly requests: number;
  readonly present: PointFigures;
  readonly best: PointFigures;
  readonly never: PointFigures;
  /** Burden that the best delay of its own would spare, in seconds of active time. */
  readonly gain_s: number;
  /** The same of never sleeping; negative where that costs more. */
  readonly gain_of_never_s: number;
  readonly clairvoyant_burden_s: number;
};

export type CurveLimits = { readonly maxColdPerDay?: number | undefined; readonly maxWaitP99Ms?: number | undefined };

const SHOWN_DELAYS: readonly Delay[] = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 86_400, 604_800, "never"];

/** Answers from the curve, and by replays of the delays that are named where starts take time. */
export class CurveAnswer {
  readonly curve: Curve;
  readonly #traffic: Traffic;
  readonly #question: Question;
  readonly #chance: Chance;
  readonly #reading: CurveReading;
  readonly #replayed = new Map<Delay, LatencyFigures>();
  readonly #best: CurvePoint;
  readonly #days = new Map<Delay, readonly number[]>();

  constructor(traffic: Traffic, reading: CurveReading, question: Question, chance: Chance) {
    this.#traffic = traffic;
    this.#reading = reading;
    this.#question = question;
    this.#chance = chance;
    this.curve = curveOf(reading.gaps);
    this.#best = bestDelay(this.curve, question.costs.coldStartS);
  }

  /** One delay's figures by name. Throws a RangeError for a delay that there is not. */
  delay(delay: Delay) {
    const { firstStarts, requests } = this.curve;
    return {
      ...this.#figures(pointAt(this.curve, delay)),
      first_starts: firstStarts,
      requests,
      // Where starts take no time, these would be the same figures again.
      with_latency: isInstant(this.#question.latency) ? null : this.#replay(delay),
      question: toldQuestion(this.#question),
      limits: this.#limits([delay]),
    };
  }

  /** Delays that a summary names: the present one, the best one, and the cheapest within the limits. */
  namedWithin({ maxColdPerDay, maxWaitP99Ms }: CurveLimits): readonly Delay[] {
    const isLimited = maxColdPerDay !== undefined || maxWaitP99Ms !== undefined;
    const within = isLimited ? completed(this.search({ maxColdPerDay, maxWaitP99Ms })) : undefined;
    return inOrder([this.#question.present, this.#best.delay, ...(within === undefined ? [] : [within.delay])]);
  }

  summary({ maxColdPerDay, maxWaitP99Ms }: CurveLimits, withClients?: CurveSummary["with_clients"]): CurveSummary {
    const { costs } = this.#question;
    const { curve } = this;
    const [present, best] = [pointAt(curve, this.#question.present), this.#best];
    const isLimited = maxColdPerDay !== undefined || maxWaitP99Ms !== undefined;
    const within = isLimited ? completed(this.search({ maxColdPerDay, maxWaitP99Ms })) : undefined;
    const named = this.namedWithin({ maxColdPerDay, maxWaitP99Ms });
    const { delay_s: _, ...bound } = this.#figures({ ...clairvoyant(this.#reading.gaps, costs.coldStartS), delay: 0 });
    return {
      question: toldQuestion(this.#question),
      traffic: this.#told(),
      present: this.#figures(present),
      best: this.#figures(best),
      saving: savingOf(present, best, costs),
      clairvoyant: bound,
      never: this.#figures(pointAt(curve, "never")),
      busy_s: curve.busyMs / SECOND,
      ...(isLimited ? { cheapest_within: within === undefined ? null : this.#figures(within) } : {}),
      ...(maxColdPerDay === undefined ? {} : { max_cold_per_day: maxColdPerDay }),
      ...(maxWaitP99Ms === undefined ? {} : { max_wait_p99_ms: maxWaitP99Ms }),
      curve: inOrder([...SHOWN_DELAYS, ...named]).map((delay) => this.#figures(pointAt(curve, delay))),
      with_latency: isInstant(this.#question.latency) ? [] : named.map((delay) => this.#replay(delay)),
      ...(withClients === undefined ? {} : { with_clients: withClients }),
      ...(this.#reading.computes.length === 0 ? {} : { computes: this.#computes() }),
      limits: this.#limits(named, withClients?.clients),
    };
  }

  /** The delays that every summary replays, where starts take time. */
  get named(): readonly Delay[] {
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
  jobs(delays: readonly Delay[]): ReplayJob[] {
    const question = this.#question;
    return delays.map((delay) => ({ policy: fixed(delay).name, question, seed: question.seed }));
  }

  /** Keeps what came of replays of these delays, so that who asks for them later need not wait. */
  keep(delays: readonly Delay[], outcomes: readonly Outcome[]): void {
    for (const [index, delay] of delays.entries()) this.#keep(delay, outcomes[index] as Outcome);
  }

  /** Replays a delay that nobody has asked for yet; tells how many computes are done. */
  *#replaying(delay: Delay): Generator<number> {
    if (this.#replayed.has(delay)) return;
    const work = { jobs: this.jobs([delay]), from: 0, to: this.#traffic.computes.length, fleetGaps: undefined };
    this.keep([delay], yield* replayComputes(this.#traffic, work, () => this.#chance));
  }

  /** Active seconds of the days, replayed. */
  days(delays: readonly Delay[]): ReadonlyMap<Delay, readonly number[]> {
    for (const delay of delays) this.#replay(delay);
    return this.#days;
  }

  #figures(point: CurvePoint): PointFigures {
    return pointFigures(point, this.#question.costs);
  }

  #replay(delay: Delay): LatencyFigures {
    completed(this.#replaying(delay));
    return this.#replayed.get(delay) as LatencyFigures;
  }

  #keep(delay: Delay, outcome: Outcome): void {
    const { latency, costs } = this.#question;
    const { startAt, endAt } = this.#traffic.period;
    const isBound = latency.kind === "fixed" && delay !== "never";
    this.#replayed.set(delay, {
      delay_s: delay,
      ...outcomeFigures(outcome, endAt - startAt, costs),
      cold_starts_least: isBound ? coldStartBounds(this.curve, delay, latency.ms).least : null,
      cold_starts_most: pointAt(this.curve, delay).coldStarts,
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
    const summaries = this.#reading.computes.map((reading) => computeSummary(reading, costs));
    return summaries.sort((a, b) => b.gain_s - a.gain_s || (a.compute < b.compute ? -1 : 1));
  }

  #limits(delays: readonly Delay[], clients: readonly string[] = []): Limits {
    const replayed = isInstant(this.#question.latency)
      ? []
      : [
          `Waits, and the figures with the start latency at ${delays.length === 1 ? "this delay" : "the delays named"}, are of a replay in which requests that meet a start wait for its end.`,
        ];
    return {
      exact: [
        "Cold starts and active time of every delay, for starts that take no time and requests that come when they came: counted from the gaps, nothing is estimated.",
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
        `All computes have ${this.#question.costs.cu} CU while they are active; storage, history and transfer are not in the cost.`,
        BEHIND_THE_END,
      ],
    };
  }
}

function computeSummary({ compute, requests, present, best, never, clairvoyant: bound }: ComputeReading, costs: Costs): ComputeSummary {
  const burden = (point: Pick<CurvePoint, "activeMs" | "coldStarts">) => burdenMs(point, costs.coldStartS) / SECOND;
  return {
    compute,
    requests,
    present: pointFigures(present, costs),
    best: pointFigures(best, costs),
    never: pointFigures(never, costs),
    gain_s: burden(present) - burden(best),
    gain_of_never_s: burden(present) - burden(never),
    clairvoyant_burden_s: burden(bound),
  };
}

function savingOf(present: CurvePoint, best: CurvePoint, costs: Costs) {
  const saved = billOf(present.activeMs - best.activeMs, costs);
  return {
    cu_hours: saved.cuHours,
    cost: saved.cost ?? null,
    share: present.activeMs === 0 ? 0 : (present.activeMs - best.activeMs) / present.activeMs,
    cold_starts: present.coldStarts - best.coldStarts,
  };
}

function completed<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done === true) return step.value;
}

/** Each once, the shortest first. */
function inOrder(delays: readonly Delay[]): Delay[] {
  return [...new Set(delays)].sort((a, b) => inSeconds(a) - inSeconds(b));
}

function inSeconds(delay: Delay): number {
  return delay === "never" ? Number.POSITIVE_INFINITY : delay;
}
