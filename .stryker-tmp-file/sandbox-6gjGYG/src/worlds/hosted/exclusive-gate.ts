/** Runs long work one at a time; transactions that arrive meanwhile wait for it. */
// @ts-nocheck

export class ExclusiveGate {
  readonly #onReleased: () => void;
  #running: Promise<unknown> | undefined;

  /** `onReleased` runs after each work, before the next waiting work starts. */
  constructor(onReleased: () => void) {
    this.#onReleased = onReleased;
  }

  /** Settles when the work that is running ends, and never rejects; `undefined` when nothing runs. */
  get running(): Promise<unknown> | undefined {
    return this.#running;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running !== undefined) return this.#running.catch(() => undefined).then(() => this.run(work));
    const running = work().finally(() => {
      this.#running = undefined;
      this.#onReleased();
    });
    this.#running = running.catch(() => undefined);
    return running;
  }
}
