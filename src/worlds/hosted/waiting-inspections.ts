import type { SimTime } from "../../kernel/time.ts";

/** Number of events that an advance simulates at least between two pauses in which the world is inspected. */
const EVENTS_BETWEEN_INSPECTIONS = 5_000;

type WaitingInspection = {
  readonly run: (now: SimTime) => Promise<void>;
  /** The advance ended before there was a pause. */
  readonly release: () => void;
};

/** Inspections of a world that wait for a pause of its advance. */
export class WaitingInspections {
  #waiting: WaitingInspection[] = [];
  /** The sequence number of the world from which on the advance may pause for inspections. */
  #earliestSeq = 0;

  /** Runs `inspect` in the next pause. Resolves with `undefined` if the advance ends before. */
  add<T>(inspect: (now: SimTime) => Promise<T>): Promise<{ readonly value: T } | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        run: (now) => inspect(now).then((value) => resolve({ value }), reject),
        release: () => resolve(undefined),
      });
    });
  }

  areDue(seq: number): boolean {
    return this.#waiting.length > 0 && seq >= this.#earliestSeq;
  }

  /** Runs the waiting inspections. Later ones wait for a later pause, so that the advance always continues. */
  async run(seq: number, now: SimTime): Promise<void> {
    this.#earliestSeq = seq + EVENTS_BETWEEN_INSPECTIONS;
    for (const { run } of this.#waiting.splice(0)) await run(now);
  }

  /** Call it when the advance has ended. */
  release(): void {
    this.#earliestSeq = 0;
    for (const { release } of this.#waiting.splice(0)) release();
  }
}
