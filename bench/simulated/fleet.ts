import { uniform } from "../../src/kernel/random-port.ts";
import { HOUR, type SimTime } from "../../src/kernel/time.ts";
import type { Activity } from "../../src/platform/model/activity.ts";
import type { ArrivalSource } from "../../src/simulation/arrival-source.ts";
import { randomFrom } from "../../src/simulation/random.ts";

export type FleetShape = {
  readonly computes: number;
  readonly days: number;
  /** Mean time between two queries of a compute, from 8:00 to 18:00 and outside of it. */
  readonly busyGapMs: number;
  readonly quietGapMs: number;
  readonly queryMs: number;
  /** Autosuspend delay and start latency of the SimPy model. Must match the profile of the world. */
  readonly delayMs: number;
  readonly startMs: number;
};

export type FleetResult = {
  readonly events: number;
  readonly starts: number;
  readonly elapsedMs: number;
  readonly peakBytes: number;
};

/** Poisson queries for each compute, at a higher rate in office hours. fleet.py is the same in SimPy. */
export class FleetArrivals implements ArrivalSource {
  readonly #shape: FleetShape;
  readonly #draw: () => number;
  readonly #activities: readonly Activity[];
  /** Time of the next query of each compute; `#heap` is a binary heap of computes by it. */
  readonly #nextAt: Float64Array;
  readonly #heap: Int32Array;
  starts = 0;

  constructor(shape: FleetShape, computes: readonly string[], from: SimTime) {
    this.#shape = shape;
    this.#draw = randomFrom(7).stream("bench-fleet", 1);
    this.#activities = computes.map((endpointId) => ({
      endpointId,
      kind: "query",
      durationMs: shape.queryMs,
    }));
    this.#nextAt = Float64Array.from(computes, () => this.#nextAfter(from));
    const order = [...computes.keys()].sort((a, b) => this.#at(a) - this.#at(b));
    this.#heap = Int32Array.from(order);
  }

  get at(): SimTime {
    return this.#at(this.#heap[0] as number);
  }

  take(): Activity {
    const heap = this.#heap;
    const compute = heap[0] as number;
    const at = this.#nextAfter(this.#at(compute));
    this.#nextAt[compute] = at;
    let index = 0;
    for (let child = 1; child < heap.length; child = 2 * index + 1) {
      if (child + 1 < heap.length && this.#at(heap[child + 1] as number) < this.#at(heap[child] as number))
        child += 1;
      if (this.#at(heap[child] as number) >= at) break;
      heap[index] = heap[child] as number;
      index = child;
    }
    heap[index] = compute;
    return this.#activities[compute] as Activity;
  }

  observe({ type }: { readonly type: string }): void {
    if (type === "ComputeActivated") this.starts += 1;
  }

  observeRefusal(_: Activity, { message }: { readonly message: string }): never {
    throw new Error(message);
  }

  #at(compute: number): SimTime {
    return this.#nextAt[compute] as number;
  }

  #nextAfter(at: SimTime): SimTime {
    const hour = Math.floor(at / HOUR) % 24;
    const meanMs = hour >= 8 && hour < 18 ? this.#shape.busyGapMs : this.#shape.quietGapMs;
    return at + Math.ceil(-Math.log(1 - uniform(this.#draw)) * meanMs);
  }
}
