import { isoInstant } from "../../platform/core/calendar.ts";
import { type DurationMs, HOUR, type SimTime } from "../../platform/core/time.ts";
import type { World } from "../../platform/core/world.ts";
import type { Expectation } from "../file/expectation.ts";
import { everyStep, type Scenario, type Step } from "../file/scenario-schema.ts";
import { RunMetrics } from "../measure/metrics.ts";
import { lazyWakeup, runInParallel, type StepSequence, type Wakeup } from "./parallel.ts";
import { RunChecks } from "./run-checks.ts";
import { type ReportFailure, RunResults } from "./run-results.ts";
import { type RecordingsBySource, ScenarioArrivals } from "./scenario-arrivals.ts";
import { actionOf, StepExecutor } from "./step-executor.ts";
import { StepTimes } from "./step-times.ts";
import type { ScenarioTarget } from "./target.ts";
import type { StepResult, Verdict } from "./verdict.ts";
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
  readonly #metrics: RunMetrics;
  readonly #watches: Watches;
  readonly #executor: StepExecutor;
  readonly #results: RunResults;
  readonly #checks: RunChecks;
  readonly #times: StepTimes;
  #arrivals: ScenarioArrivals;

  constructor(scenario: Scenario, target: ScenarioTarget, options: RunOptions) {
    this.#scenario = scenario;
    this.#target = target;
    this.#options = options;
    this.#start = target.now();
    this.#times = new StepTimes(scenario.steps, this.#start);
    this.#metrics = new RunMetrics(target.world(), target.labels, this.#start);
    this.#results = new RunResults(target, this.#metrics);
    const fail: ReportFailure = (failure, expectation) => this.#results.fail(failure, expectation);
    this.#checks = new RunChecks(target, this.#metrics, fail);
    this.#watches = new Watches(
      scenario,
      // A window cannot open before the start.
      (when) => Math.max(this.#start, this.#times.resolve(when)),
      (expectation, now) => this.#checks.measure(expectation, now),
      fail,
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
      this.#checks.expectations(this.#scenario.expect, "expect");
      this.#checks.invariants();
      await this.#checks.state(this.#scenario.state);
    } catch (error) {
      if (!(error instanceof StoppedAtFailure)) throw error;
    } finally {
      signal?.removeEventListener("abort", end);
    }
    return this.#results.verdict(this.#scenario.world.seed, this.#start, this.#options);
  }

  async *#runSteps(steps: readonly Step[], prefix: string): StepSequence {
    let previousEnd = this.#now();
    for (const [index, step] of steps.entries()) {
      const place = `${prefix}${index + 1}`;
      const failuresBefore = this.#results.failures.length;
      const wakeup = lazyWakeup(
        () => this.#times.startOf(step, previousEnd),
        () => (step.activity === undefined ? undefined : this.#executor.activityFor(step.activity)),
      );
      this.#failIfPast(wakeup.at, `step ${place}`, "begins");
      yield wakeup;
      this.#forwardEvents();
      const detail = yield* this.#runStep(step, place);
      this.#forwardEvents();
      previousEnd = this.#now();
      const name = step.name ?? actionOf(step);
      this.#times.ended(step, previousEnd);
      const result = {
        place,
        name,
        at: isoInstant(previousEnd),
        ok: this.#results.failures.length === failuresBefore,
        ...(detail === undefined ? {} : { detail }),
      };
      this.#results.steps.push(result);
      this.#options.onStep?.(result);
      this.#watches.checkAll(previousEnd);
      this.#checks.invariants();
      this.#throwIfStopping();
      if (this.#results.steps.length % STEPS_PER_YIELD === 0) await this.#options.yieldToEventLoop?.();
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
      for (const inner of everyStep(step.parallel.flat())) this.#times.forget(inner);
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
      this.#checks.expectations(step.expect, `step ${place}`);
      return namesOf(step.expect);
    }
    const { detail, failures, isRestored } =
      step.activity === undefined
        ? yield* this.#executor.execute(step)
        : this.#executor.checkArrival(step.activity, this.#arrivals.outcome);
    this.#forwardEvents();
    for (const failure of failures)
      this.#results.fail({ what: `step ${place}`, at: isoInstant(this.#now()), ...failure }, undefined);
    if (isRestored) this.#arrivals = this.#createArrivals(this.#now());
    return detail;
  }

  async *#advance(advance: NonNullable<Step["advance"]>, what: string): AsyncGenerator<Wakeup, string, void> {
    if (typeof advance === "number") {
      yield { at: this.#now() + advance };
    } else if ("to" in advance) {
      this.#failIfPast(this.#times.resolve(advance.to), what, "advances");
      yield { at: this.#times.resolve(advance.to) };
    } else {
      const latest = this.#now() + advance.within;
      for (
        let due = nextOperationEnd(this.#target.world());
        due !== undefined && due <= latest;
        due = nextOperationEnd(this.#target.world())
      )
        yield { at: due };
      if (nextOperationEnd(this.#target.world()) !== undefined) {
        this.#results.fail(
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

  /** Fails when a planned time is already in the past. */
  #failIfPast(at: SimTime, what: string, action: string): void {
    const now = this.#now();
    if (at >= now) return;
    this.#results.fail(
      {
        what,
        at: isoInstant(now),
        expected: `${what} ${action} at ${isoInstant(at)}`,
        actual: `the clock is already at ${isoInstant(now)}`,
      },
      undefined,
    );
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
      this.#checks.invariants();
      this.#throwIfStopping();
      this.#options.onProgress?.({
        now: at,
        start: this.#start,
        end: plannedEnd(this.#start, this.#scenario.length),
        events: this.#metrics.events,
      });
    }
  }

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
        end: plannedEnd(this.#start, this.#scenario.length),
        world: () => this.#target.world(),
        recordings: this.#options.recordings,
        instant: (when) => this.#times.resolve(when),
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

  #now(): SimTime {
    return this.#target.now();
  }

  // Between steps only: a failure may occur in the middle of a transaction.
  #throwIfStopping(): void {
    if (this.#options.bail === true && this.#results.failures.length > 0) throw new StoppedAtFailure();
  }
}

function plannedEnd(start: SimTime, length: DurationMs | undefined): SimTime | undefined {
  return length === undefined ? undefined : start + length;
}

/** When the next running operation ends. */
function nextOperationEnd({ operations }: World): SimTime | undefined {
  let next: SimTime | undefined;
  for (const { state } of operations.values()) {
    if (state.status === "running" && (next === undefined || state.dueAt < next)) next = state.dueAt;
  }
  return next;
}

function namesOf(expectations: readonly Expectation[]): string {
  return expectations.map(({ measure, of }) => `${measure}${of === undefined ? "" : ` of ${of}`}`).join(", ");
}
