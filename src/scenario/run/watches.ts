import { isoInstant } from "../../kernel/calendar.ts";
import { DAY, type SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import {
  describeExpectation,
  type Expectation,
  formatMeasurement,
  type MeasureName,
  meetsExpectation,
} from "../file/expectation.ts";
import type { Scenario } from "../file/scenario-schema.ts";
import type { Step } from "../file/step-schema.ts";
import type { ExpectationResults } from "./expectation-results.ts";
import { triggersOf, watchesEveryEvent } from "./measure-triggers.ts";
import type { FailedCondition } from "./verdict.ts";

type MeasuredValue = number | string;
type Watch = {
  readonly what: string;
  readonly expectation: Expectation;
  readonly isNever: boolean;
  readonly from: SimTime;
  readonly until: SimTime;
  isViolated: boolean;
  /** An event may have changed the measure since the last check. */
  isDirty: boolean;
  /** When passing time alone will violate the condition, and the value then. */
  predicted: { readonly at: SimTime; readonly actual: MeasuredValue } | undefined;
};
/** Measures that change as time passes, and their direction, which is constant between two triggers. */
const CHANGES_WITH_TIME: Partial<Record<MeasureName, "up" | "down">> = {
  active_time: "up",
  compute_time: "up",
  connections: "down",
};
/** Limit of the prediction: 100 years. */
const HORIZON_MS = 36_525 * DAY;

/**
 * Conditions that must hold, or must not hold, at every instant of a window. Each is checked when its window
 * opens, after the events of that instant, and then after every decision that may change it and after every
 * step. Measures that change with time are predicted, and reported at the moment they cross the bound.
 */
export class Watches {
  readonly #all: readonly Watch[];
  readonly #byType = new Map<string, Watch[]>();
  readonly #onEveryEvent: readonly Watch[];
  readonly #changingWithTime: readonly Watch[];
  readonly #measure: (expectation: Expectation, now: SimTime) => MeasuredValue;
  readonly #fail: (failure: FailedCondition, expectation: Expectation) => void;
  readonly #results: Pick<ExpectationResults, "checked" | "failed">;
  #dirty: Watch[] = [];
  #dirtyAt: SimTime = 0;
  #decision = 0;
  /** Windows up to this instant (inclusive) are open. The next one opens at `#nextOpensAt`. */
  #openedUntil: SimTime = Number.NEGATIVE_INFINITY;
  #nextOpensAt: SimTime = Number.NEGATIVE_INFINITY;

  constructor(
    { always, never }: Pick<Scenario, "always" | "never">,
    instant: (when: NonNullable<Step["at"]>) => SimTime,
    measure: (expectation: Expectation, now: SimTime) => MeasuredValue,
    fail: (failure: FailedCondition, expectation: Expectation) => void,
    results: Pick<ExpectationResults, "checked" | "failed">,
  ) {
    this.#measure = measure;
    this.#fail = fail;
    this.#results = results;
    const watchesFrom = (key: "always" | "never", expectations: readonly Expectation[]): Watch[] =>
      expectations.map((expectation, index) => ({
        what: `${key}.${index + 1}`,
        expectation,
        isNever: key === "never",
        from: expectation.from === undefined ? Number.NEGATIVE_INFINITY : instant(expectation.from),
        until: expectation.until === undefined ? Number.POSITIVE_INFINITY : instant(expectation.until),
        isViolated: false,
        isDirty: false,
        predicted: undefined,
      }));
    this.#all = [...watchesFrom("always", always), ...watchesFrom("never", never)];
    this.#changingWithTime = this.#all.filter(
      ({ expectation: { measure: name } }) => CHANGES_WITH_TIME[name] !== undefined,
    );
    this.#onEveryEvent = this.#all.filter(({ expectation }) => watchesEveryEvent(expectation));
    for (const watch of this.#all) {
      for (const type of new Set(triggersOf(watch.expectation))) {
        this.#byType.set(type, [...(this.#byType.get(type) ?? []), watch]);
      }
    }
  }

  /** When the next window after `now` opens; an advance must stop there. */
  nextOpeningAfter(now: SimTime): SimTime {
    return this.#all.reduce(
      (next, { from }) => (from > now ? Math.min(next, from) : next),
      Number.POSITIVE_INFINITY,
    );
  }

  /** Called before an event is counted, so that measures still have their old values. */
  before({ decision, at }: RecordedEvent): void {
    if (decision !== this.#decision) this.#checkDirty();
    this.#decision = decision;
    // A call may have moved the clock beyond the opening.
    if (this.#nextOpensAt < at) this.#openWindows(at - 1);
    for (const watch of this.#changingWithTime)
      if ((watch.predicted?.at ?? at) < at) this.#reportPredicted(watch);
  }

  /**
   * Called after an event is counted. Conditions are checked after the last event of a decision, never within
   * one.
   */
  after({ type, at }: RecordedEvent, isLast: boolean): void {
    const watches = this.#byType.get(type);
    if (watches !== undefined) for (const watch of watches) this.#markDirty(watch);
    for (const watch of this.#onEveryEvent) this.#markDirty(watch);
    this.#dirtyAt = at;
    if (isLast) this.#checkDirty();
  }

  /** Called when an arrival is rejected. */
  refused(at: SimTime): void {
    for (const watch of this.#all) {
      if (watch.expectation.measure === "refused" || watch.expectation.measure === "errors")
        this.#check(watch, at);
    }
  }

  /**
   * Time has advanced to `now`: reports predicted violations up to then (inclusive) and opens the windows
   * before `now`.
   */
  advanceTo(now: SimTime): void {
    for (const watch of this.#all) {
      if ((watch.predicted?.at ?? Number.POSITIVE_INFINITY) <= now) this.#reportPredicted(watch);
    }
    this.#openWindows(now - 1);
  }

  /** Opens the windows that start at `now`, once all events of that instant have happened. */
  openWindowsAt(now: SimTime): void {
    this.#openWindows(now);
  }

  /** Checks every watch. */
  checkAll(now: SimTime): void {
    this.#checkDirty();
    this.advanceTo(now);
    for (const watch of this.#all) this.#check(watch, now);
  }

  #openWindows(now: SimTime): void {
    const opening = this.#all.filter(({ from }) => from > this.#openedUntil && from <= now);
    this.#openedUntil = now;
    this.#nextOpensAt = this.nextOpeningAfter(now);
    for (const watch of opening) this.#check(watch, watch.from);
  }

  #markDirty(watch: Watch): void {
    if (watch.isDirty || watch.isViolated) return;
    watch.isDirty = true;
    this.#dirty.push(watch);
  }

  #checkDirty(): void {
    if (this.#dirty.length === 0) return;
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const watch of dirty) this.#check(watch, this.#dirtyAt);
  }

  #check(watch: Watch, now: SimTime): void {
    watch.isDirty = false;
    watch.predicted = undefined;
    if (watch.isViolated || Math.min(now, this.#openedUntil) < watch.from || now >= watch.until) return;
    const actual = this.#measure(watch.expectation, now);
    this.#results.checked(watch.expectation, actual, now);
    if (isViolation(watch, actual)) this.#reportViolation(watch, now, actual);
    else watch.predicted = this.#predictViolation(watch, now);
  }

  #reportPredicted(watch: Watch): void {
    if (watch.predicted !== undefined)
      this.#reportViolation(watch, watch.predicted.at, watch.predicted.actual);
    watch.predicted = undefined;
  }

  /** When passing time alone violates a condition that holds at `now`. */
  #predictViolation(watch: Watch, now: SimTime): Watch["predicted"] {
    const { expectation, isNever, until } = watch;
    const { measure: name, expected } = expectation;
    const direction = CHANGES_WITH_TIME[name];
    if (direction === undefined || !("min" in expected || "max" in expected)) return undefined;
    const sign = direction === "up" ? 1 : -1;
    const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = expected;
    // An `always` condition fails when the far bound is exceeded, a `never` condition when the near bound is
    // reached.
    const bound = sign * ((direction === "up") === isNever ? min : max);
    const isReached = (at: SimTime) => {
      const value = sign * Number(this.#measure(expectation, at));
      return isNever ? value >= bound : value > bound;
    };
    let [before, after] = [now, Math.min(until - 1, now + HORIZON_MS)];
    if (after <= before || isReached(before) || !isReached(after)) return undefined;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (isReached(middle)) after = middle;
      else before = middle;
    }
    const actual = this.#measure(expectation, after);
    return isViolation(watch, actual) ? { at: after, actual } : undefined;
  }

  /** Each watch is reported once. */
  #reportViolation(watch: Watch, at: SimTime, actual: MeasuredValue): void {
    const { what, expectation, isNever } = watch;
    watch.isViolated = true;
    this.#results.failed(expectation, actual, at);
    this.#fail(
      {
        what,
        at: isoInstant(at),
        expected: `${isNever ? "never" : "always"} ${describeExpectation(expectation)}`,
        actual: formatMeasurement(expectation.measure, actual),
      },
      expectation,
    );
  }
}

function isViolation({ expectation, isNever }: Watch, actual: MeasuredValue): boolean {
  return meetsExpectation(actual, expectation.expected) === isNever;
}
