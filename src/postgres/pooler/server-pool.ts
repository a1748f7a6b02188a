import { CLIENT_ERRORS, ConnectionRejected } from "../protocol/errors.ts";
import type { ServerSession } from "./server-session.ts";

export type Waiter = {
  readonly assign: (session: ServerSession) => void;
  readonly fail: (error: unknown) => void;
};

/** Opens a session of the engine. It calls `closed` at the end of the session. */
export type OpenServer = () => Promise<ServerSession>;

/** The server sessions of one role and database of a compute. */
export class ServerPool {
  /** Sessions that may be open at the same time. */
  limit: number;
  /** Settings that the engine reports to a new session; absent before the first session. */
  settings: ReadonlyMap<string, string> | undefined;
  readonly #waitTimeoutMs: number;
  /** The session that was used last is the next one, as in PgBouncer. */
  readonly #idle: ServerSession[] = [];
  readonly #waiting = new Map<Waiter, NodeJS.Timeout>();
  #open = 0;
  #isOpening = false;

  constructor(limit: number, waitTimeoutMs: number) {
    this.limit = limit;
    this.#waitTimeoutMs = waitTimeoutMs;
  }

  /** Assigns a session now or later, in the order of the calls. */
  request(waiter: Waiter, open: OpenServer): void {
    const session = this.#waiting.size === 0 ? this.#takeIdle() : undefined;
    if (session !== undefined) {
      waiter.assign(session);
      return;
    }
    const timer = setTimeout(() => {
      this.cancel(waiter);
      waiter.fail(new ConnectionRejected(CLIENT_ERRORS.queryWaitTimeout));
    }, this.#waitTimeoutMs);
    this.#waiting.set(waiter, timer.unref());
    this.#grow(open);
  }

  cancel(waiter: Waiter): void {
    clearTimeout(this.#waiting.get(waiter));
    this.#waiting.delete(waiter);
  }

  /** The session is between transactions, and has no client. */
  release(session: ServerSession): void {
    if (!session.isOpen) return;
    if (!this.#assignNext(session)) this.#idle.push(session);
  }

  /** The session has ended. */
  closed(session: ServerSession): void {
    this.#open -= 1;
    const index = this.#idle.indexOf(session);
    if (index !== -1) this.#idle.splice(index, 1);
  }

  #takeIdle(): ServerSession | undefined {
    for (;;) {
      const session = this.#idle.pop();
      if (session === undefined || session.isOpen) return session;
    }
  }

  #assignNext(session: ServerSession): boolean {
    const [first] = this.#waiting.keys();
    if (first === undefined) return false;
    this.cancel(first);
    first.assign(session);
    return true;
  }

  /** Opens sessions one after the other, as PgBouncer does, while clients wait. */
  #grow(open: OpenServer): void {
    if (this.#isOpening || this.#waiting.size === 0 || this.#open >= this.limit) return;
    this.#isOpening = true;
    this.#open += 1;
    open().then(
      (session) => {
        this.#isOpening = false;
        this.release(session);
        this.#grow(open);
      },
      (error) => {
        this.#isOpening = false;
        this.#open -= 1;
        // Other sessions will become free. Without any, waiting is useless.
        if (this.#open > 0) return;
        for (const waiter of [...this.#waiting.keys()]) {
          this.cancel(waiter);
          waiter.fail(error);
        }
      },
    );
  }
}
