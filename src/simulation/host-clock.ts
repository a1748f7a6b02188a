/** A clock of the host, in milliseconds. Injected at the edge; nothing below reads a clock of the host. */
export type ReadClock = () => number;

/** A difference between wall-clock and monotonic time of more than this is a step, in milliseconds. */
export const MIN_CLOCK_STEP_MS = 1_000;

export type ClockStep = {
  /** Positive when the host's clock was set forward. */
  readonly byMs: number;
};

/**
 * Wall-clock time for as long as a process runs, measured on the host's monotonic clock. When the
 * host's clock is set, the steady time continues as before, and only `wallOffset` changes.
 */
export class HostClock {
  readonly #wall: ReadClock;
  readonly #monotonic: ReadClock;
  readonly #onStep: (step: ClockStep) => void;
  /** Wall-clock time minus monotonic time. */
  #offset: number;
  #steps = 0;

  constructor(wall: ReadClock, monotonic: ReadClock, onStep: (step: ClockStep) => void = () => undefined) {
    this.#wall = wall;
    this.#monotonic = monotonic;
    this.#onStep = onStep;
    this.#offset = Math.floor(wall()) - this.#readMonotonic();
  }

  /** Number of steps since the start, including those that happened while no process ran. */
  get steps(): number {
    return this.#steps;
  }

  /** Whole milliseconds from an arbitrary origin. Never goes backwards, and never steps. */
  steady(): number {
    const steady = this.#readMonotonic();
    const offset = Math.floor(this.#wall()) - steady;
    const byMs = offset - this.#offset;
    if (Math.abs(byMs) > MIN_CLOCK_STEP_MS) {
      this.#offset = offset;
      this.reportStep(byMs);
    }
    return steady;
  }

  /** Wall-clock time at the origin of `steady`. Changes at every step. */
  get wallOffset(): number {
    return this.#offset;
  }

  /** Wall-clock time in milliseconds since 1970. */
  now(): number {
    return this.steady() + this.#offset;
  }

  /** Counts and reports a step. */
  reportStep(byMs: number): void {
    this.#steps += 1;
    this.#onStep({ byMs });
  }

  #readMonotonic(): number {
    return Math.floor(this.#monotonic());
  }
}
