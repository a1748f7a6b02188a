import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** When as many requests of a connection wait, no more of it is read until all of them have been handled. */
const MOST_WAITING = 100;

/**
 * Handles the requests of each connection in their order. Node reports a request when it has arrived, which may be
 * before the answer to the previous one. It waits for that answer, so it sees all effects of the previous request.
 */
export class RequestOrder {
  readonly #waiting = new WeakMap<Socket, number>();

  next({ socket }: IncomingMessage, outgoing: ServerResponse, handle: () => void): void {
    // Node assigns the connection to a response when the previous one has been sent.
    if (outgoing.socket !== null) {
      handle();
      return;
    }
    if (this.#count(socket, 1) === MOST_WAITING) socket.pause();
    outgoing.once("socket", () => {
      if (this.#count(socket, -1) === 0) socket.resume();
      // Node is still assigning the connection.
      process.nextTick(handle);
    });
  }

  #count(socket: Socket, difference: number): number {
    const waiting = (this.#waiting.get(socket) ?? 0) + difference;
    this.#waiting.set(socket, waiting);
    return waiting;
  }
}
