import { isoInstant } from "../../platform/core/calendar.ts";
import { HOUR, type SimTime } from "../../platform/core/time.ts";
import { checkInvariants } from "../../simulation/invariants.ts";
import {
  describeExpectation,
  type Expectation,
  formatMeasurement,
  type MeasureName,
  meetsExpectation,
} from "../file/expectation.ts";
import { everyStep, type Scenario, type Step } from "../file/scenario-schema.ts";
import { RunMetrics } from "../measure/metrics.ts";
import { describeEvents } from "./describe-events.ts";
import { runInParallel, type StepSequence, stepDependencies, type Wakeup } from "./parallel.ts";
import { type RecordingsBySource, ScenarioArrivals } from "./scenario-arrivals.ts";
import { actionOf, StepExecutor } from "./step-executor.ts";
import type { ScenarioTarget } from "./target.ts";
import type { RunFailure, StepResult, Verdict } from "./verdict.ts";
import { Watches } from "./watches.ts";

export type RunProgress = {
  readonly now: SimTime;
  readonly start: SimTime;
  readonly end: SimTime | undefined;
  readonly events: number;
};

export type RunOptions = {
  readonly name: string;
  readonly file: string;
  readonly values: Verdict["values"];
  /** The command that repeats this run. */
  readonly repeat: string;
  readonly recordings: RecordingsBySource;
  /** Stops at the first failure. */
  readonly bail?: boolean;
  readonly onStep?: (step: StepResult) => void;
  readonly onProgress?: (progress: RunProgress) => void;
  readonly signal?: AbortSignal | undefined;
  /** Lets the event loop handle other work, such as signals. */
  readonly yieldToEventLoop?: () => Promise<void>;
};

/** Steps that wait for nothing never yield on their own. */
const STEPS_PER_YIELD = 200;

/** A long advance is split into this many parts; the invariants are checked after each. */
const INVARIANT_CHECKS_PER_ADVANCE = 50;
const MIN_ADVANCE_MS = HOUR;
const TIMELINE_COLUMNS = 240;
const MAX_TIMELINES = 50;
/** The measures of every verdict. */
const SUMMARY_MEASURES: readonly MeasureName[] = [
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

/**
 * Runs a scenario on a prepared target. Throws `CannotRunError` when the target lacks something that the
 * scenario needs.
 */
export async function runScenario(
  scenario: Scenario,
  target: ScenarioTarget,
  options: RunOptions,
): Promise<Verdict> {
  return new ScenarioRun(scenario, target, options).execute();
}

/** Unwinds a run that stops at its first failure. */
class StoppedAtFailure extends Error {}

class ScenarioRun {
  readonly #scenario: Scenario;
  readonly #target: ScenarioTarget;
  readonly #options: RunOptions;
  readonly #start: SimTime;
  /** Computes of the target that do not belong to the scenario. */
  readonly #preexistingComputes: ReadonlySet<string>;
  readonly #metrics: RunMetrics;
  readonly #watches: Watches;
  readonly #executor: StepExecutor;
  readonly #steps: StepResult[] = [];
  readonly #failures: RunFailure[] = [];
  readonly #dependencies: ReadonlyMap<Step, Step>;
  readonly #endTimes = new Map<Step, SimTime>();
  #arrivals: ScenarioArrivals;

  constructor(scenario: Scenario, target: ScenarioTarget, options: RunOptions) {
    this.#scenario = scenario;
    this.#target = target;
    this.#options = options;
    this.#start = target.now();
    this.#dependencies = stepDependencies(scenario.steps);
    const computes = [...target.world().computes.values()].map(({ id }) => id);
    this.#preexistingComputes = new Set(computes.filter((id) => target.labels.labelOf(id) === id));
    this.#metrics = new RunMetrics(target.world(), target.labels, this.#start);
    const measure = (expectation: Expectation, now: SimTime) => this.#measure(expectation, now);
    this.#watches = new Watches(
      scenario,
      // A window cannot open before the start.
      (when) => Math.max(this.#start, this.#resolveInstant(when)),
      measure,
      (failure, expectation) => this.#fail(failure, expectation),
    );
    this.#executor = new StepExecutor(target, this.#metrics, () => this.#arrivals);
    this.#arrivals = this.#createArrivals(undefined);
  }

  async execute(): Promise<Verdict> {
    const { signal } = this.#options;
    const end = () => this.#arrivals.end();
    signal?.addEventListener("abort", end, { once: true });
    try {
      this.#watches.checkAll(this.#start);
      const sequence = this.#runSteps(this.#scenario.steps, "");
      for (let next = await sequence.next(); next.done !== true; next = await sequence.next())
        await this.#advanceToWakeup(next.value);
      const { length } = this.#scenario;
      if (length !== undefined) {
        this.#failIfPast(this.#start + length, "length", "ends the run");
        await this.#runUntil(this.#start + length);
      }
      this.#watches.openWindowsAt(this.#now());
      this.#watches.checkAll(this.#now());
      this.#checkExpectations(this.#scenario.expect, "expect");
      this.#checkInvariants();
      await this.#checkState();
    } catch (error) {
      if (!(error instanceof StoppedAtFailure)) throw error;
    } finally {
      signal?.removeEventListener("abort", end);
    }
    return this.#verdict();
  }

  async *#runSteps(steps: readonly Step[], prefix: string): StepSequence {
    let previousEnd = this.#now();
    for (const [index, step] of steps.entries()) {
      const place = `${prefix}${index + 1}`;
      const failuresBefore = this.#failures.length;
      const wakeup = this.#wakeupFor(step, previousEnd);
      this.#failIfPast(wakeup.at, `step ${place}`, "begins");
      yield wakeup;
      this.#forwardEvents();
      const detail = yield* this.#runStep(step, place);
      this.#forwardEvents();
      previousEnd = this.#now();
      const name = step.name ?? actionOf(step);
      this.#endTimes.set(step, previousEnd);
      const result = {
        place,
        name,
        at: isoInstant(previousEnd),
        ok: this.#failures.length === failuresBefore,
        ...(detail === undefined ? {} : { detail }),
      };
      this.#steps.push(result);
      this.#options.onStep?.(result);
      this.#watches.checkAll(previousEnd);
      this.#checkInvariants();
      this.#throwIfStopping();
      if (this.#steps.length % STEPS_PER_YIELD === 0) await this.#options.yieldToEventLoop?.();
      this.#options.signal?.throwIfAborted();
    }
  }

  async *#runStep(step: Step, place: string): AsyncGenerator<Wakeup, string | undefined, void> {
    if (step.repeat !== undefined) {
      for (let round = 1; round <= step.repeat.times; round += 1) {
        const roundStart = this.#now();
        yield* this.#runSteps(step.repeat.steps, `${place}.${round}.`);
        if (step.repeat.every !== undefined && round < step.repeat.times)
          yield { at: roundStart + step.repeat.every };
      }
      return `${step.repeat.times} times`;
    }
    if (step.parallel !== undefined) {
      // In the next round, steps wait again for steps that ended in the previous one.
      for (const inner of everyStep(step.parallel.flat())) this.#endTimes.delete(inner);
      yield* runInParallel(
        step.parallel.map((steps, sequence) => this.#runSteps(steps, `${place}.${sequence + 1}.`)),
      );
      return undefined;
    }
    if (step.advance !== undefined) return yield* this.#advance(step.advance, `step ${place}`);
    if (step.set?.clock !== undefined) {
      this.#failIfPast(step.set.clock, `step ${place}`, "sets the clock");
      yield { at: step.set.clock };
    }
    if (step.expect !== undefined) {
      this.#checkExpectations(step.expect, `step ${place}`);
      return step.expect
        .map(({ measure, of }) => `${measure}${of === undefined ? "" : ` of ${of}`}`)
        .join(", ");
    }
    const { detail, failures, isRestored } =
      step.activity === undefined
        ? yield* this.#executor.execute(step)
        : this.#executor.checkArrival(step.activity, this.#arrivals.outcome);
    this.#forwardEvents();
    for (const failure of failures)
      this.#fail({ what: `step ${place}`, at: isoInstant(this.#now()), ...failure }, undefined);
    if (isRestored) this.#arrivals = this.#createArrivals(this.#now());
    return detail;
  }

  async *#advance(advance: NonNullable<Step["advance"]>, what: string): AsyncGenerator<Wakeup, string, void> {
    if (typeof advance === "number") {
      yield { at: this.#now() + advance };
    } else if ("to" in advance) {
      this.#failIfPast(this.#resolveInstant(advance.to), what, "advances");
      yield { at: this.#resolveInstant(advance.to) };
    } else {
      const latest = this.#now() + advance.within;
      for (
        let due = this.#nextOperationEnd();
        due !== undefined && due <= latest;
        due = this.#nextOperationEnd()
      )
        yield { at: due };
      if (this.#nextOperationEnd() !== undefined) {
        this.#fail(
          {
            what,
            at: isoInstant(this.#now()),
            expected: "no operation is running",
            actual: `running operations: ${this.#target.world().operations.size}`,
          },
          undefined,
        );
      }
    }
    return isoInstant(this.#now());
  }

  /** When the next running operation ends. */
  #nextOperationEnd(): SimTime | undefined {
    let next: SimTime | undefined;
    for (const { state } of this.#target.world().operations.values()) {
      if (state.status === "running" && (next === undefined || state.dueAt < next)) next = state.dueAt;
    }
    return next;
  }

  #wakeupFor(step: Step, previousEnd: SimTime): Wakeup {
    const begin = () => this.#startOf(step, previousEnd);
    const arrival = () =>
      step.activity === undefined ? undefined : this.#executor.activityFor(step.activity);
    return {
      get at() {
        return begin();
      },
      get arrival() {
        return arrival();
      },
    };
  }

  /** Fails when a planned time is already in the past. */
  #failIfPast(at: SimTime, what: string, action: string): void {
    const now = this.#now();
    if (at >= now) return;
    this.#fail(
      {
        what,
        at: isoInstant(now),
        expected: `${what} ${action} at ${isoInstant(at)}`,
        actual: `the clock is already at ${isoInstant(now)}`,
      },
      undefined,
    );
  }

  #startOf(step: Step, previousEnd: SimTime): SimTime {
    if (step.at !== undefined) return this.#resolveInstant(step.at);
    if (step.after === undefined) return previousEnd;
    const dependency = this.#dependencies.get(step);
    // In a parallel sequence it may not have ended yet; its end is unknown until then.
    const end =
      dependency === undefined ? previousEnd : (this.#endTimes.get(dependency) ?? Number.POSITIVE_INFINITY);
    return end + step.after.delay;
  }

  #resolveInstant(when: NonNullable<Step["at"]>): SimTime {
    return "instant" in when ? when.instant : this.#start + when.afterStart;
  }

  async #advanceToWakeup({ at, arrival }: Wakeup): Promise<void> {
    this.#forwardEvents();
    const to = Math.max(at, this.#now());
    if (arrival !== undefined) this.#arrivals.inject(to, arrival);
    await this.#runUntil(to);
    // Arrivals at the current instant.
    if (this.#arrivals.at <= to) await this.#target.runUntil(this.#arrivals, to);
  }

  async #runUntil(to: SimTime): Promise<void> {
    const from = this.#now();
    const advanceMs = Math.max(MIN_ADVANCE_MS, Math.ceil((to - from) / INVARIANT_CHECKS_PER_ADVANCE));
    for (let at = from; at < to; ) {
      this.#options.signal?.throwIfAborted();
      this.#watches.openWindowsAt(at);
      at = Math.min(to, at + advanceMs, this.#watches.nextOpeningAfter(at));
      await this.#target.runUntil(this.#arrivals, at);
      this.#watches.advanceTo(at);
      this.#options.signal?.throwIfAborted();
      this.#checkInvariants();
      this.#throwIfStopping();
      this.#options.onProgress?.({
        now: at,
        start: this.#start,
        end: this.#plannedEnd(),
        events: this.#metrics.events,
      });
    }
  }

  /** Forwards the events that calls have caused. */
  #forwardEvents(): void {
    for (const event of this.#target.takeEvents()) this.#arrivals.observe(event);
  }

  #createArrivals(restoredTo: SimTime | undefined): ScenarioArrivals {
    return new ScenarioArrivals(
      this.#scenario.traffic,
      this.#target.labels,
      {
        seed: this.#scenario.world.seed,
        start: this.#start,
        restoredTo,
        end: this.#plannedEnd(),
        world: () => this.#target.world(),
        recordings: this.#options.recordings,
        instant: (when) => this.#resolveInstant(when),
      },
      {
        observe: (event) => {
          this.#watches.before(event);
          this.#metrics.observe(event);
          // The world applies a whole decision before it reports the first event of it.
          this.#watches.after(event, event.seq === this.#target.world().seq);
        },
        refused: (endpointId, at) => {
          this.#metrics.refused(endpointId);
          this.#watches.refused(at);
        },
      },
    );
  }

  #plannedEnd(): SimTime | undefined {
    return this.#scenario.length === undefined ? undefined : this.#start + this.#scenario.length;
  }

  #now(): SimTime {
    return this.#target.now();
  }

  /** Throws between steps only; a failure may occur in the middle of a transaction. */
  #throwIfStopping(): void {
    if (this.#options.bail === true && this.#failures.length > 0) throw new StoppedAtFailure();
  }

  #measure({ measure, of, where }: Expectation, now: SimTime): number | string {
    return this.#metrics.measure(measure, of, where, now);
  }

  #checkExpectations(expectations: readonly Expectation[], what: string): void {
    for (const [index, expectation] of expectations.entries()) {
      const now = this.#now();
      const actual = this.#measure(expectation, now);
      if (meetsExpectation(actual, expectation.expected)) continue;
      this.#fail(
        {
          what: `${what}${expectations.length === 1 ? "" : `, expectation ${index + 1}`}`,
          at: isoInstant(now),
          expected: describeExpectation(expectation),
          actual: formatMeasurement(expectation.measure, actual),
        },
        expectation,
      );
    }
  }

  async #checkState(): Promise<void> {
    const { state } = this.#scenario;
    const actual = state === undefined ? undefined : await this.#target.digest();
    if (state === actual) return;
    this.#fail(
      {
        what: "state",
        at: isoInstant(this.#now()),
        expected: `state ${state}`,
        actual: `state ${actual}`,
      },
      undefined,
    );
  }

  #checkInvariants(): void {
    const { violations } = checkInvariants(this.#target.world(), this.#now());
    for (const { invariant, message } of violations) {
      this.#fail(
        { what: "invariant", at: isoInstant(this.#now()), expected: invariant, actual: message },
        undefined,
      );
    }
  }

  #fail(failure: Omit<RunFailure, "events">, expectation: Expectation | undefined): void {
    const id =
      expectation?.of === undefined ? undefined : this.#metrics.idOf(expectation.measure, expectation.of);
    this.#failures.push({
      ...failure,
      events: describeEvents(this.#metrics.recentEvents(id), this.#target.labels),
    });
  }

  async #verdict(): Promise<Verdict> {
    const now = this.#now();
    const { name, file, values, repeat } = this.#options;
    const timelines = this.#metrics
      .timelines(now, TIMELINE_COLUMNS)
      .filter(({ label }) => !this.#preexistingComputes.has(label));
    return {
      ...{ scenario: name, file, values, seed: this.#scenario.world.seed },
      verdict: this.#failures.length === 0 ? "passed" : "failed",
      started_at: isoInstant(this.#start),
      ended_at: isoInstant(now),
      steps: this.#steps,
      failures: this.#failures,
      measures: Object.fromEntries(
        SUMMARY_MEASURES.map((measure) => [
          measure,
          Number(this.#metrics.measure(measure, undefined, {}, now)),
        ]),
      ),
      timelines: timelines.slice(0, MAX_TIMELINES),
      timelines_left_out: Math.max(0, timelines.length - MAX_TIMELINES),
      events: this.#metrics.events,
      state: await this.#target.digest(),
      repeat,
    };
  }
}
