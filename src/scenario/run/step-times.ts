import type { SimTime } from "../../kernel/time.ts";
import type { Step } from "../file/step-schema.ts";
import { stepDependencies } from "./parallel.ts";

/** When steps start and have ended. */
export class StepTimes {
  readonly #start: SimTime;
  readonly #dependencies: ReadonlyMap<Step, Step>;
  readonly #endTimes = new Map<Step, SimTime>();

  /** `start` is the start of the run. */
  constructor(steps: readonly Step[], start: SimTime) {
    this.#start = start;
    this.#dependencies = stepDependencies(steps);
  }

  resolve(when: NonNullable<Step["at"]>): SimTime {
    return "instant" in when ? when.instant : this.#start + when.afterStart;
  }

  startOf(step: Step, previousEnd: SimTime): SimTime {
    if (step.at !== undefined) return this.resolve(step.at);
    if (step.after === undefined) return previousEnd;
    const dependency = this.#dependencies.get(step);
    // In a parallel sequence it may not have ended yet; its end is unknown until then.
    const end =
      dependency === undefined ? previousEnd : (this.#endTimes.get(dependency) ?? Number.POSITIVE_INFINITY);
    return end + step.after.delay;
  }

  ended(step: Step, at: SimTime): void {
    this.#endTimes.set(step, at);
  }

  /** The step runs again; others wait for its next end. */
  forget(step: Step): void {
    this.#endTimes.delete(step);
  }
}
