import { MAX } from "../../input-limits/limits.ts";

/**
 * The connections that have not logged in. Beyond the limit, the oldest one is ended: an honest login takes
 * milliseconds, so it is one that waits on purpose.
 */
export class LoginLimit {
  readonly #connections: number;
  readonly #ends = new Set<() => void>();

  constructor(connections: number = MAX.postgresConnectionsBeforeLogin) {
    this.#connections = connections;
  }

  /** `end` ends the connection. Call the returned function when it has logged in, or is closed. */
  enter(end: () => void): () => void {
    const [oldest] = this.#ends;
    if (oldest !== undefined && this.#ends.size >= this.#connections) {
      this.#ends.delete(oldest);
      oldest();
    }
    this.#ends.add(end);
    return () => this.#ends.delete(end);
  }
}
