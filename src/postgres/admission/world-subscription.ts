import type { EventListener, WorldHandle } from "../../worlds/world-handle.ts";

/** A subscription to the events of a world, while it has users. Without users, the world may close or expire. */
export class WorldSubscription {
  readonly #world: WorldHandle;
  readonly #listener: EventListener;
  readonly #users = new Set<unknown>();
  #unsubscribe: () => void = () => undefined;

  constructor(world: WorldHandle, listener: EventListener) {
    this.#world = world;
    this.#listener = listener;
  }

  begin(user: unknown): void {
    if (this.#users.size === 0) this.#unsubscribe = this.#world.subscribe(this.#listener);
    this.#users.add(user);
  }

  /** Does nothing if the user has ended before. */
  end(user: unknown): void {
    if (this.#users.delete(user) && this.#users.size === 0) this.#unsubscribe();
  }

  /** Ends the subscription for all users. */
  close(): void {
    this.#unsubscribe();
  }
}
