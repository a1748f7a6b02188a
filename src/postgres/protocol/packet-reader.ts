import type { Duplex } from "node:stream";

/** The client closed its connection. */
export class ConnectionClosed extends Error {
  override readonly name = "ConnectionClosed";
}

/** Reads packets from a socket one by one, before its stream is handed over. */
export class PacketReader {
  readonly #socket: Duplex;
  readonly #maxBytes: number;
  #data: Buffer = Buffer.alloc(0);
  #isClosed = false;
  #wake: () => void = () => undefined;
  readonly #onData = (chunk: Buffer) => {
    this.#data = this.#data.length === 0 ? chunk : Buffer.concat([this.#data, chunk]);
    // Bytes beyond the longest packet stay in the socket.
    if (this.#data.length > this.#maxBytes) this.#socket.pause();
    this.#wake();
  };
  readonly #onClose = () => {
    this.#isClosed = true;
    this.#wake();
  };

  constructor(socket: Duplex, maxBytes: number) {
    this.#socket = socket;
    this.#maxBytes = maxBytes;
    socket.on("data", this.#onData).once("close", this.#onClose).once("end", this.#onClose);
    socket.resume();
  }

  /** Calls `parse` with the unread bytes until it returns a packet, and consumes as many as the packet has. */
  async read<Packet extends { readonly bytes: number }>(
    parse: (data: Buffer) => Packet | undefined,
  ): Promise<Packet> {
    for (;;) {
      const packet = parse(this.#data);
      if (packet !== undefined) {
        this.#data = this.#data.subarray(packet.bytes);
        return packet;
      }
      if (this.#isClosed) throw new ConnectionClosed("the client closed its connection");
      this.#socket.resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Whether bytes were received after the last packet. */
  get hasMore(): boolean {
    return this.#data.length > 0;
  }

  /** Stops reading. What was not consumed can be read from the socket, which is paused. */
  release(): void {
    this.#socket.pause();
    this.#socket.off("data", this.#onData).off("close", this.#onClose).off("end", this.#onClose);
    // A stream that has ended accepts no bytes back.
    if (this.#data.length > 0 && !this.#isClosed) this.#socket.unshift(this.#data);
    this.#data = Buffer.alloc(0);
  }
}
