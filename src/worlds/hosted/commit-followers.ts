import type { RecordedEvent } from "../../platform/model/events.ts";
import type { EventListener, StoreUnavailable } from "../world-handle.ts";

/** Those that follow the commits of a world: subscribers of its events and of its request log. */
export class CommitFollowers {
  readonly #listeners = new Set<EventListener>();
  readonly #requestListeners = new Set<() => void>();

  get size(): number {
    return this.#listeners.size + this.#requestListeners.size;
  }

  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listener when requests have been logged. */
  subscribeToRequests(listener: () => void): () => void {
    this.#requestListeners.add(listener);
    return () => this.#requestListeners.delete(listener);
  }

  /** Notifies them of a commit. The promise, if there is one, settles when those that need time for it have finished. */
  follow(events: readonly RecordedEvent[], hasRequests: boolean): Promise<unknown> | undefined {
    if (hasRequests) for (const listener of this.#requestListeners) listener();
    const followers = events.length === 0 ? [] : [...this.#listeners].map((listener) => listener(events));
    const pending = followers.filter((follower) => follower !== undefined);
    return pending.length === 0 ? undefined : Promise.allSettled(pending);
  }

  /** Makes subscribers check the world again after something other than an event has changed it. */
  notify(failure?: StoreUnavailable): void {
    for (const listener of this.#listeners) void listener([], failure);
    for (const listener of this.#requestListeners) listener();
  }
}
