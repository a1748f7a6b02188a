import { isoInstant } from "../../platform/core/calendar.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { Expectation, MeasureName } from "../file/expectation.ts";
import type { RunMetrics } from "../measure/metrics.ts";
import { describeEvents } from "./describe-events.ts";
import type { ScenarioTarget } from "./target.ts";
import type { RunFailure, StepResult, Verdict } from "./verdict.ts";

export type ReportFailure = (
  failure: Omit<RunFailure, "events">,
  expectation: Expectation | undefined,
) => void;

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

/** Collects the steps and failures of a run. Create it before the first step. */
export class RunResults {
  readonly steps: StepResult[] = [];
  readonly failures: RunFailure[] = [];
  readonly #target: ScenarioTarget;
  readonly #metrics: RunMetrics;
  /** Computes of the target that do not belong to the scenario. */
  readonly #preexistingComputes: ReadonlySet<string>;

  constructor(target: ScenarioTarget, metrics: RunMetrics) {
    this.#target = target;
    this.#metrics = metrics;
    const computes = [...target.world().computes.values()].map(({ id }) => id);
    this.#preexistingComputes = new Set(computes.filter((id) => target.labels.labelOf(id) === id));
  }

  /** Adds a failure with the preceding events of the expectation's resource, or of the whole world. */
  fail(failure: Omit<RunFailure, "events">, expectation: Expectation | undefined): void {
    const id =
      expectation?.of === undefined ? undefined : this.#metrics.idOf(expectation.measure, expectation.of);
    const events = describeEvents(this.#metrics.recentEvents(id), this.#target.labels);
    this.failures.push({ ...failure, events });
  }

  async verdict(
    seed: number,
    start: SimTime,
    { name, file, values, repeat }: Pick<Verdict, "file" | "values" | "repeat"> & { readonly name: string },
  ): Promise<Verdict> {
    const now = this.#target.now();
    const timelines = this.#metrics
      .timelines(now, TIMELINE_COLUMNS)
      .filter(({ label }) => !this.#preexistingComputes.has(label));
    const measures = SUMMARY_MEASURES.map((measure) => [
      measure,
      Number(this.#metrics.measure(measure, undefined, {}, now)),
    ]);
    return {
      ...{ scenario: name, file, values, seed },
      verdict: this.failures.length === 0 ? "passed" : "failed",
      started_at: isoInstant(start),
      ended_at: isoInstant(now),
      steps: this.steps,
      failures: this.failures,
      measures: Object.fromEntries(measures),
      timelines: timelines.slice(0, MAX_TIMELINES),
      timelines_left_out: Math.max(0, timelines.length - MAX_TIMELINES),
      events: this.#metrics.events,
      state: await this.#target.digest(),
      repeat,
    };
  }
}
