import { FlushTimer } from "./flush-timer.ts";
import type { LiveWorld } from "./live-world.ts";

/** Events. If as many are not durable, because the disk is slow, clients wait. */
export const MOST_UNDURABLE = 1_000;
/** Activity is written at most this long after it happened, in milliseconds of wall-clock time. A crash loses no more of it. */
const WRITTEN_WITHIN_MS = 100;

/**
 * Tells activity of clients from other events that are not durable. Clients do not wait until it is on disk: a crash
 * closes their connections anyway.
 */
export class PendingActivity {
  #live: LiveWorld | undefined;
  /** All events up to and including this one are durable, or activity. */
  #seq = 0;
  readonly #timer: FlushTimer;

  /** `commit` makes everything durable that has happened. */
  constructor(commit: () => void) {
    this.#timer = new FlushTimer(WRITTEN_WITHIN_MS, commit);
  }

  /** Whether all events that are not durable are activity, and few. */
  isAll(live: LiveWorld): boolean {
    const { simulation } = live;
    const { seq } = simulation.world;
    const undurable = seq - simulation.committedSeq;
    return undurable === 0 || (undurable < MOST_UNDURABLE && this.#live === live && this.#seq === seq);
  }

  /** Whether a failed commit of this world has lost activity. */
  isLostWith(live: LiveWorld): boolean {
    return this.#live === live && this.#seq > live.simulation.committedSeq;
  }

  /** The events since `isAll` returned true are activity. Commits them soon. */
  add(live: LiveWorld): void {
    this.#live = live;
    this.#seq = live.simulation.world.seq;
    this.#timer.start();
  }

  /** A commit has begun, which contains it. */
  cancelTimer(): void {
    this.#timer.cancel();
  }
}
