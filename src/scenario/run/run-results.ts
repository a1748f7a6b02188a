import { isoInstant } from "../../kernel/calendar.ts";
import type { SimTime } from "../../kernel/time.ts";
import { everyExpectation } from "../file/every-expectation.ts";
import type { Expectation, MeasureName } from "../file/expectation.ts";
import { failurePath } from "../file/failure-path.ts";
import type { Scenario } from "../file/scenario-schema.ts";
import { ExpectationResults } from "./expectation-results.ts";
import type { RunObservation } from "./run-observation.ts";
import type { ScenarioTarget } from "./target.ts";
import type { FailedCondition, FilePosition, RunFailure, StepResult, Verdict } from "./verdict.ts";

export type ReportFailure = (failure: FailedCondition, expectation: Expectation | undefined) => void;
/** The place in the file of a path in the scenario. */
export type PositionOf = (path: readonly (string | number)[]) => FilePosition;

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

/** Collects the steps, expectations and failures of a run. Create it before the first step. */
export class RunResults {
  readonly steps: StepResult[] = [];
  readonly failures: RunFailure[] = [];
  readonly expectations: ExpectationResults;
  readonly #scenario: Scenario;
  readonly #target: ScenarioTarget;
  readonly #observation: RunObservation;
  readonly #positionOf: PositionOf;
  /** Computes of the target that do not belong to the scenario. */
  readonly #preexistingComputes: ReadonlySet<string>;

  constructor(
    scenario: Scenario,
    target: ScenarioTarget,
    observation: RunObservation,
    positionOf: PositionOf = () => ({}),
  ) {
    this.#scenario = scenario;
    this.#target = target;
    this.#observation = observation;
    this.#positionOf = positionOf;
    this.expectations = new ExpectationResults(everyExpectation(scenario));
    const computes = [...target.world().computes.values()].map(({ id }) => id);
    this.#preexistingComputes = new Set(computes.filter((id) => target.labels.labelOf(id) === id));
  }

  /** Adds a failure with its place in the file, what broke the expectation, and the cause. */
  fail(failure: FailedCondition, expectation: Expectation | undefined): void {
    const path = failurePath(failure.what, this.#scenario.steps);
    const name = expectation && this.expectations.nameOf(expectation);
    this.failures.push({
      ...failure,
      ...(name === undefined ? {} : { expectation: name }),
      ...(path === undefined ? {} : this.#positionOf(path)),
      ...this.#observation.explain(expectation),
    });
  }

  async verdict(
    start: SimTime,
    { name, file, values, repeat }: Pick<Verdict, "file" | "values" | "repeat"> & { readonly name: string },
  ): Promise<Verdict> {
    const now = this.#target.now();
    const { metrics, history } = this.#observation;
    const timelines = metrics
      .timelines(now, TIMELINE_COLUMNS)
      .filter(({ label }) => !this.#preexistingComputes.has(label));
    const measures = SUMMARY_MEASURES.map((measure) => [
      measure,
      Number(metrics.measure(measure, undefined, {}, now)),
    ]);
    return {
      ...{ scenario: name, file, values, seed: this.#scenario.world.seed },
      verdict: this.failures.length === 0 ? "passed" : "failed",
      started_at: isoInstant(start),
      ended_at: isoInstant(now),
      steps: this.steps,
      failures: this.failures,
      expectations: this.expectations.all(this.#positionOf),
      measures: Object.fromEntries(measures),
      timelines: timelines.slice(0, MAX_TIMELINES),
      timelines_left_out: Math.max(0, timelines.length - MAX_TIMELINES),
      operations: history.operations,
      operations_left_out: history.operationsLeftOut,
      faults: history.faults,
      faults_left_out: history.faultsLeftOut,
      events: metrics.events,
      state: await this.#target.digest(),
      repeat,
    };
  }
}
