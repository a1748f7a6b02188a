/**
 * Ends of running requests, earliest first, each with a tag: a binary heap on typed arrays that grows. It has
 * no index by node, so it is faster here than `IndexedHeap`. The order of equal ends is deterministic but not
 * specified.
 */
export class DepartureQueue {
  #at = new Float64Array(64);
  #tag = new Int32Array(64);
  size = 0;

  /** The earliest end; infinite when empty. */
  get firstAt(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : (this.#at[0] as number);
  }

  add(at: number, tag = 0): void {
    if (this.size === this.#at.length) this.#grow();
    let position = this.size;
    this.size += 1;
    while (position > 0) {
      const parent = (position - 1) >> 1;
      if ((this.#at[parent] as number) <= at) break;
      this.#put(position, this.#at[parent] as number, this.#tag[parent] as number);
      position = parent;
    }
    this.#put(position, at, tag);
  }

  /** Removes the earliest end and returns its tag. The queue must not be empty. */
  take(): number {
    const tag = this.#tag[0] as number;
    this.size -= 1;
    const [at, lastTag] = [this.#at[this.size] as number, this.#tag[this.size] as number];
    let position = 0;
    for (let child = 1; child < this.size; child = 2 * position + 1) {
      if (child + 1 < this.size && (this.#at[child + 1] as number) < (this.#at[child] as number)) child += 1;
      if ((this.#at[child] as number) >= at) break;
      this.#put(position, this.#at[child] as number, this.#tag[child] as number);
      position = child;
    }
    this.#put(position, at, lastTag);
    return tag;
  }

  #put(position: number, at: number, tag: number): void {
    this.#at[position] = at;
    this.#tag[position] = tag;
  }

  #grow(): void {
    const [ats, tags] = [this.#at, this.#tag];
    this.#at = new Float64Array(2 * ats.length);
    this.#tag = new Int32Array(2 * tags.length);
    this.#at.set(ats);
    this.#tag.set(tags);
  }
}
