/** Longest part of a message that is passed on to the listener by default. */
const PREFIX_BYTES = 64;
const HEADER_BYTES = 5;
const NONE = Buffer.alloc(0);

/**
 * Called at the end of each message, with its type. The first bytes of its body are those of `data` from `begin`
 * to `end` (exclusive), and are valid until the function returns.
 */
type OnMessage = (type: number, data: Buffer, begin: number, end: number) => void;

/**
 * Finds the messages in a stream of bytes, of which it stores at most the first bytes of the current one. Creates
 * no object for a message: there are ten in a short query.
 */
export class MessageScanner {
  readonly #onMessage: OnMessage;
  readonly #prefixBytes: number;
  /** Most streams need none: their chunks are whole messages. */
  #prefix: Buffer = NONE;
  #received = 0;
  #expected = Number.POSITIVE_INFINITY;

  constructor(onMessage: OnMessage, prefixBytes = PREFIX_BYTES) {
    this.#onMessage = onMessage;
    this.#prefixBytes = prefixBytes;
  }

  /** True if the stream is at the boundary between two messages. */
  get isBetweenMessages(): boolean {
    return this.#received === 0;
  }

  /** Returns false if the stream is not one of messages. */
  scan(chunk: Buffer): boolean {
    let offset = this.#received === 0 ? this.#scanWhole(chunk) : 0;
    if (offset < chunk.length && this.#prefix.length === 0)
      this.#prefix = Buffer.allocUnsafe(HEADER_BYTES + this.#prefixBytes);
    while (offset < chunk.length) {
      const isHeader = this.#received < HEADER_BYTES;
      const wanted = isHeader ? HEADER_BYTES : this.#expected;
      const take = Math.min(wanted - this.#received, chunk.length - offset);
      if (this.#received < this.#prefix.length)
        chunk.copy(
          this.#prefix,
          this.#received,
          offset,
          offset + Math.min(take, this.#prefix.length - this.#received),
        );
      this.#received += take;
      offset += take;
      if (isHeader && this.#received === HEADER_BYTES) {
        const length = this.#prefix.readInt32BE(1);
        if (length < 4) return false;
        this.#expected = 1 + length;
      }
      if (this.#received === this.#expected) this.#finish();
    }
    return true;
  }

  /** Most chunks are whole messages, which need no copy. Returns where the rest begins. */
  #scanWhole(chunk: Buffer): number {
    let offset = 0;
    while (offset + HEADER_BYTES <= chunk.length) {
      const end = offset + 1 + chunk.readInt32BE(offset + 1);
      const body = offset + HEADER_BYTES;
      if (end < body || end > chunk.length) break;
      this.#onMessage(chunk[offset] as number, chunk, body, Math.min(end, body + this.#prefixBytes));
      offset = end;
    }
    return offset;
  }

  #finish(): void {
    const end = Math.min(this.#expected, this.#prefix.length);
    this.#received = 0;
    this.#expected = Number.POSITIVE_INFINITY;
    this.#onMessage(this.#prefix[0] as number, this.#prefix, HEADER_BYTES, end);
  }
}
