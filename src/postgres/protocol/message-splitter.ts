const HEADER_BYTES = 5;

/** Divides a stream of bytes into whole messages. What is incomplete waits for the next chunk. */
export class MessageSplitter {
  #parts: Buffer[] = [];
  #bytes = 0;

  /** The messages that are complete now, with their types and lengths; `undefined`: the stream has no messages. */
  split(chunk: Buffer): Buffer[] | undefined {
    let data = chunk;
    if (this.#bytes > 0) {
      this.#parts.push(chunk);
      this.#bytes += chunk.length;
      const [first = chunk] = this.#parts;
      // A long message in many chunks is joined once.
      if (first.length >= HEADER_BYTES && this.#bytes < 1 + first.readInt32BE(1)) return [];
      data = Buffer.concat(this.#parts);
    }
    const messages: Buffer[] = [];
    let offset = 0;
    while (data.length - offset >= HEADER_BYTES) {
      const length = data.readInt32BE(offset + 1);
      if (length < 4) return undefined;
      const end = offset + 1 + length;
      if (end > data.length) break;
      messages.push(data.subarray(offset, end));
      offset = end;
    }
    this.#bytes = data.length - offset;
    this.#parts = this.#bytes === 0 ? [] : [data.subarray(offset)];
    return messages;
  }

  /** Length of the message that is not complete yet, as it states itself; 0 if it has not yet. */
  get announcedBytes(): number {
    const [first] = this.#parts;
    return first !== undefined && first.length >= HEADER_BYTES ? 1 + first.readInt32BE(1) : 0;
  }
}
