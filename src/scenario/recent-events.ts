import type { RecordedEvent } from "../platform/events.ts";

/** Of each thing, the newest so many events are kept, and of all together: enough to tell what led to a failure. */
const EVENTS_OF_ONE = 12;
const EVENTS_OF_ALL = 40;

/** The newest events, of everything and of each thing that has its own. */
export class RecentEvents {
  readonly #all: RecordedEvent[] = [];
  readonly #byId = new Map<string, RecordedEvent[]>();

  /** `id` is what the event is about, if anything. */
  keep(event: RecordedEvent, id: string | undefined): void {
    add(this.#all, event, EVENTS_OF_ALL);
    if (id === undefined) return;
    let own = this.#byId.get(id);
    if (own === undefined) {
      own = [];
      this.#byId.set(id, own);
    }
    add(own, event, EVENTS_OF_ONE);
  }

  ofAll(): readonly RecordedEvent[] {
    return this.#all.slice(-EVENTS_OF_ALL);
  }

  /** Of the things that are meant, oldest first. */
  of(isMeant: (id: string) => boolean): readonly RecordedEvent[] {
    const found = [...this.#byId].flatMap(([id, events]) => (isMeant(id) ? events.slice(-EVENTS_OF_ONE) : []));
    return found.sort((one, other) => one.seq - other.seq).slice(-EVENTS_OF_ONE);
  }
}

function add(newest: RecordedEvent[], event: RecordedEvent, limit: number): void {
  newest.push(event);
  // Seldom, so that it costs nothing.
  if (newest.length >= 2 * limit) newest.splice(0, newest.length - limit);
}
