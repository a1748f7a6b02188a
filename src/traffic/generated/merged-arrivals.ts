import { IndexedHeap } from "../../kernel/indexed-heap.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { ActivityKind } from "../../platform/model/activity.ts";
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
  /** The instant of each source's next arrival. */
  readonly #nextAt: IndexedHeap;

  constructor(sources: readonly Arrivals[]) {
    this.#sources = sources;
    this.#nextAt = new IndexedHeap(Math.max(1, sources.length));
    for (const [index, { at }] of sources.entries()) this.#nextAt.set(index, at);
    this.#updateCurrent();
  }

  next(): void {
    const { source } = this;
    if (source < 0) return;
    const arrivals = this.#sources[source] as Arrivals;
    arrivals.next();
    this.#nextAt.set(source, arrivals.at);
    this.#updateCurrent();
  }

  /** See `Arrivals`; `source` is the source that held the connection. */
  onConnectionClosed(at: SimTime, connection: number, source = this.source): void {
    const arrivals = this.#sources[source];
    if (arrivals === undefined) return;
    arrivals.onConnectionClosed(at, connection);
    this.#nextAt.set(source, arrivals.at);
    this.#updateCurrent();
  }

  #updateCurrent(): void {
    const source = this.#nextAt.first;
    const first = this.#sources[source];
    if (first === undefined || first.at === Number.POSITIVE_INFINITY) {
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
}
