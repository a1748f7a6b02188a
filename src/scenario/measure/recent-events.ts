import type { RecordedEvent } from "../../platform/events.ts";

/** Of each thing, the newest so many events are kept, and of all together: enough to tell what led to a failure. */
const EVENTS_OF_ONE = 12;
const EVENTS_OF_ALL = 40;

/** The newest events, of everything and of each thing that has its own. */
export class RecentEvents {
  readonly #all = new Newest(EVENTS_OF_ALL);
  readonly #byId = new Map<string, Newest>();

  /** `id` is what the event is about, if anything. */
  keep(event: RecordedEvent, id: string | undefined): void {
    this.#all.add(event);
    if (id === undefined) return;
    let own = this.#byId.get(id);
    if (own === undefined) {
      own = new Newest(EVENTS_OF_ONE);
      this.#byId.set(id, own);
    }
    own.add(event);
  }

  ofAll(): readonly RecordedEvent[] {
    return this.#all.inOrder();
  }

  /** Of the things that are meant, oldest first. */
  of(isMeant: (id: string) => boolean): readonly RecordedEvent[] {
    const found = [...this.#byId].flatMap(([id, events]) => (isMeant(id) ? events.inOrder() : []));
    return found.sort((one, other) => one.seq - other.seq).slice(-EVENTS_OF_ONE);
  }
}

/** So many events, in a ring: the next one takes the place of the oldest. */
class Newest {
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
