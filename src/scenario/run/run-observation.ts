import { isoInstant } from "../../kernel/calendar.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { everyExpectation } from "../file/every-expectation.ts";
import type { Expectation } from "../file/expectation.ts";
import type { Scenario } from "../file/scenario-schema.ts";
import { EventCauses } from "../measure/event-causes.ts";
import { type QueuedArrivals, RunMetrics } from "../measure/metrics.ts";
import type { AnsweredRequest } from "../measure/request-counts.ts";
import { RunHistory } from "../measure/run-history.ts";
import { describeCauses, describeEvent } from "./describe-events.ts";
import { ExpectationChanges } from "./expectation-changes.ts";
import type { ScenarioTarget } from "./target.ts";
import type { RunFailure } from "./verdict.ts";

type Explained = Pick<RunFailure, "broken_by" | "last_change" | "caused_by">;

/** Observations of a run: its metrics, and their causes. Create it before the first step. */
export class RunObservation {
  readonly metrics: RunMetrics;
  readonly history: RunHistory;
  readonly #target: ScenarioTarget;
  readonly #causes = new EventCauses();
  readonly #changes: ExpectationChanges;
  /** The faults that hit the current call of a step. */
  #faultsOfCall: string[] = [];
  #call: string | undefined;

  constructor(scenario: Scenario, target: ScenarioTarget, start: SimTime) {
    this.#target = target;
    this.metrics = new RunMetrics(target.world(), target.labels, start);
    this.history = new RunHistory(target.labels);
    this.#changes = new ExpectationChanges(
      everyExpectation(scenario),
      start,
      (expectation, now) => this.measure(expectation, now),
      (endpointId, { measure, of }) => {
        const id = of === undefined ? undefined : this.metrics.idOf(measure, of);
        return id === undefined || this.metrics.isWithin(endpointId, id);
      },
    );
  }

  measure({ measure, of, where }: Expectation, now: SimTime): number | string {
    return this.metrics.measure(measure, of, where, now);
  }

  observe(event: RecordedEvent): void {
    this.metrics.observe(event);
    this.history.observe(event);
    const decision = this.#causes.observe(event);
    this.#changes.observe(event, decision);
    if (event.type === "FaultHit" && this.#call !== undefined)
      this.#faultsOfCall.push(describeEvent(event, this.#target.labels));
  }

  /** Events until `callEnded` are caused by this call of a step. */
  callStarted(call: string): void {
    this.#call = call;
    this.#faultsOfCall = [];
    this.#causes.callStarted(call);
  }

  /** Later events are caused by the clock. */
  callEnded(): void {
    this.#call = undefined;
    this.#causes.callStarted(undefined);
  }

  /** The next activity of a step, or its rejection, is caused by this step. */
  arrivalInjected(step: string): void {
    this.#causes.arrivalInjected(step);
  }

  /** An arrival was rejected. */
  refused(endpointId: string, source: string | undefined, code: string, at: SimTime): void {
    this.metrics.refused(endpointId);
    const from = source === undefined ? "" : ` from ${source}`;
    const what = `${isoInstant(at)} arrival at ${this.#target.labels.labelOf(endpointId)}${from} rejected: ${code}`;
    this.#changes.responded(what, at, this.#causes.rejectedArrival(source));
  }

  countRequest(request: AnsweredRequest, isExpected: boolean): void {
    this.metrics.countRequest(request, isExpected);
    const at = this.#target.now();
    const { status, code } = request;
    const what = `${isoInstant(at)} response ${status}${code === "" ? "" : ` ${code}`}`;
    this.#changes.responded(what, at, this.#causes.withoutEvent());
  }

  /** `replace` replaces the world and returns the arrivals that wait in the new one. */
  async replaceWorld(replace: () => Promise<QueuedArrivals | undefined>): Promise<void> {
    this.metrics.leaveWorld(this.#target.now());
    const queued = await replace();
    const now = this.#target.now();
    this.metrics.enterWorld(this.#target.world(), now, queued);
    this.#causes.clear();
    this.#changes.replaced(`${isoInstant(now)} the world was replaced`, now, this.#causes.withoutEvent());
  }

  /** The event that broke an expectation, and its causes. Without an expectation: the faults of the call. */
  explain(expectation: Expectation | undefined): Explained {
    if (expectation === undefined) return { caused_by: this.#call === undefined ? [] : this.#faultsOfCall };
    const { brokenBy, lastChange } = this.#changes.changesOf(expectation) ?? {};
    const change = brokenBy ?? lastChange;
    if (change === undefined) return { caused_by: [] };
    const { what, decision } = change;
    const { labels } = this.#target;
    const isEvent = typeof what !== "string";
    return {
      [brokenBy === undefined ? "last_change" : "broken_by"]: isEvent ? describeEvent(what, labels) : what,
      caused_by: describeCauses(decision, isEvent ? what : undefined, labels),
    };
  }
}
