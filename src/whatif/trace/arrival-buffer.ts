import type { ComputeArrivals } from "../../traffic/recorded/trace/trace.ts";

const INITIAL_LENGTH = 1_024;

/** Collects requests that are added in any order. */
export class ArrivalBuffer {
  #at = new Float64Array(INITIAL_LENGTH);
  #durationMs = new Float64Array(INITIAL_LENGTH);
  #source = new Uint16Array(INITIAL_LENGTH);
  /** Allocated with the first load. */
  #load: Float64Array | undefined;
  #length = 0;
  #isInOrder = true;

  add(at: number, durationMs: number, source: number, load?: number): void {
    if (this.#length === this.#at.length) this.#grow();
    if (this.#length > 0 && at < (this.#at[this.#length - 1] as number)) this.#isInOrder = false;
    this.#at[this.#length] = at;
    this.#durationMs[this.#length] = durationMs;
    this.#source[this.#length] = source;
    if (load !== undefined) this.#load ??= new Float64Array(this.#at.length);
    if (this.#load !== undefined) this.#load[this.#length] = load ?? 0;
    this.#length += 1;
  }

  /** The requests by arrival; those of one instant in the order in which they were added. */
  sorted(): ComputeArrivals {
    const [at, durationMs, source] = [this.#at, this.#durationMs, this.#source].map((column) =>
      column.subarray(0, this.#length),
    ) as [Float64Array, Float64Array, Uint16Array];
    const load = this.#load?.subarray(0, this.#length);
    if (this.#isInOrder) return { at, durationMs, source, ...(load === undefined ? {} : { load }) };
    const order = Uint32Array.from(at, (_, index) => index).sort(
      (a, b) => (at[a] as number) - (at[b] as number) || a - b,
    );
    return {
      at: Float64Array.from(order, (index) => at[index] as number),
      durationMs: Float64Array.from(order, (index) => durationMs[index] as number),
      source: Uint16Array.from(order, (index) => source[index] as number),
      ...(load === undefined ? {} : { load: Float64Array.from(order, (index) => load[index] as number) }),
    };
  }

  #grow(): void {
    const length = 2 * this.#at.length;
    const [at, durationMs, source, load] = [this.#at, this.#durationMs, this.#source, this.#load];
    this.#at = new Float64Array(length);
    this.#durationMs = new Float64Array(length);
    this.#source = new Uint16Array(length);
    this.#at.set(at);
    this.#durationMs.set(durationMs);
    this.#source.set(source);
    if (load !== undefined) {
      this.#load = new Float64Array(length);
      this.#load.set(load);
    }
  }
}
