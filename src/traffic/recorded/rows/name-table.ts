const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Numbers names from 0 in the order of first use. Names come as bytes; each becomes a string only once. */
export class NameTable {
  readonly list: string[] = [];
  readonly #decoder = new TextDecoder();
  readonly #capacity: number;
  /** All names in sequence: name `i` ends where name `i + 1` starts. */
  #bytes = new Uint8Array(16_384);
  #starts = new Int32Array(513);
  /** Open addressing: pairs of a hash and a number plus one (0 if free), at most half full. */
  #slots = new Int32Array(2_048);

  constructor(capacity = Number.POSITIVE_INFINITY) {
    this.#capacity = capacity;
  }

  /** -1 if the name would exceed the capacity. */
  numberOf(bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    const hash = hashOf(bytes, start, end);
    let slot = (hash << 1) & mask;
    for (let stored = slots[slot + 1] as number; stored !== 0; stored = slots[slot + 1] as number) {
      if (slots[slot] === hash && this.#matches(stored - 1, bytes, start, end)) return stored - 1;
      slot = (slot + 2) & mask;
    }
    return this.list.length >= this.#capacity ? -1 : this.#add(bytes.subarray(start, end), hash, slot);
  }

  #matches(number: number, bytes: Uint8Array, start: number, end: number): boolean {
    const stored = this.#bytes;
    const from = this.#starts[number] as number;
    if ((this.#starts[number + 1] as number) - from !== end - start) return false;
    for (let i = end - start - 1; i >= 0; i -= 1) if (stored[from + i] !== bytes[start + i]) return false;
    return true;
  }

  #add(name: Uint8Array, hash: number, slot: number): number {
    const number = this.list.length;
    const from = this.#starts[number] as number;
    if (from + name.length > this.#bytes.length)
      this.#bytes = grown(this.#bytes, new Uint8Array(2 * (from + name.length)));
    if (number + 1 === this.#starts.length)
      this.#starts = grown(this.#starts, new Int32Array(2 * this.#starts.length));
    this.#bytes.set(name, from);
    this.#starts[number + 1] = from + name.length;
    this.list.push(this.#decoder.decode(name));
    this.#slots[slot] = hash;
    this.#slots[slot + 1] = number + 1;
    if (4 * this.list.length > this.#slots.length) this.#growSlots();
    return number;
  }

  #growSlots(): void {
    const slots = new Int32Array(2 * this.#slots.length);
    for (let from = 0; from < this.#slots.length; from += 2) {
      if (this.#slots[from + 1] === 0) continue;
      const hash = this.#slots[from] as number;
      let slot = (hash << 1) & (slots.length - 1);
      while (slots[slot + 1] !== 0) slot = (slot + 2) & (slots.length - 1);
      slots[slot] = hash;
      slots[slot + 1] = this.#slots[from + 1] as number;
    }
    this.#slots = slots;
  }
}

function grown<Column extends Uint8Array | Int32Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = FNV_OFFSET | 0;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), FNV_PRIME);
  return hash ^ (hash >>> 15);
}
