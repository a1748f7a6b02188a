import { isoInstant } from "../../kernel/calendar.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { World } from "../../platform/world/world.ts";
import type { Expectation } from "../file/expectation.ts";
import type { Scenario } from "../file/scenario-schema.ts";
import { everyStep, type Step } from "../file/step-schema.ts";
import { lazyWakeup, runInParallel, type StepSequence, type Wakeup } from "./parallel.ts";
import { RunChecks } from "./run-checks.ts";
import { RunClock, type RunProgress } from "./run-clock.ts";
import { RunObservation } from "./run-observation.ts";
import { type PositionOf, type ReportFailure, RunResults } from "./run-results.ts";
import type { RunSoFar, RunWatcher } from "./run-watcher.ts";
import type { RecordingsBySource } from "./scenario-arrivals.ts";
import { actionOf, StepExecutor } from "./step-executor.ts";
import { arrivalStepOutcome } from "./step-mismatches.ts";
import { StepTimes } from "./step-times.ts";
import type { ScenarioTarget } from "./target.ts";
import type { RunFailure, StepResult, Verdict } from "./verdict.ts";
import { Watches } from "./watches.ts";

export type RunOptions = {
  readonly name: string;
  readonly file: string;
  readonly values: Verdict["values"];
  /** The command that repeats this run. */
  readonly repeat: string;
  readonly recordings: RecordingsBySource;
  /** The place in the file of a path in the scenario. */
  readonly positionOf?: PositionOf;
  /** Stops at the first failure. */
  readonly bail?: boolean;
  /** Called once, after the step or the part of an advance in which the run failed. */
  readonly onFirstFailure?: ((failure: RunFailure) => Promise<void>) | undefined;
  readonly onStep?: (step: StepResult) => void;
  readonly onProgress?: (progress: RunProgress) => void;
  readonly signal?: AbortSignal | undefined;
  readonly watcher?: RunWatcher | undefined;
  /** Lets the event loop handle other work, such as signals. */
  readonly yieldToEventLoop?: () => Promise<void>;
};

/** Steps that wait for nothing never yield on their own. */
const STEPS_PER_YIELD = 200;

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
  readonly #observation: RunObservation;
  readonly #watches: Watches;
  readonly #executor: StepExecutor;
  readonly #results: RunResults;
  readonly #checks: RunChecks;
  readonly #times: StepTimes;
  readonly #clock: RunClock;
  #current: RunSoFar["current"];
  #hasReportedFailure = false;

  constructor(scenario: Scenario, target: ScenarioTarget, options: RunOptions) {
    this.#scenario = scenario;
    this.#target = target;
    this.#options = options;
    this.#start = target.now();
    this.#times = new StepTimes(scenario.steps, this.#start);
    this.#observation = new RunObservation(scenario, target, this.#start);
    this.#results = new RunResults(scenario, target, this.#observation, options.positionOf);
    const fail: ReportFailure = (failure, expectation) => this.#results.fail(failure, expectation);
    const { expectations } = this.#results;
    this.#checks = new RunChecks(target, this.#observation, expectations, fail);
    this.#watches = new Watches(
      scenario,
      // A window cannot open before the start.
      (when) => Math.max(this.#start, this.#times.resolve(when)),
      (expectation, now) => this.#observation.measure(expectation, now),
      fail,
      expectations,
    );
    this.#executor = new StepExecutor(target, this.#observation, () => this.#clock.arrivals, options.signal);
    this.#clock = new RunClock(
      ...([scenario, target, options, this.#times, this.#observation, this.#watches] as const),
      () => {
        this.#checks.invariants();
        return this.#afterAdvance();
      },
    );
  }

  async execute(): Promise<Verdict> {
    const { signal } = this.#options;
    const end = () => this.#clock.arrivals.end();
    signal?.addEventListener("abort", end, { once: true });
    try {
      this.#watches.checkAll(this.#start);
      const sequence = this.#runSteps(this.#scenario.steps, "");
      for (let next = await sequence.next(); next.done !== true; next = await sequence.next())
        await this.#clock.advanceToWakeup(next.value);
      const { length } = this.#scenario;
      if (length !== undefined) {
        this.#failIfPast(this.#start + length, "length", "ends the run");
        await this.#clock.runUntil(this.#start + length);
      }
      this.#watches.openWindowsAt(this.#now());
      this.#watches.checkAll(this.#now());
      this.#checks.expectations(this.#scenario.expect, "expect");
      this.#checks.invariants();
      await this.#checks.state(this.#scenario.state);
      this.#checks.failedTest(this.#scenario.failed);
      await this.#reportFirstFailure();
      this.#options.watcher?.ended(this.#soFar());
    } catch (error) {
      if (!(error instanceof StoppedAtFailure)) throw error;
    } finally {
      signal?.removeEventListener("abort", end);
    }
    return this.#results.verdict(this.#start, this.#options);
  }

  async *#runSteps(steps: readonly Step[], prefix: string, round?: number): StepSequence {
    let previousEnd = this.#now();
    for (const [index, step] of steps.entries()) {
      const place = `${prefix}${index + 1}`;
      const name = step.name ?? actionOf(step);
      this.#current = { place, name };
      await this.#reached("step");
      const failuresBefore = this.#results.failures.length;
      const wakeup = lazyWakeup(
        () => this.#times.startOf(step, previousEnd),
        () =>
          step.activity === undefined
            ? undefined
            : {
                activity: this.#executor.activityFor(step.activity, round),
                step: `step ${place}: activity`,
              },
      );
      this.#failIfPast(wakeup.at, `step ${place}`, "begins");
      yield wakeup;
      this.#clock.forwardEvents();
      const detail = yield* this.#runStep(step, place, round);
      this.#clock.forwardEvents();
      previousEnd = this.#now();
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
      await this.#reportFirstFailure();
      this.#throwIfStopping();
      if (this.#results.steps.length % STEPS_PER_YIELD === 0) await this.#options.yieldToEventLoop?.();
      this.#options.signal?.throwIfAborted();
    }
  }

  async *#runStep(
    step: Step,
    place: string,
    enclosingRound: number | undefined,
  ): AsyncGenerator<Wakeup, string | undefined, void> {
    if (step.repeat !== undefined) {
      for (let round = 1; round <= step.repeat.times; round += 1) {
        const roundStart = this.#now();
        yield* this.#runSteps(step.repeat.steps, `${place}.${round}.`, round);
        if (step.repeat.every !== undefined && round < step.repeat.times)
          yield { at: roundStart + step.repeat.every };
      }
      return `${step.repeat.times} times`;
    }
    if (step.parallel !== undefined) {
      // In the next round, steps wait again for steps that ended in the previous one.
      for (const inner of everyStep(step.parallel.flat())) this.#times.forget(inner);
      yield* runInParallel(
        step.parallel.map((steps, sequence) =>
          this.#runSteps(steps, `${place}.${sequence + 1}.`, enclosingRound),
        ),
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
        ? yield* this.#executor.execute(step, place, enclosingRound)
        : arrivalStepOutcome(step.activity, this.#clock.arrivals.outcome);
    this.#clock.forwardEvents();
    for (const failure of failures)
      this.#results.fail({ what: `step ${place}`, at: isoInstant(this.#now()), ...failure }, undefined);
    if (isRestored) this.#clock.restored();
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

  #now(): SimTime {
    return this.#target.now();
  }

  async #afterAdvance(): Promise<void> {
    await this.#reportFirstFailure();
    this.#throwIfStopping();
    await this.#reached("advance");
  }

  async #reportFirstFailure(): Promise<void> {
    const [first] = this.#results.failures;
    if (first === undefined || this.#hasReportedFailure) return;
    this.#hasReportedFailure = true;
    await this.#options.onFirstFailure?.(first);
  }

  #reached(point: "step" | "advance"): Promise<void> | undefined {
    return this.#options.watcher?.reached(point, this.#soFar());
  }

  #soFar(): RunSoFar {
    const { steps, failures, expectations } = this.#results;
    const { positionOf = () => ({}) } = this.#options;
    return {
      ...{ now: this.#now(), current: this.#current, steps, failures },
      expectations: () => expectations.all(positionOf),
    };
  }

  // Between steps only: a failure may occur in the middle of a transaction.
  #throwIfStopping(): void {
    if (this.#options.bail === true && this.#results.failures.length > 0) throw new StoppedAtFailure();
  }
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
