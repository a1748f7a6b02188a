import type { SimTime } from "../../kernel/time.ts";
import type { ComputeArrivals, Period } from "../../traffic/recorded/trace/trace.ts";
import type { ReplayOutcome } from "../replay/replay-outcome.ts";

/**
 * Read positions in the traces of many computes; counts in the outcome what it reads. Arrays are by compute.
 */
export class TraceCursors {
  readonly #arrivals: readonly (ComputeArrivals | undefined)[];
  readonly #outcome: ReplayOutcome & { events: number };
  readonly #next: Uint32Array;
  /** Time of the next arrival. It is copied because the trace is no longer in the CPU cache when it is needed. */
  readonly #nextAt: Float64Array;
  /** Index of the first arrival after the period. */
  readonly #end: Uint32Array;

  constructor(
    arrivals: readonly (ComputeArrivals | undefined)[],
    { endAt }: Period,
    outcome: ReplayOutcome & { events: number },
  ) {
    this.#arrivals = arrivals;
    this.#outcome = outcome;
    this.#next = new Uint32Array(arrivals.length);
    this.#end = Uint32Array.from(arrivals, (computeArrivals) => countBefore(computeArrivals, endAt));
    this.#nextAt = new Float64Array(arrivals.length);
    for (let compute = 0; compute < arrivals.length; compute += 1) this.#moveTo(compute, 0);
  }

  /** When the next request arrives; infinite after the last one. */
  nextAt(compute: number): SimTime {
    return this.#nextAt[compute] as number;
  }

  /** Reads the next request and returns its duration. The caller counts it. */
  take(compute: number): number {
    const index = this.#next[compute] as number;
    this.#moveTo(compute, index + 1);
    return this.#arrivalsOf(compute).durationMs[index] as number;
  }

  /**
   * Reads arrivals before `readyAt`, which wait until then and run. Returns the end of the last one, or `busyUntil` if
   * that is later.
   */
  readWaiting(compute: number, readyAt: SimTime, busyUntil: SimTime): SimTime {
    const { at, durationMs } = this.#arrivalsOf(compute);
    const end = this.#end[compute] as number;
    let busyEnd = busyUntil;
    let i = this.#next[compute] as number;
    for (; i < end; i += 1) {
      const arrival = at[i] as number;
      if (arrival >= readyAt) break;
      this.#outcome.waits.add(readyAt - arrival);
      busyEnd = Math.max(busyEnd, readyAt + (durationMs[i] as number));
    }
    this.#readTo(compute, i);
    return busyEnd;
  }

  /**
   * Reads arrivals up to `delayMs` (inclusive) after the last end, which run at once. Returns the end of the last one.
   */
  readActive(compute: number, delayMs: number, busyUntil: SimTime): SimTime {
    const { at, durationMs } = this.#arrivalsOf(compute);
    const end = this.#end[compute] as number;
    // The product tells V8 that this is a double; otherwise it allocates a heap number in each iteration.
    let busyEnd = busyUntil * 1;
    let i = this.#next[compute] as number;
    for (; i < end; i += 1) {
      const arrival = at[i] as number;
      if (arrival > busyEnd + delayMs) break;
      const endsAt = arrival + (durationMs[i] as number);
      if (endsAt > busyEnd) busyEnd = endsAt;
    }
    this.#readTo(compute, i);
    return busyEnd;
  }

  #readTo(compute: number, index: number): void {
    const count = index - (this.#next[compute] as number);
    this.#moveTo(compute, index);
    this.#outcome.arrivals += count;
    this.#outcome.events += count;
  }

  #moveTo(compute: number, index: number): void {
    this.#next[compute] = index;
    this.#nextAt[compute] =
      index < (this.#end[compute] as number)
        ? (this.#arrivalsOf(compute).at[index] as number)
        : Number.POSITIVE_INFINITY;
  }

  #arrivalsOf(compute: number): ComputeArrivals {
    return this.#arrivals[compute] as ComputeArrivals;
  }
}

function countBefore(arrivals: ComputeArrivals | undefined, endAt: SimTime): number {
  let count = arrivals?.at.length ?? 0;
  while (count > 0 && (arrivals?.at[count - 1] as number) >= endAt) count -= 1;
  return count;
}
