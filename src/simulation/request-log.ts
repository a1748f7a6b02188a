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

/** An entry as it is stored. */
export type StoredRequest = Pick<RequestLogEntry, "number" | "at"> & {
  /** The `RequestLogEntry` as JSON. */
  readonly text: string;
};

/** Requests that a commit adds to the request log, and the number of newest requests to retain. */
export type NewRequests = { readonly add: readonly StoredRequest[]; readonly limit: number };

/** Bounds the size of the log. A larger entry is stored without its body and its ids. */
const MAX_ENTRY_CHARACTERS = 32 * 1024;

/** What a request and its response say of themselves. */
export type DescribedRequest = Omit<RequestLogEntry, "number" | "at" | "seq">;

/** `text` is absent if every field is text or a number. */
type PendingRequest = {
  readonly number: number;
  readonly at: SimTime;
  readonly seq: number;
  readonly described: DescribedRequest;
  readonly text: string | undefined;
};

/** Answered requests that are not written yet. Those beyond the limit are dropped before they are written. */
export class PendingRequests {
  readonly #limit: number;
  #newest: number;
  #pending: PendingRequest[] = [];
  readonly #texts = new EntryTexts();

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

  /**
   * Throws, and adds nothing, if the request has no JSON text: whatever is wrong with one request must not fail a later
   * commit, which other requests wait for.
   */
  append(at: SimTime, seq: number, described: DescribedRequest): void {
    const number = this.#newest + 1;
    const text = isFlat(described) ? undefined : textOf({ number, at, seq, ...described });
    this.#pending.push({ number, at, seq, described, text });
    this.#newest = number;
    // Amortized: cut only when the array has doubled.
    if (this.#pending.length >= 2 * this.#limit) this.#pending = this.#pending.slice(-this.#limit);
  }

  take(): NewRequests | undefined {
    if (this.#pending.length === 0) return undefined;
    const add = this.#pending.slice(-this.#limit).map(({ number, at, seq, described, text }) => ({
      number,
      at,
      text: text ?? this.#texts.of(number, at, seq, described),
    }));
    this.#pending = [];
    return { add, limit: this.#limit };
  }

  /** Drops what is pending and restarts the numbers at 1. */
  clear(): void {
    this.#pending = [];
    this.#newest = 0;
  }
}

type SharedFields = Omit<DescribedRequest, "requestId" | "body" | "answered">;

/** Number of paths whose latest entry is kept. */
const MOST_PATHS = 100;

/** The JSON of entries without a body. Requests to one path usually differ only in the first fields of their entries. */
class EntryTexts {
  readonly #latest = new Map<string, { readonly fields: SharedFields; readonly text: string }>();

  of(number: number, at: SimTime, seq: number, described: DescribedRequest): string {
    const { requestId } = described;
    return `{"number":${number},"at":${at},"seq":${seq},"requestId":${JSON.stringify(requestId)},${this.#shared(described)}`;
  }

  /** Without the first brace. */
  #shared(described: DescribedRequest): string {
    const latest = this.#latest.get(described.path);
    if (latest !== undefined && isSame(latest.fields, described)) return latest.text;
    if (this.#latest.size >= MOST_PATHS) this.#latest.clear();
    const { requestId: _requestId, ...fields } = described;
    const text = JSON.stringify(fields).slice(1);
    this.#latest.set(described.path, { fields, text });
    return text;
  }
}

function isFlat({ body, answered }: DescribedRequest): boolean {
  return body === undefined && answered === undefined;
}

function isSame(one: SharedFields, other: SharedFields): boolean {
  return (
    one.status === other.status &&
    one.keyId === other.keyId &&
    one.method === other.method &&
    one.operationId === other.operationId &&
    one.accountId === other.accountId &&
    one.code === other.code &&
    one.fault === other.fault
  );
}

function textOf(request: RequestLogEntry): string {
  const text = JSON.stringify(request);
  if (text.length <= MAX_ENTRY_CHARACTERS) return text;
  const { body: _body, answered: _answered, ...rest } = request;
  return JSON.stringify({ ...rest, body: { not_kept: "too large" } });
}
