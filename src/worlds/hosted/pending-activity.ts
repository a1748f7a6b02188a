import type { LiveWorld } from "./live-world.ts";

/**
 * Tells activity of clients from other events that are not durable. Clients do not wait until it is on disk: a crash
 * closes their connections anyway.
 */
export class PendingActivity {
  #live: LiveWorld | undefined;
  /** All events up to and including this one are durable, or activity. */
  #seq = 0;

  /** Whether all events that are not durable are activity. */
  isAll(live: LiveWorld): boolean {
    const { simulation } = live;
    return !simulation.hasUndurableEvents || (this.#live === live && this.#seq === simulation.world.seq);
  }

  /** Whether a failed commit of this world has lost activity. */
  isLostWith(live: LiveWorld): boolean {
    return this.#live === live && this.#seq > live.simulation.committedSeq;
  }

  /** The events since `isAll` returned true are activity. */
  add(live: LiveWorld): void {
    this.#live = live;
    this.#seq = live.simulation.world.seq;
  }
}
