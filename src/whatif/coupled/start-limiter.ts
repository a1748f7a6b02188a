import type { DurationMs, SimTime } from "../../kernel/time.ts";

export type StartLimits = {
  /** Prepared computes, which make a start short. Each is replaced `refillMs` after it was taken. */
  readonly pool?: { readonly size: number; readonly refillMs: DurationMs } | undefined;
  /** Maximum of concurrent starts; further ones are queued. */
  readonly concurrent?: number | undefined;
};

/** Limits that the starts of many computes share, first come, first served. */
export class StartLimiter {
  readonly #concurrent: number;
  readonly #refillMs: DurationMs;
  /**
   * When each prepared compute is available: a ring in ascending order, since all take equally long to
   * refill.
   */
  readonly #preparedAt: Float64Array;
  #nextPrepared = 0;
  /** Queued computes, in a ring: each is queued at most once. */
  readonly #queue: Int32Array;
  #queueFirst = 0;
  queued = 0;
  underWay = 0;
  mostUnderWay = 0;
  mostQueued = 0;
  poolHits = 0;
  poolMisses = 0;

  constructor({ pool, concurrent = Number.POSITIVE_INFINITY }: StartLimits, computes: number) {
    this.#concurrent = concurrent;
    this.#refillMs = pool?.refillMs ?? 0;
    this.#preparedAt = new Float64Array(pool?.size ?? 0).fill(Number.NEGATIVE_INFINITY);
    this.#queue = new Int32Array(computes);
  }

  /** Returns whether the compute may start now; otherwise it is queued. */
  acquire(compute: number): boolean {
    if (this.underWay < this.#concurrent) {
      this.#beginStart();
      return true;
    }
    this.#queue[(this.#queueFirst + this.queued) % this.#queue.length] = compute;
    this.queued += 1;
    this.mostQueued = Math.max(this.mostQueued, this.queued);
    return false;
  }

  /** Ends a start. Returns the queued compute that starts now, or -1. */
  release(): number {
    this.underWay -= 1;
    if (this.queued === 0) return -1;
    const compute = this.#queue[this.#queueFirst] as number;
    this.#queueFirst = (this.#queueFirst + 1) % this.#queue.length;
    this.queued -= 1;
    this.#beginStart();
    return compute;
  }

  /** Takes a prepared compute if one is available. Returns whether it did. */
  takePrepared(now: SimTime): boolean {
    const prepared = this.#preparedAt;
    const isAvailable = (prepared[this.#nextPrepared] ?? Number.POSITIVE_INFINITY) <= now;
    if (isAvailable) {
      prepared[this.#nextPrepared] = now + this.#refillMs;
      this.#nextPrepared = (this.#nextPrepared + 1) % prepared.length;
      this.poolHits += 1;
    } else {
      this.poolMisses += 1;
    }
    return isAvailable;
  }

  #beginStart(): void {
    this.underWay += 1;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
  }
}
