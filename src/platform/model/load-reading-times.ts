import { GOLDEN_STEP, MIX_FACTOR, mix } from "../../kernel/mixed-word.ts";
import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";

/** D: the agent reads the metrics of a compute this often. */
const READING_INTERVAL_MS: DurationMs = 5 * SECOND;

/**
 * When the load of a compute is read. Readings are numbered from 1: one in every 5 s from the start on, at an instant of
 * its own in them, because the platform's are not in step with the clients. With a reading at every whole 5 s, a job
 * that runs every minute would be seen each time or never.
 *
 * A number drawn at the start (`readingSeed`) gives these instants. Computes that were started by earlier releases have
 * none: they are read at every whole 5 s.
 */
export class LoadReadingTimes {
  readonly #startedAt: SimTime;
  readonly #seed: number | undefined;

  constructor(startedAt: SimTime, seed: number | undefined) {
    this.#startedAt = startedAt;
    this.#seed = seed;
  }

  at(reading: number): SimTime {
    return this.#startedAt + (reading - 1) * READING_INTERVAL_MS + this.#offsetMs(reading);
  }

  /** The number of the last reading before `at` (exclusive); 0 if there is none. */
  lastBefore(at: SimTime): number {
    const reading = Math.ceil((at - this.#startedAt) / READING_INTERVAL_MS);
    if (reading < 1) return 0;
    return this.at(reading) < at ? reading : reading - 1;
  }

  /** From 1 ms (inclusive) to 5 s (inclusive). */
  #offsetMs(reading: number): DurationMs {
    if (this.#seed === undefined) return READING_INTERVAL_MS;
    return 1 + (mix(this.#seed ^ Math.imul(reading, GOLDEN_STEP), MIX_FACTOR) % READING_INTERVAL_MS);
  }
}
