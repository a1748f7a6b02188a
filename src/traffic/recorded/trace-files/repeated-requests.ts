import type { DurationMs, SimTime } from "../../../kernel/time.ts";
import type { Intake } from "../rows/intake.ts";

/** Least number of requests to report. Half of fewer requests may be equal by chance. */
export const MIN_REPEATED_ROWS = 20;

/**
 * Counts requests that equal another one of their compute. If all files are given twice, that is at least half of
 * them, in whichever order the requests of one millisecond are; see also `EqualInputs`.
 */
export class RepeatedRequests {
  #at = Number.NaN;
  /** The requests of the compute at this instant, by duration and source. */
  readonly #atInstant = new Set<string>();
  /** The first of them, which is the only one in most cases. */
  #durationMs = 0;
  #source = 0;
  #rows = 0;
  #repeated = 0;

  /** Requires that the requests of a compute are in the order of their instants. */
  add(at: SimTime, durationMs: DurationMs, source: number): void {
    this.#rows += 1;
    if (at !== this.#at) {
      [this.#at, this.#durationMs, this.#source] = [at, durationMs, source];
      if (this.#atInstant.size > 0) this.#atInstant.clear();
      return;
    }
    if (durationMs === this.#durationMs && source === this.#source) {
      this.#repeated += 1;
      return;
    }
    const key = `${durationMs} ${source}`;
    if (this.#atInstant.has(key)) this.#repeated += 1;
    else this.#atInstant.add(key);
  }

  endCompute(): void {
    this.#at = Number.NaN;
  }

  noteIn(intake: Intake): void {
    if (this.#rows < MIN_REPEATED_ROWS || this.#repeated < this.#rows / 2) return;
    const share = Math.round((100 * this.#repeated) / this.#rows);
    intake.note(
      `${share} % of the requests repeat another one with the same compute, instant, duration and source: is a file given twice?`,
    );
  }
}
