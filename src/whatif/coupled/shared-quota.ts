import { SECOND, type SimTime } from "../../platform/core/time.ts";

/** Compute time that groups of computes (projects) may use in a month, in CU-seconds; infinite for as much as they like. */
export type Quotas = {
  readonly computeSeconds: Float64Array;
  /** By compute: its group. */
  readonly groupOf: Int32Array;
};

/**
 * Meters groups of computes against their quotas, by the platform's rule: what counts is the use since the beginning of the month, from the
 * first millisecond at which it is as much as the quota.
 */
export class SharedQuota {
  readonly #limitCuMs: Float64Array;
  readonly #usedCuMs: Float64Array;
  /** CUs that are active, and since when the rest has not been booked. */
  readonly #activeCu: Float64Array;
  readonly #accruedAt: Float64Array;

  constructor({ computeSeconds }: Quotas, startAt: SimTime) {
    this.#limitCuMs = computeSeconds.map((seconds) => seconds * SECOND);
    this.#usedCuMs = new Float64Array(computeSeconds.length);
    this.#activeCu = new Float64Array(computeSeconds.length);
    this.#accruedAt = new Float64Array(computeSeconds.length).fill(startAt);
  }

  /** A compute of this size is active from now on; or, with a negative size, not any more. */
  changeActiveCu(group: number, cu: number, now: SimTime): void {
    this.#accrue(group, now);
    this.#activeCu[group] = (this.#activeCu[group] as number) + cu;
  }

  isReached(group: number, now: SimTime): boolean {
    const elapsedMs = now - (this.#accruedAt[group] as number);
    return (
      (this.#usedCuMs[group] as number) + elapsedMs * (this.#activeCu[group] as number) >=
      (this.#limitCuMs[group] as number)
    );
  }

  /** When it is reached if nothing else happens; infinite where nothing is active. */
  dueAt(group: number, now: SimTime): SimTime {
    const activeCu = this.#activeCu[group] as number;
    if (activeCu <= 0) return Number.POSITIVE_INFINITY;
    this.#accrue(group, now);
    return (
      now +
      Math.max(
        0,
        Math.ceil(((this.#limitCuMs[group] as number) - (this.#usedCuMs[group] as number)) / activeCu),
      )
    );
  }

  /** Another month begins. */
  reset(now: SimTime): void {
    this.#usedCuMs.fill(0);
    this.#accruedAt.fill(now);
  }

  #accrue(group: number, now: SimTime): void {
    this.#usedCuMs[group] =
      (this.#usedCuMs[group] as number) +
      (now - (this.#accruedAt[group] as number)) * (this.#activeCu[group] as number);
    this.#accruedAt[group] = now;
  }
}
