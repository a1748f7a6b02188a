import type { SimTime } from "../platform/core/time.ts";

/** A request of the imitated API, as it was answered. Beside history: no event tells of it, and only the newest are kept. */
export type RequestLogEntry = {
  /** In the order in which they were answered, from 1 on. */
  readonly number: number;
  readonly at: SimTime;
  /** Sequence number of the newest event when it was answered: those that it brought about are the last ones up to there. */
  readonly seq: number;
  readonly requestId: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Its operationId in the public document; absent where it has none. */
  readonly operationId?: string;
  /** Absent where the connection was lost before there was an answer. */
  readonly status?: number;
  /** Of an error. */
  readonly code?: string;
  readonly accountId?: string;
  readonly keyId?: number;
  /** What it brought, of one that may change something, without secrets. */
  readonly body?: unknown;
  /** The ids of what it made or changed. */
  readonly answered?: unknown;
  /** The fault that it met. */
  readonly fault?: string;
};

/** What a commit adds to the journal of requests, and how many of the newest are kept. */
export type NewRequests = { readonly add: readonly RequestLogEntry[]; readonly limit: number };

/** Requests that are answered and yet to be written; those that would not be kept are not written at all. */
export class PendingRequests {
  readonly #limit: number;
  #newest: number;
  #pending: RequestLogEntry[] = [];

  /** `newest` is the number of the last one that is kept already. */
  constructor(limit: number, newest: number) {
    this.#limit = limit;
    this.#newest = newest;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  append(request: Omit<RequestLogEntry, "number">): void {
    this.#newest += 1;
    this.#pending.push({ number: this.#newest, ...request });
    // Now and then, so that it costs nothing.
    if (this.#pending.length >= 2 * this.#limit) this.#pending = this.#pending.slice(-this.#limit);
  }

  take(): NewRequests | undefined {
    if (this.#pending.length === 0) return undefined;
    const add = this.#pending.slice(-this.#limit);
    this.#pending = [];
    return { add, limit: this.#limit };
  }

  /** Numbers begin anew. */
  clear(): void {
    this.#pending = [];
    this.#newest = 0;
  }
}
