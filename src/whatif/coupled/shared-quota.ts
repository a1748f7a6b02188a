import { SECOND, type SimTime } from "../../kernel/time.ts";

/**
 * Compute time that each group of computes (a project) may use in a month, in CU-seconds; infinite for no
 * limit.
 */
export type Quotas = {
  readonly computeSeconds: Float64Array;
  /** Group of each compute. */
  readonly groupOf: Int32Array;
};

/**
 * Meters groups of computes against their quotas. As on the platform, use counts from the beginning of the
 * month, and the quota is reached at the first millisecond at which use equals it.
 */
export class SharedQuota {
  readonly #limitCuMs: Float64Array;
  readonly #usedCuMs: Float64Array;
  /** Active CUs, and the time up to which their use is in `#usedCuMs`. */
  readonly #activeCu: Float64Array;
  readonly #accruedAt: Float64Array;

  constructor({ computeSeconds }: Quotas, startAt: SimTime) {
    this.#limitCuMs = computeSeconds.map((seconds) => seconds * SECOND);
    this.#usedCuMs = new Float64Array(computeSeconds.length);
    this.#activeCu = new Float64Array(computeSeconds.length);
    this.#accruedAt = new Float64Array(computeSeconds.length).fill(startAt);
  }

  /** A compute of this size becomes active; with a negative size, it is no longer active. */
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

  /** When the quota is reached if nothing changes; infinite if nothing is active. */
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

  /** A new month begins. */
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
