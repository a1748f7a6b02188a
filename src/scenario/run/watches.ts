import { isoInstant } from "../../platform/core/calendar.ts";
import { DAY, type SimTime } from "../../platform/core/time.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import {
  describeExpectation,
  type Expectation,
  formatMeasurement,
  type MeasureName,
  meetsExpectation,
} from "../file/expectation.ts";
import type { Scenario, Step } from "../file/scenario-schema.ts";
import type { RunFailure } from "./verdict.ts";

type MeasuredValue = number | string;
type Watch = {
  readonly what: string;
  readonly expectation: Expectation;
  readonly isNever: boolean;
  readonly from: SimTime;
  readonly until: SimTime;
  isViolated: boolean;
  /** An event may have changed it since it was looked at. */
  isDirty: boolean;
  /** When time alone will have broken it, and what is measured then. */
  predicted: { readonly at: SimTime; readonly actual: MeasuredValue } | undefined;
};
type EventType = RecordedEvent["type"];

const RESOURCE_EVENTS = [
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
] as const;
const STATE_EVENTS = [
  "ComputeCreated",
  "ComputeUpdated",
  "ComputeActivated",
  "ComputeSuspended",
  "ComputeStartFailed",
  "ComputeDeleted",
  "ProjectTransferred",
  "WorldReset",
] as const;
const ARRIVAL_EVENTS = ["ActivityRecorded", "ComputeStartFailed", "ComputeDeleted"] as const;
const REFUSAL_EVENTS = ["ActivityDropped", "ComputeStartFailed", "ComputeDeleted"] as const;
/** Events after which every measure is what it was, but for the number of events. */
// biome-ignore format: as a packed list
type ChangesNoMeasure =
  | "WorldCreated" | "WorldConfigured" | "AccountCreated" | "AccountPlanChanged" | "ApiKeyCreated"
  | "ApiKeyRevoked" | "ProjectUpdated" | "ProjectRemoved" | "RecordCreated" | "RecordUpdated"
  | "RecordDeleted" | "BranchBecameReady" | "BranchUpdated" | "BranchSetAsDefault"
  | "BranchExpirationSet" | "BranchMoved" | "BranchRestored" | "BranchRemoved" | "RoleCreated"
  | "RoleDeleted" | "RolePasswordReset" | "DatabaseCreated" | "DatabaseUpdated" | "DatabaseDeleted"
  | "SnapshotCreated" | "SnapshotRenamed" | "SnapshotDeleted" | "BackupScheduleSet"
  | "ComputeSuspendFailed" | "OperationRetried" | "ActivityScheduled" | "FaultSet" | "FaultRemoved"
  | "FaultMatched" | "FaultHit";

/** After which events a measure may be another one. Of requests, the end of their step tells. */
const TRIGGERS = namingEveryEvent({
  state: [...STATE_EVENTS, ...RESOURCE_EVENTS, "OperationScheduled", "OperationCancelled"],
  projects: RESOURCE_EVENTS,
  branches: RESOURCE_EVENTS,
  computes: RESOURCE_EVENTS,
  active_computes: STATE_EVENTS,
  activities: ARRIVAL_EVENTS,
  refused: REFUSAL_EVENTS,
  connections: [...STATE_EVENTS, "ActivityRecorded", "ComputeSuspending"],
  cold_starts: ["OperationScheduled"],
  starts: ["ComputeActivated"],
  suspends: ["ComputeSuspended"],
  resizes: ["ComputeResized"],
  active_time: STATE_EVENTS,
  compute_time: [...STATE_EVENTS, "ComputeResized"],
  wait_mean: ARRIVAL_EVENTS,
  wait_p50: ARRIVAL_EVENTS,
  wait_p90: ARRIVAL_EVENTS,
  wait_p99: ARRIVAL_EVENTS,
  wait_max: ARRIVAL_EVENTS,
  operations: [
    "OperationScheduled",
    "OperationStarted",
    "OperationFinished",
    "OperationFailed",
    "OperationCancelled",
    "WorldReset",
  ],
  requests: [],
  errors: REFUSAL_EVENTS,
});

type Triggers = Readonly<Record<Exclude<MeasureName, "events">, readonly EventType[]>>;

/** Does not compile while an event is neither a trigger nor known to change no measure. */
function namingEveryEvent<const T extends Triggers>(
  triggers: T &
    (Exclude<EventType, T[keyof Triggers][number] | ChangesNoMeasure> extends never ? unknown : never),
): Triggers {
  return triggers;
}

/** What time alone changes, and into which direction; between two triggers it goes one way. */
const CHANGES_WITH_TIME: Partial<Record<MeasureName, "up" | "down">> = {
  active_time: "up",
  compute_time: "up",
  connections: "down",
};
/** How far ahead it is looked. */
const HORIZON_MS = 36_525 * DAY;

/**
 * What must be so, or must not be so, at every instant of its window: looked at when the window opens, after all that happens then, and from
 * then on after every decision of the world that could change it, and after every step. What time alone changes is foretold, and told when it has come.
 */
export class Watches {
  readonly #all: readonly Watch[];
  readonly #byType = new Map<string, Watch[]>();
  readonly #onEveryEvent: readonly Watch[];
  readonly #changingWithTime: readonly Watch[];
  readonly #measure: (expectation: Expectation, now: SimTime) => MeasuredValue;
  readonly #fail: (failure: Omit<RunFailure, "events">, expectation: Expectation) => void;
  #dirty: Watch[] = [];
  #dirtyAt: SimTime = 0;
  #decision = 0;
  /** Up to when windows have been opened, and when the next one opens. */
  #openedUntil: SimTime = Number.NEGATIVE_INFINITY;
  #nextOpensAt: SimTime = Number.NEGATIVE_INFINITY;

  constructor(
    { always, never }: Pick<Scenario, "always" | "never">,
    instant: (when: NonNullable<Step["at"]>) => SimTime,
    measure: (expectation: Expectation, now: SimTime) => MeasuredValue,
    fail: (failure: Omit<RunFailure, "events">, expectation: Expectation) => void,
  ) {
    this.#measure = measure;
    this.#fail = fail;
    const watchesFrom = (key: "always" | "never", expectations: readonly Expectation[]): Watch[] =>
      expectations.map((expectation, index) => ({
        what: `${key}.${index}`,
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

  /** When the next window opens behind `now`: time has to stop there. */
  nextOpeningAfter(now: SimTime): SimTime {
    return this.#all.reduce(
      (next, { from }) => (from > now ? Math.min(next, from) : next),
      Number.POSITIVE_INFINITY,
    );
  }

  /** An event is about to be counted: what is measured yet is what was so until then. */
  before({ decision, at }: RecordedEvent): void {
    if (decision !== this.#decision) this.#checkDirty();
    this.#decision = decision;
    // A call may have moved the clock beyond it.
    if (this.#nextOpensAt < at) this.#openWindows(at - 1);
    for (const watch of this.#changingWithTime)
      if ((watch.predicted?.at ?? at) < at) this.#reportPredicted(watch);
  }

  /** An event was counted; `isLast` where it is the last of its decision: within one, nothing is so at any instant. */
  after({ type, at }: RecordedEvent, isLast: boolean): void {
    const watches = this.#byType.get(type);
    if (watches !== undefined) for (const watch of watches) this.#markDirty(watch);
    for (const watch of this.#onEveryEvent) this.#markDirty(watch);
    this.#dirtyAt = at;
    if (isLast) this.#checkDirty();
  }

  /** An arrival was refused. */
  refused(at: SimTime): void {
    for (const watch of this.#all) {
      if (watch.expectation.measure === "refused" || watch.expectation.measure === "errors")
        this.#check(watch, at);
    }
  }

  /** Time has come so far: windows have opened before, and what was foretold until then has come. */
  advanceTo(now: SimTime): void {
    for (const watch of this.#all) {
      if ((watch.predicted?.at ?? Number.POSITIVE_INFINITY) <= now) this.#reportPredicted(watch);
    }
    this.#openWindows(now - 1);
  }

  /** Time goes on from here: all that happens now has happened, and windows that begin now open with it. */
  openWindowsAt(now: SimTime): void {
    this.#openWindows(now);
  }

  /** Looks at all of them, whatever has happened. */
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
    if (isBreach(watch, actual)) this.#reportBreach(watch, now, actual);
    else watch.predicted = this.#predictBreach(watch, now);
  }

  #reportPredicted(watch: Watch): void {
    if (watch.predicted !== undefined) this.#reportBreach(watch, watch.predicted.at, watch.predicted.actual);
    watch.predicted = undefined;
  }

  /** When time alone breaks what is not broken at `now`. */
  #predictBreach(watch: Watch, now: SimTime): Watch["predicted"] {
    const { expectation, isNever, until } = watch;
    const { measure: name, expected } = expectation;
    const direction = CHANGES_WITH_TIME[name];
    if (direction === undefined || !("min" in expected || "max" in expected)) return undefined;
    const sign = direction === "up" ? 1 : -1;
    const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = expected;
    // What must be so is so until the bound that is further on is left behind; what must not be so is not until the nearer one is reached.
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
    return isBreach(watch, actual) ? { at: after, actual } : undefined;
  }

  /** What is broken is told once. */
  #reportBreach(watch: Watch, at: SimTime, actual: MeasuredValue): void {
    const { what, expectation, isNever } = watch;
    watch.isViolated = true;
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

function isBreach({ expectation, isNever }: Watch, actual: MeasuredValue): boolean {
  return meetsExpectation(actual, expectation.expected) === isNever;
}

function watchesEveryEvent({ measure, where }: Expectation): boolean {
  return measure === "events" && where["type"] === undefined;
}

function triggersOf({ measure, where }: Expectation): readonly string[] {
  if (measure !== "events") return TRIGGERS[measure];
  return where["type"] === undefined ? [] : [String(where["type"])];
}
