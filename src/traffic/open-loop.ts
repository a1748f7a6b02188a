import type { ActivityKind } from "../platform/compute/activity.ts";
import type { SimTime } from "../platform/core/time.ts";
import type { Arrivals } from "./arrivals.ts";
import { NO_CONNECTION } from "./arrivals.ts";
import type { Times } from "./times.ts";
import type { Work } from "./work.ts";

/** How many instants a source is ahead: few enough for many thousands of sources. */
const AHEAD = 64;

/** Arrivals that come when they come, whatever becomes of them. */
export class OpenLoop implements Arrivals {
  at: SimTime = 0;
  durationMs = 0;
  queries = 0;
  readonly kind: ActivityKind;
  readonly connection = NO_CONNECTION;
  readonly #times: Times;
  readonly #work: Work;
  readonly #until: SimTime;
  /** The next instants, made many at once. */
  readonly #ahead = new Float64Array(AHEAD);
  #taken = AHEAD;

  /** `until` is not included. */
  constructor(times: Times, work: Work, until: SimTime) {
    this.kind = work.kind;
    this.#times = times;
    this.#work = work;
    this.#until = until;
    this.next();
  }

  next(): void {
    if (this.at === Number.POSITIVE_INFINITY) return;
    if (this.#taken === AHEAD) {
      this.#times.fill(this.#ahead, this.#until);
      this.#taken = 0;
    }
    const at = this.#ahead[this.#taken] as number;
    this.#taken += 1;
    if (at >= this.#until) {
      this.at = Number.POSITIVE_INFINITY;
      return;
    }
    this.at = at;
    const work = this.#work;
    work.draw();
    this.durationMs = work.durationMs;
    this.queries = work.queries;
  }

  closed(): void {}
}
