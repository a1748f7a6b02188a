import type { SimTime } from "../../kernel/time.ts";
import { DurableView } from "./durable-view.ts";
import type { LiveWorld } from "./live-world.ts";

/** Number of events after which due work is committed. */
const EVENTS_PER_COMMIT = 5_000;
/** Number of events after which due work is committed, once there was a read. */
const EVENTS_PER_COMMIT_WITH_READS = 500;
/** Number of events after which other worlds get a turn: a few milliseconds. */
export const EVENTS_PER_TURN = 500;
/** Number of events per turn while reads of this world arrive. They are answered between turns. */
const EVENTS_PER_TURN_WITH_READS = 50;
/** Number of turns after a read in which further reads are expected. */
const TURNS_WITH_READS = 16;

/**
 * Reads of a world while it advances: how often the advance pauses and commits for them, and the view that they see.
 */
export class AdvanceReaders {
  readonly #onLost: (error: unknown) => void;
  #hasHadReads = false;
  /** Number of turns in which reads are still expected. */
  #turnsWithReads = 0;
  /** What reads see. */
  #view: DurableView | undefined;

  constructor(onLost: (error: unknown) => void) {
    this.#onLost = onLost;
  }

  /** What reads of this world see; `undefined` if it is another one by now, or nothing can be shown yet. */
  viewOf(live: LiveWorld | undefined): DurableView | undefined {
    return this.#view?.live === live ? this.#view : undefined;
  }

  /** Whether reads are expected soon. */
  get areExpected(): boolean {
    return this.#turnsWithReads > 0;
  }

  /** Whether reads wait for a commit, which creates the first view. */
  get areWaiting(): boolean {
    return this.areExpected && this.#view === undefined;
  }

  /** Whether there is a view that reads have used. */
  get areServed(): boolean {
    return this.#hasHadReads && this.#view !== undefined;
  }

  get eventsPerTurn(): number {
    return this.areExpected ? EVENTS_PER_TURN_WITH_READS : EVENTS_PER_TURN;
  }

  get eventsPerCommit(): number {
    return this.#hasHadReads ? EVENTS_PER_COMMIT_WITH_READS : EVENTS_PER_COMMIT;
  }

  /** Makes the advance pause more often for a while. */
  expect(): void {
    this.#hasHadReads = true;
    this.#turnsWithReads = TURNS_WITH_READS;
  }

  endTurn(): void {
    if (this.#turnsWithReads > 0) this.#turnsWithReads -= 1;
  }

  /** All work due by `from` has run, and everything that has happened is durable. */
  show(live: LiveWorld, from: SimTime): void {
    this.#view = new DurableView(live, from, this.#onLost);
  }

  /** A commit takes everything that has happened. The result is called when it is durable. */
  taken(): (() => void) | undefined {
    return this.#view?.taken();
  }

  /** What follows is committed and durable before anybody reads. */
  endView(): void {
    this.#view?.end();
    this.#view = undefined;
  }

  endAdvance(): void {
    this.#hasHadReads = false;
    this.endView();
  }
}
