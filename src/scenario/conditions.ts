import { isoInstant } from "../platform/calendar.ts";
import type { RecordedEvent } from "../platform/events.ts";
import type { SimTime } from "../platform/time.ts";
import { describeWanted, type Expectation, isWanted, type MeasureName, showMeasured } from "./expectation.ts";
import type { Scenario, Step } from "./scenario.ts";
import type { Failure } from "./verdict.ts";

type Condition = {
  readonly what: string;
  readonly expectation: Expectation;
  readonly isNever: boolean;
  readonly from: SimTime;
  readonly until: SimTime;
  isBroken: boolean;
};
type EventType = RecordedEvent["type"];

const LIFE: readonly EventType[] = ["ComputeCreated", "ComputeActivated", "ComputeSuspended", "ComputeDeleted"];
const THINGS: readonly EventType[] = [
  "ProjectCreated",
  "ProjectDeleted",
  "ProjectRecovered",
  "BranchCreated",
  "BranchDeleted",
  "BranchRecovered",
  "ComputeCreated",
  "ComputeDeleted",
];
/** After which events a measure may be another one; of what grows with time alone, these are the instants at which it is looked at. */
const TRIGGERS: Readonly<Record<Exclude<MeasureName, "events" | "requests">, readonly EventType[]>> = {
  state: [...LIFE, ...THINGS, "OperationScheduled", "OperationCancelled"],
  projects: THINGS,
  branches: THINGS,
  computes: THINGS,
  active_computes: LIFE,
  activities: ["ActivityRecorded"],
  refused: ["ActivityDropped"],
  connections: ["ActivityRecorded", "ComputeSuspending", "ComputeSuspended", "ComputeActivated", "ComputeDeleted"],
  cold_starts: ["OperationScheduled"],
  starts: LIFE,
  suspends: LIFE,
  resizes: ["ComputeResized"],
  active_time: LIFE,
  compute_time: [...LIFE, "ComputeResized"],
  wait_mean: ["ActivityRecorded"],
  wait_p50: ["ActivityRecorded"],
  wait_p90: ["ActivityRecorded"],
  wait_p99: ["ActivityRecorded"],
  wait_max: ["ActivityRecorded"],
  operations: ["OperationScheduled", "OperationFinished", "OperationCancelled"],
  errors: ["ActivityDropped"],
};

/** What must be so, or must not be so, throughout: looked at after every event that could change it, and after every step. */
export class Conditions {
  readonly #all: readonly Condition[];
  readonly #byType = new Map<string, Condition[]>();
  readonly #ofEveryEvent: readonly Condition[];
  readonly #measure: (expectation: Expectation, now: SimTime) => number | string;
  readonly #fail: (failure: Omit<Failure, "events">, of: string | undefined) => void;

  constructor(
    { always, never }: Pick<Scenario, "always" | "never">,
    instant: (when: NonNullable<Step["at"]>) => SimTime,
    measure: (expectation: Expectation, now: SimTime) => number | string,
    fail: (failure: Omit<Failure, "events">, of: string | undefined) => void,
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
      }));
    this.#all = [...conditionsOf("always", always), ...conditionsOf("never", never)];
    this.#ofEveryEvent = this.#all.filter(({ expectation: { measure: name } }) => name === "events");
    for (const condition of this.#all) {
      const { measure: name } = condition.expectation;
      const types = name === "events" || name === "requests" ? [] : TRIGGERS[name];
      for (const type of new Set(types)) this.#byType.set(type, [...(this.#byType.get(type) ?? []), condition]);
    }
  }

  observe(event: RecordedEvent): void {
    const conditions = this.#byType.get(event.type);
    if (conditions !== undefined) for (const condition of conditions) this.#look(condition, event.at);
    for (const condition of this.#ofEveryEvent) this.#look(condition, event.at);
  }

  /** An arrival was refused. */
  refused(now: SimTime): void {
    for (const condition of this.#all) {
      if (condition.expectation.measure === "refused" || condition.expectation.measure === "errors") this.#look(condition, now);
    }
  }

  check(now: SimTime): void {
    for (const condition of this.#all) this.#look(condition, now);
  }

  /** What is broken is told once. */
  #look(condition: Condition, now: SimTime): void {
    if (condition.isBroken || now < condition.from || now >= condition.until) return;
    const { expectation, isNever, what } = condition;
    const actual = this.#measure(expectation, now);
    if (isWanted(actual, expectation.wanted) !== isNever) return;
    condition.isBroken = true;
    this.#fail(
      {
        what,
        at: isoInstant(now),
        expected: `${isNever ? "never" : "always"} ${describeWanted(expectation)}`,
        actual: showMeasured(expectation.measure, actual),
      },
      expectation.of,
    );
  }
}
