import { connect, type Socket } from "node:net";

const RECEIVE_BYTES = 64 * 1024;
const NOT_MODIFIED = 304;
const HEAD_END = Buffer.from("\r\n\r\n");
/** The last chunk of a chunked body. JSON contains no line feed where one arrives by itself. */
const LAST_CHUNK = "\r\n0\r\n\r\n";

/**
 * A keep-alive HTTP/1.1 connection with minimal overhead, without pipelining. It parses only the status and
 * Content-Length, and counts the bytes of the body. Of a chunked body it looks for the end.
 */
export class KeepAliveConnection {
  readonly #socket: Socket;
  #onResponse: ((status: number) => void) | undefined;
  #onError: (error: Error) => void;
  #head = "";
  #status = 0;
  #bodyBytesLeft = 0;
  /** The last characters of a chunked body; `undefined` if the body has a length. */
  #tail: string | undefined;

  static open(port: number, onError: (error: Error) => void): Promise<KeepAliveConnection> {
    return new Promise((resolve, reject) => {
      const connection: KeepAliveConnection = new KeepAliveConnection(port, reject, () => {
        connection.#onError = onError;
        resolve(connection);
      });
    });
  }

  private constructor(port: number, onError: (error: Error) => void, onOpen: () => void) {
    this.#onError = onError;
    const onread = {
      buffer: Buffer.allocUnsafe(RECEIVE_BYTES),
      callback: (length: number, bytes: Uint8Array) => this.#receive(length, bytes),
    };
    this.#socket = connect({ host: "127.0.0.1", port, noDelay: true, onread }, onOpen);
    this.#socket.on("error", (error) => this.#onError(error));
    this.#socket.on("close", () => {
      if (this.#onResponse !== undefined)
        this.#onError(new Error("the server closed the connection before its response was complete"));
    });
  }

  /** The response to the previous request must be complete. */
  send(request: Buffer, onResponse: (status: number) => void): void {
    this.#onResponse = onResponse;
    this.#socket.write(request);
  }

  close(): void {
    this.#onResponse = undefined;
    this.#socket.destroy();
  }

  #receive(length: number, bytes: Uint8Array): boolean {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, length);
    let bodyBytes = length;
    if (this.#status === 0) {
      const headEnd = chunk.indexOf(HEAD_END);
      this.#head += chunk.toString("latin1", 0, headEnd === -1 ? length : headEnd);
      if (headEnd === -1) return true;
      this.#readHead();
      bodyBytes = length - headEnd - HEAD_END.length;
    }
    if (this.#tail !== undefined) {
      this.#tail = (
        this.#tail + chunk.toString("latin1", Math.max(length - LAST_CHUNK.length, length - bodyBytes))
      ).slice(-LAST_CHUNK.length);
      if (this.#tail === LAST_CHUNK) this.#end();
      return true;
    }
    this.#bodyBytesLeft -= bodyBytes;
    if (this.#bodyBytesLeft === 0) this.#end();
    else if (this.#bodyBytesLeft < 0)
      this.#onError(new Error("the response is longer than its Content-Length"));
    return true;
  }

  #readHead(): void {
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head)?.[1];
    this.#status = Number(this.#head.slice(9, 12));
    this.#tail = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(this.#head) ? "" : undefined;
    const hasBody = this.#status !== NOT_MODIFIED;
    if (hasBody && length === undefined && this.#tail === undefined)
      this.#onError(new Error(`the response has no Content-Length:\n${this.#head}`));
    this.#bodyBytesLeft = hasBody ? Number(length) : 0;
    this.#head = "";
  }

  #end(): void {
    const onResponse = this.#onResponse;
    const status = this.#status;
    this.#onResponse = undefined;
    this.#status = 0;
    onResponse?.(status);
  }
}
