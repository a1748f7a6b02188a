import type { SimTime } from "../../platform/core/time.ts";
import type { ComputeArrivals, Period } from "../../recordings/trace/trace.ts";
import type { ReplayOutcome } from "../replay/replay-outcome.ts";

/** How far the traces of many computes have been read; what was read is counted in the outcome. All by the computes' index. */
export class TraceCursors {
  readonly #arrivals: readonly (ComputeArrivals | undefined)[];
  readonly #outcome: ReplayOutcome & { events: number };
  readonly #next: Uint32Array;
  /** When that is: kept here, for in the trace it is far away again when it is wanted. */
  readonly #nextAt: Float64Array;
  /** The first one that is not within the period. */
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

  /** When the next request arrives; infinite where there is none. */
  nextAt(compute: number): SimTime {
    return this.#nextAt[compute] as number;
  }

  /** Goes on to the one after it; gives its duration, and leaves the counting to those who serve it. */
  take(compute: number): number {
    const index = this.#next[compute] as number;
    this.#moveTo(compute, index + 1);
    return this.#arrivalsOf(compute).durationMs[index] as number;
  }

  /** What arrives before `untilAt` waits until then, and runs. Gives when the last of them ends, or `busyUntil` where that is later. */
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

  /** What arrives until so long after the last end is served at once. Gives when the last of all ends. */
  readActive(compute: number, delayMs: number, busyUntil: SimTime): SimTime {
    const { at, durationMs } = this.#arrivalsOf(compute);
    const end = this.#end[compute] as number;
    // A product is a float for sure; what may be anything would be put into a box in every turn.
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
