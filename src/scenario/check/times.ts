import { isoInstant } from "../../kernel/calendar.ts";
import type { SimTime } from "../../kernel/time.ts";
import { formatDuration } from "../file/expectation.ts";
import type { Scenario } from "../file/scenario-schema.ts";
import { everyStep, type Step } from "../file/step-schema.ts";
import type { When } from "../file/time-fields.ts";

type YamlPath = readonly (string | number)[];
type ReportProblem = (path: YamlPath, message: string) => void;
/** Lower bounds of the clock. How the duration and the instant compare is only known when the run starts. */
type EarliestTime = { readonly afterStart: number; readonly instant: SimTime };

const UNKNOWN_TIME: EarliestTime = {
  afterStart: Number.NEGATIVE_INFINITY,
  instant: Number.NEGATIVE_INFINITY,
};

/** Reports times that no run can meet, because the steps before them take longer. */
export function checkPastTimes(
  { steps, length }: Pick<Scenario, "steps" | "length">,
  report: ReportProblem,
): void {
  const end = new EarliestTimes(report).afterAll(steps, { ...UNKNOWN_TIME, afterStart: 0 }, ["steps"]);
  if (length !== undefined && length < end.afterStart)
    report(
      ["length"],
      `the steps take at least ${formatDuration(end.afterStart)}; raise the length or shorten the steps`,
    );
}

/** Walks the steps and assumes that each takes the least possible time. */
class EarliestTimes {
  readonly #report: ReportProblem;
  readonly #endTimes = new Map<string, EarliestTime>();
  readonly #snapshots = new Map<string, EarliestTime>();

  constructor(report: ReportProblem) {
    this.#report = report;
  }

  afterAll(steps: readonly Step[], start: EarliestTime, path: YamlPath): EarliestTime {
    return steps.reduce((clock, step, index) => this.#after(step, clock, [...path, index]), start);
  }

  #after(step: Step, before: EarliestTime, path: YamlPath): EarliestTime {
    const end = this.#endOf(step, this.#startOf(step, before, path), path);
    if (step.name !== undefined) this.#endTimes.set(step.name, end);
    return end;
  }

  #startOf({ at, after }: Step, clock: EarliestTime, path: YamlPath): EarliestTime {
    if (at !== undefined) return this.#moveTo(at, clock, [...path, "at"]);
    if (after === undefined) return clock;
    if (after.step === undefined) return later(clock, after.delay);
    return latest([clock, later(this.#endTimes.get(after.step) ?? UNKNOWN_TIME, after.delay)]);
  }

  #endOf(step: Step, clock: EarliestTime, path: YamlPath): EarliestTime {
    const { advance, set, snapshot, restore, repeat, parallel } = step;
    if (typeof advance === "number") return later(clock, advance);
    if (advance !== undefined && "to" in advance)
      return this.#moveTo(advance.to, clock, [...path, "advance", "to"]);
    if (set?.clock !== undefined)
      return this.#moveTo({ instant: set.clock }, clock, [...path, "set", "clock"]);
    if (snapshot !== undefined) this.#snapshots.set(snapshot, clock);
    if (restore !== undefined) return this.#snapshots.get(restore) ?? UNKNOWN_TIME;
    if ([...everyStep([step])].some(rewindsClock)) return UNKNOWN_TIME;
    if (repeat !== undefined) return this.#repeat(repeat, clock, [...path, "repeat", "steps"]);
    if (parallel === undefined) return clock;
    return latest(
      parallel.map((steps, sequence) => this.afterAll(steps, clock, [...path, "parallel", sequence])),
    );
  }

  /** Every round after the first takes as long as the second. */
  #repeat(
    { times, every = 0, steps }: NonNullable<Step["repeat"]>,
    clock: EarliestTime,
    path: YamlPath,
  ): EarliestTime {
    const first = this.afterAll(steps, clock, path);
    if (times === 1) return first;
    const second = this.afterAll(steps, latest([first, later(clock, every)]), path);
    const tookMs = Number.isFinite(first.afterStart) ? second.afterStart - first.afterStart : 0;
    return later(second, (times - 2) * tookMs);
  }

  #moveTo(when: When, clock: EarliestTime, path: YamlPath): EarliestTime {
    const reportPast = (to: string) =>
      this.#report(path, `the clock cannot move backwards; by this step it is at ${to} or later`);
    if ("instant" in when) {
      if (when.instant < clock.instant) reportPast(isoInstant(clock.instant));
      return latest([clock, { ...UNKNOWN_TIME, instant: when.instant }]);
    }
    if (when.afterStart < clock.afterStart) reportPast(`${formatDuration(clock.afterStart)} after the start`);
    return latest([clock, { ...UNKNOWN_TIME, afterStart: when.afterStart }]);
  }
}

/** Whether a step restores an earlier world, directly or through the control API. */
export function rewindsClock({ restore, control }: Step): boolean {
  return restore !== undefined || (control !== undefined && isRestoreCall(control));
}

/** Whether a call of the control API restores a snapshot, and with it the snapshot's clock. */
export function isRestoreCall({ method, path }: { readonly method: string; readonly path: string }): boolean {
  return method === "POST" && /^\/snapshots\/[^/]+\/restore\/?(\?|$)/.test(path);
}

function later({ afterStart, instant }: EarliestTime, ms: number): EarliestTime {
  return { afterStart: afterStart + ms, instant: instant + ms };
}

function latest(clocks: readonly EarliestTime[]): EarliestTime {
  return {
    afterStart: Math.max(...clocks.map(({ afterStart }) => afterStart)),
    instant: Math.max(...clocks.map(({ instant }) => instant)),
  };
}
