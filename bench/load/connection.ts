import { connect, type Socket } from "node:net";

const RECEIVE_BYTES = 64 * 1024;
const HEAD_END = Buffer.from("\r\n\r\n");

/**
 * A keep-alive connection of a client that costs as little as a client can: one request at a time, its answer's head looked at for
 * status and length, its body only counted. Answers must carry a Content-Length.
 */
export class Connection {
  readonly #socket: Socket;
  #answered: ((status: number) => void) | undefined;
  #failed: (error: Error) => void;
  #head = "";
  #status = 0;
  #bodyBytesLeft = 0;

  static open(port: number, failed: (error: Error) => void): Promise<Connection> {
    return new Promise((opened, refused) => {
      const connection: Connection = new Connection(port, refused, () => {
        connection.#failed = failed;
        opened(connection);
      });
    });
  }

  private constructor(port: number, failed: (error: Error) => void, opened: () => void) {
    this.#failed = failed;
    const onread = {
      buffer: Buffer.allocUnsafe(RECEIVE_BYTES),
      callback: (length: number, bytes: Uint8Array) => this.#receive(length, bytes),
    };
    this.#socket = connect({ host: "127.0.0.1", port, noDelay: true, onread }, opened);
    this.#socket.on("error", (error) => this.#failed(error));
    this.#socket.on("close", () => {
      if (this.#answered !== undefined)
        this.#failed(new Error("the server closed the connection before it had answered"));
    });
  }

  /** Only after the answer before it. */
  send(request: Buffer, answered: (status: number) => void): void {
    this.#answered = answered;
    this.#socket.write(request);
  }

  close(): void {
    this.#answered = undefined;
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
    this.#bodyBytesLeft -= bodyBytes;
    if (this.#bodyBytesLeft === 0) this.#end();
    else if (this.#bodyBytesLeft < 0) this.#failed(new Error("the server sent more than it had announced"));
    return true;
  }

  #readHead(): void {
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head)?.[1];
    if (length === undefined) this.#failed(new Error(`an answer without Content-Length:\n${this.#head}`));
    this.#status = Number(this.#head.slice(9, 12));
    this.#bodyBytesLeft = Number(length);
    this.#head = "";
  }

  #end(): void {
    const answered = this.#answered;
    const status = this.#status;
    this.#answered = undefined;
    this.#status = 0;
    answered?.(status);
  }
}
