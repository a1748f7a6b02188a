import type { SimTime } from "../../kernel/time.ts";
import type { ActivityKind } from "../../platform/model/activity.ts";
import type { ArrivalTimes } from "./arrival-times.ts";
import type { Arrivals } from "./arrivals.ts";
import { NO_CONNECTION } from "./arrivals.ts";
import type { Workload } from "./workload.ts";

/** Instants that a source computes ahead: few enough for many thousands of sources. */
const BUFFER_LENGTH = 64;

/** Arrivals whose times do not depend on how earlier arrivals fared. */
export class OpenLoop implements Arrivals {
  at: SimTime = 0;
  durationMs = 0;
  queries = 0;
  readonly kind: ActivityKind;
  readonly connection = NO_CONNECTION;
  readonly #times: ArrivalTimes;
  readonly #workload: Workload;
  readonly #until: SimTime;
  /** The next instants, computed in batches. */
  readonly #buffer = new Float64Array(BUFFER_LENGTH);
  #position = BUFFER_LENGTH;

  /** `until` is exclusive. */
  constructor(times: ArrivalTimes, workload: Workload, until: SimTime) {
    this.kind = workload.kind;
    this.#times = times;
    this.#workload = workload;
    this.#until = until;
    this.next();
  }

  next(): void {
    if (this.at === Number.POSITIVE_INFINITY) return;
    if (this.#position === BUFFER_LENGTH) {
      this.#times.fill(this.#buffer, this.#until);
      this.#position = 0;
    }
    const at = this.#buffer[this.#position] as number;
    this.#position += 1;
    if (at >= this.#until) {
      this.at = Number.POSITIVE_INFINITY;
      return;
    }
    this.at = at;
    const workload = this.#workload;
    workload.draw();
    this.durationMs = workload.durationMs;
    this.queries = workload.queries;
  }

  onConnectionClosed(): void {}
}
