import type { RecordedEvent } from "../../platform/events.ts";

/** Bounds of the stored events: enough to explain a failure. */
const EVENTS_PER_RESOURCE = 12;
const EVENTS_IN_TOTAL = 40;

/** The newest events of the world and of each resource. */
export class RecentEvents {
  readonly #all = new EventRing(EVENTS_IN_TOTAL);
  readonly #byId = new Map<string, EventRing>();

  /** `id` is the resource that the event concerns, if any. */
  add(event: RecordedEvent, id: string | undefined): void {
    this.#all.add(event);
    if (id === undefined) return;
    let ring = this.#byId.get(id);
    if (ring === undefined) {
      ring = new EventRing(EVENTS_PER_RESOURCE);
      this.#byId.set(id, ring);
    }
    ring.add(event);
  }

  all(): readonly RecordedEvent[] {
    return this.#all.inOrder();
  }

  /** The newest events of the included resources, oldest first. */
  matching(isIncluded: (id: string) => boolean): readonly RecordedEvent[] {
    const found = [...this.#byId].flatMap(([id, events]) => (isIncluded(id) ? events.inOrder() : []));
    return found.sort((one, other) => one.seq - other.seq).slice(-EVENTS_PER_RESOURCE);
  }
}

/** A ring buffer of `limit` events. */
class EventRing {
  readonly #limit: number;
  readonly #ring: RecordedEvent[] = [];
  #oldest = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(event: RecordedEvent): void {
    if (this.#ring.length < this.#limit) {
      this.#ring.push(event);
      return;
    }
    this.#ring[this.#oldest] = event;
    this.#oldest = (this.#oldest + 1) % this.#limit;
  }

  inOrder(): RecordedEvent[] {
    return [...this.#ring.slice(this.#oldest), ...this.#ring.slice(0, this.#oldest)];
  }
}
