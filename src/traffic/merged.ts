import type { ActivityKind } from "../platform/compute/activity.ts";
import type { SimTime } from "../platform/core/time.ts";
import type { Arrivals } from "./arrivals.ts";
import { NO_CONNECTION } from "./arrivals.ts";

/** Many streams as one, by time; what comes at one instant, in the order of the sources. */
export class MergedArrivals implements Arrivals {
  at: SimTime = Number.POSITIVE_INFINITY;
  durationMs = 0;
  queries = 0;
  kind: ActivityKind = "query";
  connection = NO_CONNECTION;
  /** Index of the source that this arrival comes from; −1 when all are over. */
  source = -1;
  readonly #sources: readonly Arrivals[];
  /** A heap of sources by (instant, index), and where in it each source is. */
  readonly #heap: Int32Array;
  readonly #places: Int32Array;
  readonly #instants: Float64Array;

  constructor(sources: readonly Arrivals[]) {
    this.#sources = sources;
    this.#heap = Int32Array.from(sources, (_, index) => index);
    this.#places = this.#heap.slice();
    this.#instants = Float64Array.from(sources, ({ at }) => at);
    for (let place = (sources.length >> 1) - 1; place >= 0; place -= 1) this.#sink(place);
    this.#show();
  }

  next(): void {
    const { source } = this;
    if (source < 0) return;
    const arrivals = this.#sources[source] as Arrivals;
    arrivals.next();
    this.#instants[source] = arrivals.at;
    this.#sink(0);
    this.#show();
  }

  /** As of `Arrivals`; `source` is whose connection it was. */
  closed(at: SimTime, connection: number, source = this.source): void {
    const arrivals = this.#sources[source];
    if (arrivals === undefined) return;
    arrivals.closed(at, connection);
    this.#instants[source] = arrivals.at;
    this.#rise(this.#places[source] as number);
    this.#sink(this.#places[source] as number);
    this.#show();
  }

  #show(): void {
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

  #sink(from: number): void {
    const heap = this.#heap;
    const { length } = heap;
    const moved = heap[from] as number;
    let place = from;
    for (let below = 2 * place + 1; below < length; below = 2 * place + 1) {
      if (below + 1 < length && this.#isBefore(heap[below + 1] as number, heap[below] as number)) below += 1;
      const child = heap[below] as number;
      if (!this.#isBefore(child, moved)) break;
      this.#put(child, place);
      place = below;
    }
    this.#put(moved, place);
  }

  #rise(from: number): void {
    const moved = this.#heap[from] as number;
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#heap[above] as number;
      if (!this.#isBefore(moved, parent)) break;
      this.#put(parent, place);
      place = above;
    }
    this.#put(moved, place);
  }

  #put(source: number, place: number): void {
    this.#heap[place] = source;
    this.#places[source] = place;
  }
}
