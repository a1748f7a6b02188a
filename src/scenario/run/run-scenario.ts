import { isoInstant } from "../../platform/core/calendar.ts";
import { HOUR, type SimTime } from "../../platform/core/time.ts";
import { checkInvariants } from "../../simulation/invariants.ts";
import { describeWanted, type Expectation, isWanted, type MeasureName, showMeasured } from "../file/expectation.ts";
import { everyStep, type Scenario, type Step } from "../file/scenario-schema.ts";
import { Observation } from "../measure/metrics.ts";
import { describeEvents } from "./describe-events.ts";
import { awaitedIn, beside, type Lane, type Wake } from "./parallel.ts";
import { type Recordings, TrafficFeed } from "./scenario-traffic.ts";
import { Actor, actionOf } from "./step-executor.ts";
import type { Stage } from "./target.ts";
import type { Failure, StepResult, Verdict } from "./verdict.ts";
import { Conditions } from "./watches.ts";

export type Progress = { readonly now: SimTime; readonly start: SimTime; readonly end: SimTime | undefined; readonly events: number };

export type RunOptions = {
  readonly name: string;
  readonly file: string;
  readonly values: Verdict["values"];
  /** The command that repeats this run. */
  readonly repeat: string;
  readonly recordings: Recordings;
  /** The first failure ends it. */
  readonly bail?: boolean;
  readonly onStep?: (step: StepResult) => void;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal | undefined;
  /** Lets others in, signals among them. */
  readonly breathe?: () => Promise<void>;
};

/** Steps that wait for nothing let nobody in by themselves. */
const STEPS_IN_A_BREATH = 200;

/** A long way is gone in so many parts, with all invariants checked after each. */
const PARTS = 50;
const SHORTEST_PART = HOUR;
const TIMELINE_COLUMNS = 240;
const MOST_TIMELINES = 50;
/** What a verdict tells of every run. */
const SUMMARY: readonly MeasureName[] = [
  "activities",
  "refused",
  "cold_starts",
  "starts",
  "suspends",
  "active_time",
  "compute_time",
  "wait_mean",
  "wait_p99",
  "wait_max",
  "requests",
  "errors",
];

/** Plays a scenario on a stage that is laid out for it. Throws `CannotPlay` where the stage cannot do what it says. */
export async function runScenario(scenario: Scenario, stage: Stage, options: RunOptions): Promise<Verdict> {
  return new Run(scenario, stage, options).play();
}

/** Ends a run from within. */
class Bailed extends Error {}

class Run {
  readonly #scenario: Scenario;
  readonly #stage: Stage;
  readonly #options: RunOptions;
  readonly #start: SimTime;
  /** Computes that were there before the scenario was laid out, on a double that has more than that. */
  readonly #others: ReadonlySet<string>;
  readonly #observation: Observation;
  readonly #conditions: Conditions;
  readonly #actor: Actor;
  readonly #steps: StepResult[] = [];
  readonly #failures: Failure[] = [];
  readonly #awaited: ReadonlyMap<Step, Step>;
  readonly #ends = new Map<Step, SimTime>();
  #feed: TrafficFeed;

  constructor(scenario: Scenario, stage: Stage, options: RunOptions) {
    this.#scenario = scenario;
    this.#stage = stage;
    this.#options = options;
    this.#start = stage.now();
    this.#awaited = awaitedIn(scenario.steps);
    const computes = [...stage.world().computes.values()].map(({ id }) => id);
    this.#others = new Set(computes.filter((id) => stage.labels.of(id) === id));
    this.#observation = new Observation(stage.world(), stage.labels, this.#start);
    const measure = (expectation: Expectation, now: SimTime) => this.#measure(expectation, now);
    this.#conditions = new Conditions(
      scenario,
      // Before the start there is nothing to be looked at.
      (when) => Math.max(this.#start, this.#instant(when)),
      measure,
      (failure, expectation) => this.#fail(failure, expectation),
    );
    this.#actor = new Actor(stage, this.#observation, () => this.#feed);
    this.#feed = this.#newFeed(undefined);
  }

  async play(): Promise<Verdict> {
    const { signal } = this.#options;
    const end = () => this.#feed.end();
    signal?.addEventListener("abort", end, { once: true });
    try {
      this.#conditions.check(this.#start);
      const lane = this.#lane(this.#scenario.steps, "");
      for (let next = await lane.next(); next.done !== true; next = await lane.next()) await this.#reach(next.value);
      const { length } = this.#scenario;
      if (length !== undefined) {
        this.#refusePast(this.#start + length, "length", "ends the run");
        await this.#playTo(this.#start + length);
      }
      this.#conditions.leave(this.#now());
      this.#conditions.check(this.#now());
      this.#checkAll(this.#scenario.expect, "expect");
      this.#checkInvariants();
      await this.#checkState();
    } catch (error) {
      if (!(error instanceof Bailed)) throw error;
    } finally {
      signal?.removeEventListener("abort", end);
    }
    return this.#verdict();
  }

  async *#lane(steps: readonly Step[], above: string): Lane {
    let last = this.#now();
    for (const [index, step] of steps.entries()) {
      const place = `${above}${index + 1}`;
      const from = this.#failures.length;
      const wake = this.#wakeOf(step, last);
      this.#refusePast(wake.at, `step ${place}`, "begins");
      yield wake;
      this.#observed();
      const detail = yield* this.#act(step, place);
      this.#observed();
      last = this.#now();
      const name = step.name ?? actionOf(step);
      this.#ends.set(step, last);
      const result = { place, name, at: isoInstant(last), ok: this.#failures.length === from, ...(detail === undefined ? {} : { detail }) };
      this.#steps.push(result);
      this.#options.onStep?.(result);
      this.#conditions.check(last);
      this.#checkInvariants();
      this.#bail();
      if (this.#steps.length % STEPS_IN_A_BREATH === 0) await this.#options.breathe?.();
      this.#options.signal?.throwIfAborted();
    }
  }

  async *#act(step: Step, place: string): AsyncGenerator<Wake, string | undefined, void> {
    if (step.repeat !== undefined) {
      for (let round = 1; round <= step.repeat.times; round += 1) {
        const begun = this.#now();
        yield* this.#lane(step.repeat.steps, `${place}.${round}.`);
        if (step.repeat.every !== undefined && round < step.repeat.times) yield { at: begun + step.repeat.every };
      }
      return `${step.repeat.times} times`;
    }
    if (step.parallel !== undefined) {
      // In a round that comes again, what ended in the one before is waited for anew.
      for (const inner of everyStep(step.parallel.flat())) this.#ends.delete(inner);
      yield* beside(step.parallel.map((steps, lane) => this.#lane(steps, `${place}.${lane + 1}.`)));
      return undefined;
    }
    if (step.advance !== undefined) return yield* this.#advance(step.advance, `step ${place}`);
    if (step.set?.clock !== undefined) {
      this.#refusePast(step.set.clock, `step ${place}`, "sets the clock");
      yield { at: step.set.clock };
    }
    if (step.expect !== undefined) {
      this.#checkAll(step.expect, `step ${place}`);
      return step.expect.map(({ measure, of }) => `${measure}${of === undefined ? "" : ` of ${of}`}`).join(", ");
    }
    const { detail, failures, isTakenBack } =
      step.activity === undefined ? yield* this.#actor.act(step) : this.#actor.judgeArrival(step.activity, this.#feed.outcome);
    this.#observed();
    for (const failure of failures) this.#fail({ what: `step ${place}`, at: isoInstant(this.#now()), ...failure }, undefined);
    if (isTakenBack) this.#feed = this.#newFeed(this.#now());
    return detail;
  }

  async *#advance(advance: NonNullable<Step["advance"]>, what: string): AsyncGenerator<Wake, string, void> {
    if (typeof advance === "number") {
      yield { at: this.#now() + advance };
    } else if ("to" in advance) {
      this.#refusePast(this.#instant(advance.to), what, "advances");
      yield { at: this.#instant(advance.to) };
    } else {
      const latest = this.#now() + advance.within;
      for (let due = this.#nextEnd(); due !== undefined && due <= latest; due = this.#nextEnd()) yield { at: due };
      if (this.#nextEnd() !== undefined) {
        this.#fail(
          {
            what,
            at: isoInstant(this.#now()),
            expected: "no operation under way",
            actual: `${this.#stage.world().operations.size} are`,
          },
          undefined,
        );
      }
    }
    return isoInstant(this.#now());
  }

  /** When the next of the operations under way ends. */
  #nextEnd(): SimTime | undefined {
    let next: SimTime | undefined;
    for (const { state } of this.#stage.world().operations.values()) {
      if (state.status === "running" && (next === undefined || state.dueAt < next)) next = state.dueAt;
    }
    return next;
  }

  #wakeOf(step: Step, last: SimTime): Wake {
    const begin = () => this.#beginOf(step, last);
    const arrival = () => (step.activity === undefined ? undefined : this.#actor.arrivalOf(step.activity));
    return {
      get at() {
        return begin();
      },
      get arrival() {
        return arrival();
      },
    };
  }

  /** The clock goes only forward: what should have been before now cannot be any more. */
  #refusePast(at: SimTime, what: string, does: string): void {
    const now = this.#now();
    if (at >= now) return;
    this.#fail(
      {
        what,
        at: isoInstant(now),
        expected: `${what} ${does} at ${isoInstant(at)}`,
        actual: `the clock stands at ${isoInstant(now)} already`,
      },
      undefined,
    );
  }

  #beginOf(step: Step, last: SimTime): SimTime {
    if (step.at !== undefined) return this.#instant(step.at);
    if (step.after === undefined) return last;
    const awaited = this.#awaited.get(step);
    // In another lane it may not have ended yet, and nobody knows when it will.
    const end = awaited === undefined ? last : (this.#ends.get(awaited) ?? Number.POSITIVE_INFINITY);
    return end + step.after.delay;
  }

  #instant(when: NonNullable<Step["at"]>): SimTime {
    return "instant" in when ? when.instant : this.#start + when.afterStart;
  }

  async #reach({ at, arrival }: Wake): Promise<void> {
    this.#observed();
    const to = Math.max(at, this.#now());
    if (arrival !== undefined) this.#feed.inject(to, arrival);
    await this.#playTo(to);
    // What arrives at the very instant at which the world stands.
    if (this.#feed.at <= to) await this.#stage.play(this.#feed, to);
  }

  async #playTo(to: SimTime): Promise<void> {
    const from = this.#now();
    const part = Math.max(SHORTEST_PART, Math.ceil((to - from) / PARTS));
    for (let at = from; at < to; ) {
      this.#options.signal?.throwIfAborted();
      this.#conditions.leave(at);
      at = Math.min(to, at + part, this.#conditions.nextFrom(at));
      await this.#stage.play(this.#feed, at);
      this.#conditions.reach(at);
      this.#options.signal?.throwIfAborted();
      this.#checkInvariants();
      this.#bail();
      this.#options.onProgress?.({ now: at, start: this.#start, end: this.#end(), events: this.#observation.events });
    }
  }

  /** What calls have brought about. */
  #observed(): void {
    for (const event of this.#stage.takeEvents()) this.#feed.observe(event);
  }

  #newFeed(takenBackTo: SimTime | undefined): TrafficFeed {
    return new TrafficFeed(
      this.#scenario.traffic,
      this.#stage.labels,
      {
        seed: this.#scenario.world.seed,
        start: this.#start,
        takenBackTo,
        end: this.#end(),
        world: () => this.#stage.world(),
        recordings: this.#options.recordings,
        instant: (when) => this.#instant(when),
      },
      {
        observe: (event) => {
          this.#conditions.before(event);
          this.#observation.observe(event);
          // A decision is folded in as a whole before any of it is told.
          this.#conditions.after(event, event.seq === this.#stage.world().seq);
        },
        refused: (endpointId, at) => {
          this.#observation.refused(endpointId);
          this.#conditions.refused(at);
        },
      },
    );
  }

  #end(): SimTime | undefined {
    return this.#scenario.length === undefined ? undefined : this.#start + this.#scenario.length;
  }

  #now(): SimTime {
    return this.#stage.now();
  }

  /** Not where it failed: that may be in the midst of a turn of the world. */
  #bail(): void {
    if (this.#options.bail === true && this.#failures.length > 0) throw new Bailed();
  }

  #measure({ measure, of, where }: Expectation, now: SimTime): number | string {
    return this.#observation.measure(measure, of, where, now);
  }

  #checkAll(expectations: readonly Expectation[], what: string): void {
    for (const [index, expectation] of expectations.entries()) {
      const now = this.#now();
      const actual = this.#measure(expectation, now);
      if (isWanted(actual, expectation.wanted)) continue;
      this.#fail(
        {
          what: `${what}${expectations.length === 1 ? "" : `, number ${index + 1}`}`,
          at: isoInstant(now),
          expected: describeWanted(expectation),
          actual: showMeasured(expectation.measure, actual),
        },
        expectation,
      );
    }
  }

  async #checkState(): Promise<void> {
    const { state } = this.#scenario;
    const actual = state === undefined ? undefined : await this.#stage.digest();
    if (state === actual) return;
    this.#fail(
      { what: "state", at: isoInstant(this.#now()), expected: `a world of state ${state}`, actual: `one of state ${actual}` },
      undefined,
    );
  }

  #checkInvariants(): void {
    const { violations } = checkInvariants(this.#stage.world(), this.#now());
    for (const { invariant, message } of violations) {
      this.#fail({ what: "invariant", at: isoInstant(this.#now()), expected: invariant, actual: message }, undefined);
    }
  }

  #fail(failure: Omit<Failure, "events">, expectation: Expectation | undefined): void {
    const id = expectation?.of === undefined ? undefined : this.#observation.idOf(expectation.measure, expectation.of);
    this.#failures.push({ ...failure, events: describeEvents(this.#observation.newest(id), this.#stage.labels) });
  }

  async #verdict(): Promise<Verdict> {
    const now = this.#now();
    const { name, file, values, repeat } = this.#options;
    const timelines = this.#observation.timelines(now, TIMELINE_COLUMNS).filter(({ label }) => !this.#others.has(label));
    return {
      ...{ scenario: name, file, values, seed: this.#scenario.world.seed },
      verdict: this.#failures.length === 0 ? "passed" : "failed",
      started_at: isoInstant(this.#start),
      ended_at: isoInstant(now),
      steps: this.#steps,
      failures: this.#failures,
      measures: Object.fromEntries(SUMMARY.map((measure) => [measure, Number(this.#observation.measure(measure, undefined, {}, now))])),
      timelines: timelines.slice(0, MOST_TIMELINES),
      timelines_left_out: Math.max(0, timelines.length - MOST_TIMELINES),
      events: this.#observation.events,
      state: await this.#stage.digest(),
      repeat,
    };
  }
}
