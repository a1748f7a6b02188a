import type { Activity } from "../../src/platform/compute/activity.ts";
import { uniform } from "../../src/platform/core/random-port.ts";
import { HOUR, type SimTime } from "../../src/platform/core/time.ts";
import type { ArrivalSource } from "../../src/simulation/arrival-source.ts";
import { randomFrom } from "../../src/simulation/random.ts";

export type FleetShape = {
  readonly computes: number;
  readonly days: number;
  /** Mean time between two queries of a compute, from 8 to 18 o'clock and in the rest of the day. */
  readonly busyGapMs: number;
  readonly quietGapMs: number;
  readonly queryMs: number;
  /** How long a compute stays awake without anything to do, and how long it takes to start: the platform's, told to the baseline. */
  readonly delayMs: number;
  readonly startMs: number;
};

export type FleetResult = {
  readonly events: number;
  readonly wakes: number;
  readonly elapsedMs: number;
  readonly peakBytes: number;
};

/** Queries of a fleet, each compute's a Poisson process that is livelier in office hours. fleet.py is the same in SimPy. */
export class FleetArrivals implements ArrivalSource {
  readonly #shape: FleetShape;
  readonly #draw: () => number;
  readonly #activities: readonly Activity[];
  /** When each compute's next query comes, and a heap of the computes by it. */
  readonly #nextAt: Float64Array;
  readonly #heap: Int32Array;
  wakes = 0;

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
    if (type === "ComputeActivated") this.wakes += 1;
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
