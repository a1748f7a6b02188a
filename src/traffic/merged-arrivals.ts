import type { ActivityKind } from "../platform/compute/activity.ts";
import type { SimTime } from "../platform/core/time.ts";
import type { Arrivals } from "./arrivals.ts";
import { NO_CONNECTION } from "./arrivals.ts";

/** Merges many streams by time; arrivals at one instant keep the order of the sources. */
export class MergedArrivals implements Arrivals {
  at: SimTime = Number.POSITIVE_INFINITY;
  durationMs = 0;
  queries = 0;
  kind: ActivityKind = "query";
  connection = NO_CONNECTION;
  /** Index of the source of this arrival; −1 when all have ended. */
  source = -1;
  readonly #sources: readonly Arrivals[];
  /** A heap of sources by (instant, index), and the position of each source in it. */
  readonly #heap: Int32Array;
  readonly #positions: Int32Array;
  readonly #instants: Float64Array;

  constructor(sources: readonly Arrivals[]) {
    this.#sources = sources;
    this.#heap = Int32Array.from(sources, (_, index) => index);
    this.#positions = this.#heap.slice();
    this.#instants = Float64Array.from(sources, ({ at }) => at);
    for (let position = (sources.length >> 1) - 1; position >= 0; position -= 1) this.#siftDown(position);
    this.#updateCurrent();
  }

  next(): void {
    const { source } = this;
    if (source < 0) return;
    const arrivals = this.#sources[source] as Arrivals;
    arrivals.next();
    this.#instants[source] = arrivals.at;
    this.#siftDown(0);
    this.#updateCurrent();
  }

  /** See `Arrivals`; `source` is the source that held the connection. */
  onConnectionClosed(at: SimTime, connection: number, source = this.source): void {
    const arrivals = this.#sources[source];
    if (arrivals === undefined) return;
    arrivals.onConnectionClosed(at, connection);
    this.#instants[source] = arrivals.at;
    this.#siftUp(this.#positions[source] as number);
    this.#siftDown(this.#positions[source] as number);
    this.#updateCurrent();
  }

  #updateCurrent(): void {
    const source = this.#heap[0];
    const first = source === undefined ? undefined : this.#sources[source];
    if (source === undefined || first === undefined || first.at === Number.POSITIVE_INFINITY) {
      this.at = Number.POSITIVE_INFINITY;
      this.source = -1;
      return;
    }
    this.at = first.at;
    this.durationMs = first.durationMs;
    this.queries = first.queries;
    this.kind = first.kind;
    this.connection = first.connection;
    this.source = source;
  }

  #isBefore(one: number, other: number): boolean {
    const at = this.#instants[one] as number;
    const otherAt = this.#instants[other] as number;
    return at < otherAt || (at === otherAt && one < other);
  }

  #siftDown(from: number): void {
    const heap = this.#heap;
    const { length } = heap;
    const item = heap[from] as number;
    let position = from;
    for (let childIndex = 2 * position + 1; childIndex < length; childIndex = 2 * position + 1) {
      if (
        childIndex + 1 < length &&
        this.#isBefore(heap[childIndex + 1] as number, heap[childIndex] as number)
      )
        childIndex += 1;
      const child = heap[childIndex] as number;
      if (!this.#isBefore(child, item)) break;
      this.#put(child, position);
      position = childIndex;
    }
    this.#put(item, position);
  }

  #siftUp(from: number): void {
    const item = this.#heap[from] as number;
    let position = from;
    while (position > 0) {
      const parentIndex = (position - 1) >> 1;
      const parent = this.#heap[parentIndex] as number;
      if (!this.#isBefore(item, parent)) break;
      this.#put(parent, position);
      position = parentIndex;
    }
    this.#put(item, position);
  }

  #put(source: number, position: number): void {
    this.#heap[position] = source;
    this.#positions[source] = position;
  }
}
