import { isoInstant } from "../../platform/core/calendar.ts";
import { DAY, type SimTime } from "../../platform/core/time.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import { describeWanted, type Expectation, isWanted, type MeasureName, showMeasured } from "../file/expectation.ts";
import type { Scenario, Step } from "../file/scenario-schema.ts";
import type { Failure } from "./verdict.ts";

type Measured = number | string;
type Condition = {
  readonly what: string;
  readonly expectation: Expectation;
  readonly isNever: boolean;
  readonly from: SimTime;
  readonly until: SimTime;
  isBroken: boolean;
  /** An event may have changed it since it was looked at. */
  isChanged: boolean;
  /** When time alone will have broken it, and what is measured then. */
  foretold: { readonly at: SimTime; readonly actual: Measured } | undefined;
};
type EventType = RecordedEvent["type"];

const THINGS: readonly EventType[] = [
  "ProjectCreated",
  "ProjectDeleted",
  "ProjectRecovered",
  "ProjectTransferred",
  "BranchCreated",
  "BranchDeleted",
  "BranchRecovered",
  "ComputeCreated",
  "ComputeUpdated",
  "ComputeDeleted",
  "WorldReset",
];
const LIFE: readonly EventType[] = [
  "ComputeCreated",
  "ComputeUpdated",
  "ComputeActivated",
  "ComputeSuspended",
  "ComputeStartFailed",
  "ComputeDeleted",
  "ProjectTransferred",
  "WorldReset",
];
const ARRIVALS: readonly EventType[] = ["ActivityRecorded", "ComputeStartFailed", "ComputeDeleted"];
const REFUSALS: readonly EventType[] = ["ActivityDropped", "ComputeStartFailed", "ComputeDeleted"];
/** After which events a measure may be another one. Of requests, the end of their step tells. */
const TRIGGERS: Readonly<Record<Exclude<MeasureName, "events">, readonly EventType[]>> = {
  state: [...LIFE, ...THINGS, "OperationScheduled", "OperationCancelled"],
  projects: THINGS,
  branches: THINGS,
  computes: THINGS,
  active_computes: LIFE,
  activities: ARRIVALS,
  refused: REFUSALS,
  connections: [...LIFE, "ActivityRecorded", "ComputeSuspending"],
  cold_starts: ["OperationScheduled"],
  starts: ["ComputeActivated"],
  suspends: ["ComputeSuspended"],
  resizes: ["ComputeResized"],
  active_time: LIFE,
  compute_time: [...LIFE, "ComputeResized"],
  wait_mean: ARRIVALS,
  wait_p50: ARRIVALS,
  wait_p90: ARRIVALS,
  wait_p99: ARRIVALS,
  wait_max: ARRIVALS,
  operations: ["OperationScheduled", "OperationStarted", "OperationFinished", "OperationFailed", "OperationCancelled", "WorldReset"],
  requests: [],
  errors: REFUSALS,
};
/** What time alone changes, and into which direction; between two triggers it goes one way. */
const DRIFTS: Partial<Record<MeasureName, "up" | "down">> = { active_time: "up", compute_time: "up", connections: "down" };
/** How far ahead it is looked. */
const HORIZON = 36_525 * DAY;

/**
 * What must be so, or must not be so, at every instant of its window: looked at when the window opens, after all that happens then, and from
 * then on after every decision of the world that could change it, and after every step. What time alone changes is foretold, and told when it has come.
 */
export class Conditions {
  readonly #all: readonly Condition[];
  readonly #byType = new Map<string, Condition[]>();
  readonly #ofEveryEvent: readonly Condition[];
  readonly #drifting: readonly Condition[];
  readonly #measure: (expectation: Expectation, now: SimTime) => Measured;
  readonly #fail: (failure: Omit<Failure, "events">, expectation: Expectation) => void;
  #changed: Condition[] = [];
  #changedAt: SimTime = 0;
  #decision = 0;
  /** Up to when windows have been opened, and when the next one opens. */
  #reached: SimTime = Number.NEGATIVE_INFINITY;
  #opening: SimTime = Number.NEGATIVE_INFINITY;

  constructor(
    { always, never }: Pick<Scenario, "always" | "never">,
    instant: (when: NonNullable<Step["at"]>) => SimTime,
    measure: (expectation: Expectation, now: SimTime) => Measured,
    fail: (failure: Omit<Failure, "events">, expectation: Expectation) => void,
  ) {
    this.#measure = measure;
    this.#fail = fail;
    const conditionsOf = (key: "always" | "never", expectations: readonly Expectation[]): Condition[] =>
      expectations.map((expectation, index) => ({
        what: `${key}.${index}`,
        expectation,
        isNever: key === "never",
        from: expectation.from === undefined ? Number.NEGATIVE_INFINITY : instant(expectation.from),
        until: expectation.until === undefined ? Number.POSITIVE_INFINITY : instant(expectation.until),
        isBroken: false,
        isChanged: false,
        foretold: undefined,
      }));
    this.#all = [...conditionsOf("always", always), ...conditionsOf("never", never)];
    this.#drifting = this.#all.filter(({ expectation: { measure: name } }) => DRIFTS[name] !== undefined);
    this.#ofEveryEvent = this.#all.filter(({ expectation }) => isOfEveryEvent(expectation));
    for (const condition of this.#all) {
      for (const type of new Set(triggersOf(condition.expectation))) {
        this.#byType.set(type, [...(this.#byType.get(type) ?? []), condition]);
      }
    }
  }

  /** When the next window opens behind `now`: time has to stop there. */
  nextFrom(now: SimTime): SimTime {
    return this.#all.reduce((next, { from }) => (from > now ? Math.min(next, from) : next), Number.POSITIVE_INFINITY);
  }

  /** An event is about to be counted: what is measured yet is what was so until then. */
  before({ decision, at }: RecordedEvent): void {
    if (decision !== this.#decision) this.#lookAtChanged();
    this.#decision = decision;
    // A call may have moved the clock beyond it.
    if (this.#opening < at) this.#open(at - 1);
    for (const condition of this.#drifting) if ((condition.foretold?.at ?? at) < at) this.#tellForetold(condition);
  }

  /** An event was counted; `isLast` where it is the last of its decision: within one, nothing is so at any instant. */
  after({ type, at }: RecordedEvent, isLast: boolean): void {
    const conditions = this.#byType.get(type);
    if (conditions !== undefined) for (const condition of conditions) this.#change(condition);
    for (const condition of this.#ofEveryEvent) this.#change(condition);
    this.#changedAt = at;
    if (isLast) this.#lookAtChanged();
  }

  /** An arrival was refused. */
  refused(at: SimTime): void {
    for (const condition of this.#all) {
      if (condition.expectation.measure === "refused" || condition.expectation.measure === "errors") this.#look(condition, at);
    }
  }

  /** Time has come so far: windows have opened before, and what was foretold until then has come. */
  reach(now: SimTime): void {
    for (const condition of this.#all) {
      if ((condition.foretold?.at ?? Number.POSITIVE_INFINITY) <= now) this.#tellForetold(condition);
    }
    this.#open(now - 1);
  }

  /** Time goes on from here: all that happens now has happened, and windows that begin now open with it. */
  leave(now: SimTime): void {
    this.#open(now);
  }

  /** Looks at all of them, whatever has happened. */
  check(now: SimTime): void {
    this.#lookAtChanged();
    this.reach(now);
    for (const condition of this.#all) this.#look(condition, now);
  }

  #open(now: SimTime): void {
    const opening = this.#all.filter(({ from }) => from > this.#reached && from <= now);
    this.#reached = now;
    this.#opening = this.nextFrom(now);
    for (const condition of opening) this.#look(condition, condition.from);
  }

  #change(condition: Condition): void {
    if (condition.isChanged || condition.isBroken) return;
    condition.isChanged = true;
    this.#changed.push(condition);
  }

  #lookAtChanged(): void {
    if (this.#changed.length === 0) return;
    const changed = this.#changed;
    this.#changed = [];
    for (const condition of changed) this.#look(condition, this.#changedAt);
  }

  #look(condition: Condition, now: SimTime): void {
    condition.isChanged = false;
    condition.foretold = undefined;
    if (condition.isBroken || Math.min(now, this.#reached) < condition.from || now >= condition.until) return;
    const actual = this.#measure(condition.expectation, now);
    if (isBreach(condition, actual)) this.#break(condition, now, actual);
    else condition.foretold = this.#foretell(condition, now);
  }

  #tellForetold(condition: Condition): void {
    if (condition.foretold !== undefined) this.#break(condition, condition.foretold.at, condition.foretold.actual);
    condition.foretold = undefined;
  }

  /** When time alone breaks what is not broken at `now`. */
  #foretell(condition: Condition, now: SimTime): Condition["foretold"] {
    const { expectation, isNever, until } = condition;
    const { measure: name, wanted } = expectation;
    const drift = DRIFTS[name];
    if (drift === undefined || !("min" in wanted || "max" in wanted)) return undefined;
    const sign = drift === "up" ? 1 : -1;
    const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = wanted;
    // What must be so is so until the bound that is further on is left behind; what must not be so is not until the nearer one is reached.
    const bound = sign * ((drift === "up") === isNever ? min : max);
    const hasCome = (at: SimTime) => {
      const value = sign * Number(this.#measure(expectation, at));
      return isNever ? value >= bound : value > bound;
    };
    let [before, after] = [now, Math.min(until - 1, now + HORIZON)];
    if (after <= before || hasCome(before) || !hasCome(after)) return undefined;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (hasCome(middle)) after = middle;
      else before = middle;
    }
    const actual = this.#measure(expectation, after);
    return isBreach(condition, actual) ? { at: after, actual } : undefined;
  }

  /** What is broken is told once. */
  #break(condition: Condition, at: SimTime, actual: Measured): void {
    const { what, expectation, isNever } = condition;
    condition.isBroken = true;
    this.#fail(
      {
        what,
        at: isoInstant(at),
        expected: `${isNever ? "never" : "always"} ${describeWanted(expectation)}`,
        actual: showMeasured(expectation.measure, actual),
      },
      expectation,
    );
  }
}

function isBreach({ expectation, isNever }: Condition, actual: Measured): boolean {
  return isWanted(actual, expectation.wanted) === isNever;
}

function isOfEveryEvent({ measure, where }: Expectation): boolean {
  return measure === "events" && where["type"] === undefined;
}

function triggersOf({ measure, where }: Expectation): readonly string[] {
  if (measure !== "events") return TRIGGERS[measure];
  return where["type"] === undefined ? [] : [String(where["type"])];
}
