import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { PlacedExpectation } from "../file/every-expectation.ts";
import { type Expectation, type MeasureName, meetsExpectation } from "../file/expectation.ts";
import type { Decision } from "../measure/event-causes.ts";
import { triggersOf, watchesEveryEvent } from "./measure-triggers.ts";

/** Cause of a change of a measure: an event, or something without an event, such as a response. */
export type Change = { readonly what: RecordedEvent | string; readonly decision: Decision };

type Trail = {
  readonly expectation: Expectation;
  readonly isNever: boolean;
  value: number | string;
  isMet: boolean;
  /** The change after which the expectation did not hold any more. */
  brokenBy: Change | undefined;
  lastChange: Change | undefined;
};

/** Measures that change with time: the last event that may have changed one of them is the change. */
const NOT_MEASURED: ReadonlySet<MeasureName> = new Set(["connections", "active_time", "compute_time"]);
/** Measures that change without an event. */
const CHANGED_BY_RESPONSES: ReadonlySet<MeasureName> = new Set(["requests", "errors", "refused"]);

/** Finds the event that broke each expectation. */
export class ExpectationChanges {
  readonly #trails = new Map<Expectation, Trail>();
  readonly #byType = new Map<string, Trail[]>();
  readonly #onEveryEvent: Trail[] = [];
  readonly #measure: (expectation: Expectation, now: SimTime) => number | string;
  readonly #isWithin: (endpointId: string, expectation: Expectation) => boolean;

  constructor(
    expectations: readonly PlacedExpectation[],
    start: SimTime,
    measure: (expectation: Expectation, now: SimTime) => number | string,
    isWithin: (endpointId: string, expectation: Expectation) => boolean,
  ) {
    this.#measure = measure;
    this.#isWithin = isWithin;
    for (const { expectation, isNever } of expectations) {
      const value = measure(expectation, start);
      const isMet = meetsExpectation(value, expectation.expected) !== isNever;
      const changes = { brokenBy: undefined, lastChange: undefined };
      const trail = { expectation, isNever, value, isMet, ...changes };
      this.#trails.set(expectation, trail);
      if (watchesEveryEvent(expectation)) this.#onEveryEvent.push(trail);
      for (const type of new Set(triggersOf(expectation)))
        this.#byType.set(type, [...(this.#byType.get(type) ?? []), trail]);
    }
  }

  /** Called after an event is counted. */
  observe(event: RecordedEvent, decision: Decision): void {
    const trails = this.#byType.get(event.type);
    if (trails !== undefined) for (const trail of trails) this.#follow(trail, event, decision);
    for (const trail of this.#onEveryEvent) this.#follow(trail, event, decision);
  }

  /** A response was counted, or an arrival was rejected. */
  responded(what: string, at: SimTime, decision: Decision): void {
    for (const trail of this.#trails.values())
      if (CHANGED_BY_RESPONSES.has(trail.expectation.measure)) this.#remeasure(trail, at, { what, decision });
  }

  /** The world was replaced by another one. */
  replaced(what: string, at: SimTime, decision: Decision): void {
    for (const trail of this.#trails.values())
      if (!NOT_MEASURED.has(trail.expectation.measure)) this.#remeasure(trail, at, { what, decision });
  }

  changesOf(expectation: Expectation): Pick<Trail, "brokenBy" | "lastChange"> | undefined {
    return this.#trails.get(expectation);
  }

  #follow(trail: Trail, event: RecordedEvent, decision: Decision): void {
    const { expectation } = trail;
    const change = { what: event, decision };
    if (!NOT_MEASURED.has(expectation.measure)) {
      if (!cannotBreak(trail, event)) this.#remeasure(trail, event.at, change);
      return;
    }
    const endpointId = endpointOf(event);
    if (endpointId === undefined || this.#isWithin(endpointId, expectation)) trail.lastChange = change;
  }

  #remeasure(trail: Trail, at: SimTime, change: Change): void {
    const value = this.#measure(trail.expectation, at);
    if (value === trail.value) return;
    const wasMet = trail.isMet;
    trail.value = value;
    trail.lastChange = change;
    trail.isMet = meetsExpectation(value, trail.expectation.expected) !== trail.isNever;
    if (trail.isMet) trail.brokenBy = undefined;
    else if (wasMet) trail.brokenBy = change;
  }
}

/** An arrival that did not wait lowers a mean and a percentile, which breaks no upper bound. */
function cannotBreak({ expectation, isMet, isNever }: Trail, event: RecordedEvent): boolean {
  const { measure, expected } = expectation;
  if (!isMet || isNever || event.type !== "ActivityRecorded" || event.waitedMs > 0) return false;
  return measure.startsWith("wait_") && "max" in expected && expected.min === undefined;
}

function endpointOf(event: RecordedEvent): string | undefined {
  if (event.type === "ActivityRecorded") return event.activity.endpointId;
  return "endpointId" in event ? event.endpointId : undefined;
}
