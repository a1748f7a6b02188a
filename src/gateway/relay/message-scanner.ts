/** Longest part of a message that is passed on to the listener. */
const PREFIX_BYTES = 64;
const HEADER_BYTES = 5;

/**
 * Finds the messages in a stream of bytes, of which it stores at most the first bytes of the current one.
 * Calls `onMessage` at the end of each message, with its type, its first bytes and its length.
 */
export class MessageScanner {
  readonly #onMessage: (type: string, prefix: Buffer, length: number) => void;
  readonly #prefix = Buffer.alloc(HEADER_BYTES + PREFIX_BYTES);
  #received = 0;
  #expected = Number.POSITIVE_INFINITY;

  constructor(onMessage: (type: string, prefix: Buffer, length: number) => void) {
    this.#onMessage = onMessage;
  }

  /** True if the stream is at the boundary between two messages. */
  get isBetweenMessages(): boolean {
    return this.#received === 0;
  }

  /** Returns false if the stream is not one of messages. */
  scan(chunk: Buffer): boolean {
    let offset = this.#received === 0 ? this.#scanWhole(chunk) : 0;
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
      const length = chunk.readInt32BE(offset + 1) - (HEADER_BYTES - 1);
      const body = offset + HEADER_BYTES;
      if (length < 0 || body + length > chunk.length) break;
      this.#onMessage(
        String.fromCharCode(chunk[offset] ?? 0),
        chunk.subarray(body, body + Math.min(length, PREFIX_BYTES)),
        length,
      );
      offset = body + length;
    }
    return offset;
  }

  #finish(): void {
    const length = this.#expected - HEADER_BYTES;
    this.#received = 0;
    this.#expected = Number.POSITIVE_INFINITY;
    const prefix = this.#prefix.subarray(HEADER_BYTES, HEADER_BYTES + Math.min(length, PREFIX_BYTES));
    this.#onMessage(String.fromCharCode(this.#prefix[0] ?? 0), prefix, length);
  }
}
