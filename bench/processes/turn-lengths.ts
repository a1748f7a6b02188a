import { openSync, readSync } from "node:fs";

/** Shorter turns find nothing to do. */
const IDLE_MS = 0.05;
const MAX_TURNS = 1_000_000;
const STEPS_OF_SEARCH = 40;

/** The lengths of the turns of the event loop, in processor time of the thread: other processes disturb them little. */
export class TurnLengths {
  readonly #cpuMs = threadClock();
  readonly #lengths = new Float64Array(MAX_TURNS);
  #count = 0;
  #turnAt = this.#cpuMs();
  #isOver = false;

  constructor() {
    setImmediate(() => this.#watch());
  }

  end(): void {
    this.#watch();
    this.#isOver = true;
  }

  #watch(): void {
    if (this.#isOver) return;
    const now = this.#cpuMs();
    const length = now - this.#turnAt;
    this.#turnAt = now;
    if (length > IDLE_MS && this.#count < MAX_TURNS) {
      this.#lengths[this.#count] = length;
      this.#count += 1;
    }
    setImmediate(() => this.#watch());
  }

  get totalMs(): number {
    return this.#turns.reduce((sum, length) => sum + length, 0);
  }

  get longestMs(): number {
    return this.#turns.reduce((longest, length) => Math.max(longest, length), 0);
  }

  /** What a part of the requests waits at most until the turn ends in which they arrive, while the thread is busy. */
  waitMs(part: number): number {
    const allowed = (1 - part) * this.totalMs;
    let [from, to] = [0, this.longestMs];
    for (let step = 0; step < STEPS_OF_SEARCH; step += 1) {
      const middle = (from + to) / 2;
      const longer = this.#turns.reduce((sum, length) => sum + Math.max(0, length - middle), 0);
      if (longer > allowed) from = middle;
      else to = middle;
    }
    return to;
  }

  get #turns(): Float64Array {
    return this.#lengths.subarray(0, this.#count);
  }
}

/**
 * Processor time of the main thread in ms. Other threads, such as the garbage collector, and other processes do not
 * count. Linux only.
 */
function threadClock(): () => number {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const text = Buffer.alloc(64);
  return () => {
    const length = readSync(file, text, 0, text.length, 0);
    // The first number is the time on a processor, in nanoseconds.
    return Number(text.toString("latin1", 0, length).split(" ", 1)[0]) / 1e6;
  };
}
