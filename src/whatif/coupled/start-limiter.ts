import type { DurationMs, SimTime } from "../../platform/core/time.ts";

export type StartLimits = {
  /** Computes that are kept prepared: a start that gets one is short. Each is replaced so long after it was taken. */
  readonly pool?: { readonly size: number; readonly refillMs: DurationMs } | undefined;
  /** Starts that may be under way at once; others wait their turn. */
  readonly concurrent?: number | undefined;
};

/** What starts of many computes share. First come, first served. */
export class StartLimiter {
  readonly #concurrent: number;
  readonly #refillMs: DurationMs;
  /** When the prepared computes are there again, in a ring: taken in turn and refilled in equal time, they ascend. */
  readonly #preparedAt: Float64Array;
  #nextPrepared = 0;
  /** Those that wait, in a ring: a compute waits once at most. */
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

  /** Whether a compute may start now; else it is queued. */
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

  /** A start is over; gives the compute whose turn it is, or -1. */
  release(): number {
    this.underWay -= 1;
    if (this.queued === 0) return -1;
    const compute = this.#queue[this.#queueFirst] as number;
    this.#queueFirst = (this.#queueFirst + 1) % this.#queue.length;
    this.queued -= 1;
    this.#beginStart();
    return compute;
  }

  /** Takes a prepared compute if there is one. */
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
