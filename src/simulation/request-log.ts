import type { SimTime } from "../kernel/time.ts";

/** A request to the imitated API and its response. Not part of history: only the newest are retained. */
export type RequestLogEntry = {
  /** Counts responses, from 1. */
  readonly number: number;
  readonly at: SimTime;
  /**
   * Sequence number of the newest event at the time of the response: events that the request caused are the
   * last ones up to it.
   */
  readonly seq: number;
  readonly requestId: string;
  readonly method: string;
  /** Including the query string. */
  readonly path: string;
  /** The operationId in the public API description; absent for an unknown path. */
  readonly operationId?: string;
  /** Absent when the connection was lost before a response. */
  readonly status?: number;
  /** The code of an error response. */
  readonly code?: string;
  readonly accountId?: string;
  readonly keyId?: number;
  /** The request body of a call that may change something, without secrets. */
  readonly body?: unknown;
  /** The ids of the objects that it created or changed. */
  readonly answered?: unknown;
  /** The fault that it matched. */
  readonly fault?: string;
};

/**
 * An entry as it is stored. It becomes text when it is taken, so that whatever is wrong with one request
 * cannot fail a later commit, which other requests wait for.
 */
export type StoredRequest = Pick<RequestLogEntry, "number" | "at"> & {
  /** The `RequestLogEntry` as JSON. */
  readonly text: string;
};

/** Requests that a commit adds to the request log, and the number of newest requests to retain. */
export type NewRequests = { readonly add: readonly StoredRequest[]; readonly limit: number };

/** Bounds the size of the log. A larger entry is stored without its body and its ids. */
const MAX_ENTRY_CHARACTERS = 32 * 1024;

/** Answered requests that are not written yet. Those beyond the limit are dropped before they are written. */
export class PendingRequests {
  readonly #limit: number;
  #newest: number;
  #pending: StoredRequest[] = [];

  /** `newest` is the number of the newest stored request. */
  constructor(limit: number, newest: number) {
    this.#limit = limit;
    this.#newest = newest;
  }

  /** The number of the newest request. */
  get newest(): number {
    return this.#newest;
  }

  /** Requests up to this number are not retained, even if they are still stored. */
  get lastPruned(): number {
    return this.#newest - this.#limit;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** Throws, and adds nothing, if the request has no JSON text. */
  append(request: Omit<RequestLogEntry, "number">): void {
    const number = this.#newest + 1;
    this.#pending.push({ number, at: request.at, text: textOf({ number, ...request }) });
    this.#newest = number;
    // Amortized: cut only when the array has doubled.
    if (this.#pending.length >= 2 * this.#limit) this.#pending = this.#pending.slice(-this.#limit);
  }

  take(): NewRequests | undefined {
    if (this.#pending.length === 0) return undefined;
    const add = this.#pending.slice(-this.#limit);
    this.#pending = [];
    return { add, limit: this.#limit };
  }

  /** Drops what is pending and restarts the numbers at 1. */
  clear(): void {
    this.#pending = [];
    this.#newest = 0;
  }
}

function textOf(request: RequestLogEntry): string {
  const text = JSON.stringify(request);
  if (text.length <= MAX_ENTRY_CHARACTERS) return text;
  const { body: _body, answered: _answered, ...rest } = request;
  return JSON.stringify({ ...rest, body: { not_kept: "too large" } });
}
