import type { Random } from "../../../kernel/random-port.ts";
import { runToEnd } from "../../../kernel/run-to-end.ts";
import { SECOND } from "../../../kernel/time.ts";
import { type Curve, coldStartBounds } from "../../gap-curve/curve.ts";
import type { DelayChoice } from "../../gap-curve/delay.ts";
import type { Question } from "../../input/question.ts";
import { type ReplayJob, replayComputes } from "../../input/replay-jobs.ts";
import { fixed, ownDelays } from "../../policies/fixed.ts";
import { outcomeFigures } from "../../replay/figures.ts";
import type { ReplayOutcome } from "../../replay/replay-outcome.ts";
import { type ComputeDistributions, distributionsOf } from "../../replay/starts-by-compute.ts";
import type { Traffic } from "../../trace/traffic.ts";
import type { LatencyFigures } from "./curve-summary.ts";

/** Replays of delays, each done once. */
export class DelayReplays {
  readonly #traffic: Traffic;
  readonly #question: Question;
  readonly #random: Random;
  readonly #curve: Curve;
  readonly #mostColdStarts: (delay: DelayChoice) => number;
  readonly #figures = new Map<DelayChoice, LatencyFigures>();
  readonly #overComputes = new Map<DelayChoice, ComputeDistributions>();
  readonly #activeSecondsByDay = new Map<DelayChoice, readonly number[]>();

  /** `mostColdStarts`: cold starts on the curve. */
  constructor(
    traffic: Traffic,
    question: Question,
    random: Random,
    curve: Curve,
    mostColdStarts: (delay: DelayChoice) => number,
  ) {
    this.#traffic = traffic;
    this.#question = question;
    this.#random = random;
    this.#curve = curve;
    this.#mostColdStarts = mostColdStarts;
  }

  get delays(): DelayChoice[] {
    return [...this.#figures.keys()];
  }

  /** Stored figures; undefined if the delay was not replayed. */
  stored(delay: DelayChoice): LatencyFigures | undefined {
    return this.#figures.get(delay);
  }

  /** Figures of a delay, which is replayed first if necessary. */
  figures(delay: DelayChoice): LatencyFigures {
    runToEnd(this.replayMissing(delay));
    return this.#figures.get(delay) as LatencyFigures;
  }

  /** Distributions over the computes; undefined if the delay was not replayed. */
  overComputes(delay: DelayChoice): ComputeDistributions | undefined {
    return this.#overComputes.get(delay);
  }

  /** Active seconds by day of all replayed delays. */
  get activeSecondsByDay(): ReadonlyMap<DelayChoice, readonly number[]> {
    return this.#activeSecondsByDay;
  }

  /** The replays that these delays take. */
  jobs(delays: readonly DelayChoice[]): ReplayJob[] {
    const question = this.#question;
    return delays.map((delay) => ({
      policy: (delay === "own" ? ownDelays : fixed(delay)).name,
      question,
      seed: question.seed,
      byCompute: true,
    }));
  }

  /** Stores outcomes of replays, in the order of the delays. */
  storeOutcomes(delays: readonly DelayChoice[], outcomes: readonly ReplayOutcome[]): void {
    for (const [index, delay] of delays.entries()) this.#store(delay, outcomes[index] as ReplayOutcome);
  }

  /** Replays a delay unless its outcome is stored. Yields the number of computes done. */
  *replayMissing(delay: DelayChoice): Generator<number> {
    if (this.#figures.has(delay)) return;
    const work = {
      jobs: this.jobs([delay]),
      from: 0,
      to: this.#traffic.computes.length,
      fleetGaps: undefined,
    };
    this.storeOutcomes([delay], yield* replayComputes(this.#traffic, work, () => this.#random));
  }

  #store(delay: DelayChoice, outcome: ReplayOutcome): void {
    const { latency } = this.#question;
    const { startAt, endAt } = this.#traffic.period;
    const isBound = latency.kind === "fixed" && typeof delay === "number";
    this.#figures.set(delay, {
      delay_s: delay,
      ...outcomeFigures(outcome, endAt - startAt, this.#question.costs),
      cold_starts_least: isBound ? coldStartBounds(this.#curve, delay, latency.ms).least : null,
      cold_starts_most: this.#mostColdStarts(delay),
    });
    if (outcome.byCompute !== undefined) this.#overComputes.set(delay, distributionsOf(outcome.byCompute));
    this.#activeSecondsByDay.set(
      delay,
      [...outcome.activeByDay].map((ms) => ms / SECOND),
    );
  }
}
