import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * While as many requests of a connection wait, no more of it is read. Those in the bytes that have been read already
 * wait as well.
 */
const MOST_WAITING = 100;

/**
 * Handles the requests of each connection in their order. Node reports a request when it has arrived, which may be
 * before the answer to the previous one. It waits for that answer, so it sees all effects of the previous request.
 */
export class RequestOrder {
  readonly #waiting = new WeakMap<Socket, WaitingRequests>();
  /**
   * The response to the last request of a connection. Node holds it until it is sent; a strong reference would hold its
   * request, with all headers, until the connection closes.
   */
  readonly #last = new WeakMap<Socket, WeakRef<ServerResponse>>();

  next({ socket }: IncomingMessage, outgoing: ServerResponse, handle: () => void): void {
    this.#last.set(socket, new WeakRef(outgoing));
    // Node assigns the connection to a response when the previous one has been sent.
    if (outgoing.socket !== null) {
      handle();
      return;
    }
    const waiting = this.#waiting.get(socket) ?? new WaitingRequests(socket);
    this.#waiting.set(socket, waiting);
    waiting.add();
    outgoing.once("socket", () => {
      waiting.remove();
      // In another turn, so that requests of other connections come between those of one that has sent many.
      setImmediate(handle);
    });
  }

  /**
   * Calls `upgrade` when the earlier requests of the connection are answered; never, if it is closed before. A connection of
   * which too many wait is closed then: it was paused, and after an upgrade Node does not read it again.
   */
  beforeUpgrade({ socket }: IncomingMessage, upgrade: () => void): void {
    const last = this.#last.get(socket)?.deref();
    const isPaused = this.#waiting.get(socket)?.areMany === true;
    if (last === undefined || last.closed) upgrade();
    else last.once("close", isPaused ? () => socket.destroySoon() : upgrade);
  }
}

/** The requests of a connection that wait for answers. */
class WaitingRequests {
  readonly #socket: Socket;
  #count = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node's parser resumes the socket after each request, and to read a body.
    socket.on("resume", () => this.#pauseIfMany());
  }

  add(): void {
    this.#count += 1;
    this.#pauseIfMany();
  }

  remove(): void {
    this.#count -= 1;
    if (this.#count === MOST_WAITING - 1) this.#socket.resume();
  }

  get areMany(): boolean {
    return this.#count >= MOST_WAITING;
  }

  #pauseIfMany(): void {
    if (this.areMany) this.#socket.pause();
  }
}
