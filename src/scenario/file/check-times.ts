import { isoInstant } from "../../platform/core/calendar.ts";
import type { SimTime } from "../../platform/core/time.ts";
import { isRestore } from "../run/target.ts";
import { showDuration } from "./expectation.ts";
import { everyStep, type Scenario, type Step } from "./scenario-schema.ts";
import type { When } from "./time-fields.ts";

type Path = readonly (string | number)[];
type Add = (path: Path, message: string) => void;
/** How far the clock has come at least, counted from the start and as an instant: how the two compare is known when the run begins. */
type Clock = { readonly afterStart: number; readonly instant: SimTime };

const NOBODY_KNOWS: Clock = { afterStart: Number.NEGATIVE_INFINITY, instant: Number.NEGATIVE_INFINITY };

/** Tells of times that no run can keep: the clock has gone beyond them, however quickly all before them is done. */
export function findPastTimes({ steps, length }: Pick<Scenario, "steps" | "length">, add: Add): void {
  const end = new Walk(add).through(steps, { ...NOBODY_KNOWS, afterStart: 0 }, ["steps"]);
  if (length !== undefined && length < end.afterStart) add(["length"], `the steps take longer: ${showDuration(end.afterStart)} at least`);
}

/** A way through the steps on which everything takes no longer than it must. */
class Walk {
  readonly #add: Add;
  readonly #ends = new Map<string, Clock>();
  readonly #snapshots = new Map<string, Clock>();

  constructor(add: Add) {
    this.#add = add;
  }

  through(steps: readonly Step[], begun: Clock, path: Path): Clock {
    return steps.reduce((clock, step, index) => this.#past(step, clock, [...path, index]), begun);
  }

  #past(step: Step, before: Clock, path: Path): Clock {
    const end = this.#act(step, this.#begin(step, before, path), path);
    if (step.name !== undefined) this.#ends.set(step.name, end);
    return end;
  }

  #begin({ at, after }: Step, clock: Clock, path: Path): Clock {
    if (at !== undefined) return this.#reach(at, clock, [...path, "at"]);
    if (after === undefined) return clock;
    if (after.step === undefined) return later(clock, after.delay);
    return furthest([clock, later(this.#ends.get(after.step) ?? NOBODY_KNOWS, after.delay)]);
  }

  #act(step: Step, clock: Clock, path: Path): Clock {
    const { advance, set, snapshot, restore, repeat, parallel } = step;
    if (typeof advance === "number") return later(clock, advance);
    if (advance !== undefined && "to" in advance) return this.#reach(advance.to, clock, [...path, "advance", "to"]);
    if (set?.clock !== undefined) return this.#reach({ instant: set.clock }, clock, [...path, "set", "clock"]);
    if (snapshot !== undefined) this.#snapshots.set(snapshot, clock);
    if (restore !== undefined) return this.#snapshots.get(restore) ?? NOBODY_KNOWS;
    if ([...everyStep([step])].some(goesBack)) return NOBODY_KNOWS;
    if (repeat !== undefined) return this.#repeat(repeat, clock, [...path, "repeat", "steps"]);
    if (parallel === undefined) return clock;
    return furthest(parallel.map((steps, lane) => this.through(steps, clock, [...path, "parallel", lane])));
  }

  /** All rounds but the first take as long as the second. */
  #repeat({ times, every = 0, steps }: NonNullable<Step["repeat"]>, clock: Clock, path: Path): Clock {
    const first = this.through(steps, clock, path);
    if (times === 1) return first;
    const second = this.through(steps, furthest([first, later(clock, every)]), path);
    const tookMs = Number.isFinite(first.afterStart) ? second.afterStart - first.afterStart : 0;
    return later(second, (times - 2) * tookMs);
  }

  #reach(when: When, clock: Clock, path: Path): Clock {
    const come = (to: string) => this.#add(path, `the clock only goes forward, and has come to ${to} by then`);
    if ("instant" in when) {
      if (when.instant < clock.instant) come(isoInstant(clock.instant));
      return furthest([clock, { ...NOBODY_KNOWS, instant: when.instant }]);
    }
    if (when.afterStart < clock.afterStart) come(`${showDuration(clock.afterStart)} after the start`);
    return furthest([clock, { ...NOBODY_KNOWS, afterStart: when.afterStart }]);
  }
}

/** Where the world is taken back to another time, in rounds and lanes or by the control API. */
export function goesBack({ restore, control }: Step): boolean {
  return restore !== undefined || (control !== undefined && isRestore({ surface: "control", ...control }));
}

function later({ afterStart, instant }: Clock, ms: number): Clock {
  return { afterStart: afterStart + ms, instant: instant + ms };
}

function furthest(clocks: readonly Clock[]): Clock {
  return {
    afterStart: Math.max(...clocks.map(({ afterStart }) => afterStart)),
    instant: Math.max(...clocks.map(({ instant }) => instant)),
  };
}
