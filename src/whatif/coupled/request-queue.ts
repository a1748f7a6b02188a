import type { DurationMs, SimTime } from "../../kernel/time.ts";

/**
 * Requests that wait for their compute: linked lists by compute in shared typed arrays, so a request
 * allocates nothing.
 */
export class RequestQueue {
  readonly #first: Int32Array;
  #next = new Int32Array(1_024);
  #at = new Float64Array(1_024);
  #durationMs = new Float64Array(1_024);
  #client = new Int32Array(1_024);
  #free = -1;
  #used = 0;

  constructor(computes: number) {
    this.#first = new Int32Array(computes).fill(-1);
  }

  add(compute: number, at: SimTime, durationMs: DurationMs, client: number): void {
    let slot = this.#free;
    if (slot !== -1) this.#free = this.#next[slot] as number;
    else slot = this.#newSlot();
    this.#at[slot] = at;
    this.#durationMs[slot] = durationMs;
    this.#client[slot] = client;
    this.#next[slot] = this.#first[compute] as number;
    this.#first[compute] = slot;
  }

  /** Removes and visits the requests of a compute, last one first. */
  drain(compute: number, visit: (at: SimTime, durationMs: DurationMs, client: number) => void): void {
    let slot = this.#first[compute] as number;
    this.#first[compute] = -1;
    while (slot !== -1) {
      visit(this.#at[slot] as number, this.#durationMs[slot] as number, this.#client[slot] as number);
      const next = this.#next[slot] as number;
      this.#next[slot] = this.#free;
      this.#free = slot;
      slot = next;
    }
  }

  #newSlot(): number {
    if (this.#used === this.#next.length) this.#grow();
    this.#used += 1;
    return this.#used - 1;
  }

  #grow(): void {
    const length = 2 * this.#next.length;
    const grown = <T extends Float64Array | Int32Array>(from: T, into: T): T => {
      into.set(from);
      return into;
    };
    this.#next = grown(this.#next, new Int32Array(length));
    this.#at = grown(this.#at, new Float64Array(length));
    this.#durationMs = grown(this.#durationMs, new Float64Array(length));
    this.#client = grown(this.#client, new Int32Array(length));
  }
}
