import type { ClientError } from "../protocol/messages.ts";
import type { ServedSession } from "./served-compute.ts";

/** The session of an admitted client, which the world can end at any time, also before it has an engine. */
export class EndableSession implements ServedSession {
  readonly #onEnd: (error: ClientError) => void;
  #close: ((error: ClientError) => void) | undefined;
  #ended: ClientError | undefined;
  isIdle = false;

  constructor(onEnd: (error: ClientError) => void = () => undefined) {
    this.#onEnd = onEnd;
  }

  get isEnded(): boolean {
    return this.#ended !== undefined;
  }

  isRelaying(): boolean {
    return this.#close !== undefined;
  }

  end(error: ClientError): void {
    this.#ended = error;
    this.#onEnd(error);
    this.#close?.(error);
  }

  /** The client has an engine from now on. Calls `close` when the world ends the session, or has ended it. */
  connected(close: (error: ClientError) => void): void {
    this.#close = close;
    if (this.#ended !== undefined) close(this.#ended);
  }
}
