import { performance } from "node:perf_hooks";

/** The shortest time between two marks of a compute, in milliseconds of wall-clock time. */
const MARK_INTERVAL_MS = 20;

/** Marks the data of a compute after each work of its clients, but not more often than the interval. */
export class MarkSchedule {
  readonly #mark: () => Promise<unknown>;
  #markedAt = Number.NEGATIVE_INFINITY;
  #isMarking = false;
  #isWanted = false;

  constructor(mark: () => Promise<unknown>) {
    this.#mark = mark;
  }

  workEnded(): void {
    this.#isWanted = true;
    if (this.#isMarking) return;
    this.#isMarking = true;
    const delay = this.#markedAt + MARK_INTERVAL_MS - performance.now();
    if (delay <= 0) void this.#run();
    else setTimeout(() => void this.#run(), delay).unref();
  }

  async #run(): Promise<void> {
    this.#isWanted = false;
    this.#markedAt = performance.now();
    // The engine may have been stopped in the meantime, which marks it too.
    await this.#mark().catch(() => undefined);
    this.#isMarking = false;
    if (this.#isWanted) this.workEnded();
  }
}
